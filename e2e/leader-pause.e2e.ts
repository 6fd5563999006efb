// A replica that is paused while it leads, for longer than its lease, writes nothing once another
// one has taken over. Each replica has another certificate, so that the root certificates that it
// publishes, and wants to mend where they are another's, tell whose write each one is.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeCa, makeLeaf } from '../cmd/apiserver/pki.ts';
import { EtcdStorage } from '../lib/storage-etcd/etcd-storage.ts';
import { TestCluster } from './harness.ts';
import type { Replica } from './harness.ts';

const namespaces = '/api/v1/namespaces';
const replicaCount = 3;
const leaseMs = 15_000;
let cluster: TestCluster;
let storage: EtcdStorage;

async function ownCertificate(replica: number, folder: string): Promise<readonly string[]> {
  const ca = await makeCa(`replica-${String(replica)}`);
  const names = ['127.0.0.1', 'localhost'];
  const pair = await makeLeaf(ca, { use: 'server', commonName: 'replica', names });
  const [cert, key] = ['crt', 'key'].map((end) => join(folder, `${String(replica)}.${end}`));
  writeFileSync(cert ?? '', `${pair.cert}${ca.cert}`);
  writeFileSync(key ?? '', pair.key, { mode: 0o600 });
  return [`--tls-cert-file=${cert ?? ''}`, `--tls-private-key-file=${key ?? ''}`];
}

beforeAll(async () => {
  cluster = await TestCluster.start({ replicaCount, replicaFlags: ownCertificate });
  storage = new EtcdStorage(cluster.etcd.connection);
});
afterAll(async () => {
  storage.close();
  await cluster.stop();
});

/** What etcd was told, in its order: terms that began, and root certificates that were written. */
type Entry =
  | { readonly type: 'term'; readonly identity: string }
  | { readonly type: 'write'; readonly replica: number };

/** Follows all of it, from the first revision on, until the signal fires. */
async function record(entries: Entry[], signal: AbortSignal): Promise<void> {
  const bundles = cluster.replicas.map(({ caFile }) => readFileSync(caFile, 'utf8'));
  try {
    for await (const { events } of storage.watch('/registry/', 0, signal)) {
      for (const event of events) {
        if (event.type === 'delete') continue;
        const { key } = event.item;
        const text = Buffer.from(event.item.value).toString();
        if (key === '/registry/svc-internal/apiserver-controllers') {
          entries.push({ type: 'term', identity: text });
        } else if (key.endsWith('/kube-root-ca.crt')) {
          const replica = bundles.findIndex((bundle) => text.includes(JSON.stringify(bundle)));
          entries.push({ type: 'write', replica });
        }
      }
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

const countOf = (replica: Replica, text: string): number => replica.output.split(text).length - 1;
const isLeading = (replica: Replica): boolean =>
  countOf(replica, '"leads the controllers"') >
  countOf(replica, '"leads the controllers no longer"');

async function until(isTrue: () => boolean): Promise<void> {
  const signal = AbortSignal.timeout(120_000);
  while (!isTrue()) await sleep(20, undefined, { signal });
}

/** Namespaces for the controllers to work on; through a replica that is not paused. */
async function makeNamespaces(through: Replica, prefix: string, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const body = { metadata: { name: `${prefix}-${String(index)}` } };
    const reply = await through.request('POST', namespaces, { body });
    if (reply.status !== 201) throw new Error(reply.text);
  }
}

test('a leader that was paused for longer than its lease writes nothing after that', async () => {
  const entries: Entry[] = [];
  const ending = new AbortController();
  const recording = record(entries, ending.signal);
  const paused: Replica[] = [];
  for (let round = 0; round < 2; round++) {
    await until(() => cluster.replicas.some(isLeading));
    const leader = cluster.replicas.find(isLeading);
    const others = cluster.replicas.filter((replica) => replica !== leader);
    const [through] = others;
    if (leader === undefined || through === undefined) throw new Error('nobody leads');
    const making = makeNamespaces(through, `before-${String(round)}`, 30);
    await until(() => entries.filter(({ type }) => type === 'write').length > round * 40 + 4);
    leader.pause(); // in the middle of its work
    paused.push(leader);
    try {
      await making;
      await until(() => others.some(isLeading));
      await makeNamespaces(through, `between-${String(round)}`, 10);
    } finally {
      leader.resume();
    }
    await makeNamespaces(through, `after-${String(round)}`, 30);
    await until(() => !isLeading(leader));
  }
  await sleep(1_000);
  ending.abort();
  await recording;

  const holderOf = (identity: string): number =>
    cluster.replicas.findIndex(({ output }) => output.includes(identity));
  let term = -1;
  const wrong: Entry[] = [];
  for (const entry of entries) {
    if (entry.type === 'term') term = holderOf(entry.identity);
    else if (entry.replica !== term || term < 0) wrong.push(entry);
  }
  expect(wrong).toEqual([]);
  const terms = entries.filter(({ type }) => type === 'term');
  expect(terms.length).toBeGreaterThanOrEqual(3);
  // The paused ones were in the middle of it, and their successors went on.
  for (const leader of paused) {
    const isOwn = (entry: Entry): boolean =>
      entry.type === 'write' && cluster.replicas[entry.replica] === leader;
    expect(entries.filter(isOwn).length).toBeGreaterThan(0);
  }
});

test('a leader that is stopped hands over long before its lease would end', async () => {
  await until(() => cluster.replicas.some(isLeading));
  const leader = cluster.replicas.find(isLeading);
  if (leader === undefined) throw new Error('nobody leads');
  const others = cluster.replicas.filter((replica) => replica !== leader);
  const before = new Map(others.map((one) => [one, countOf(one, '"leads the controllers"')]));
  await leader.terminate();
  const endedAtMs = performance.now();
  const follows = (one: Replica): boolean =>
    countOf(one, '"leads the controllers"') > (before.get(one) ?? 0);
  await until(() => others.some(follows));
  expect(performance.now() - endedAtMs).toBeLessThan(leaseMs / 2);
});
