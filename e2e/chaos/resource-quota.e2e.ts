// A quota under traffic through three replicas, while replicas and members of etcd are killed and
// leaders change: at no revision is there more than it allows or than it says that is used, and in
// the end it says what is there.

import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import type { StorageEvent } from '../../lib/storage-etcd/storage.ts';
import { TestCluster } from '../harness.ts';
import { newSeed, Random } from '../history/random.ts';

const hard = 150;
const writersPerReplica = 6;
const namespace = 'counted';
const objects = `/api/v1/namespaces/${namespace}/configmaps`;
const quotas = `/api/v1/namespaces/${namespace}/resourcequotas`;
const objectPrefix = `/registry/configmaps/${namespace}/`;
const quotaKey = `/registry/resourcequotas/${namespace}/q`;
const settleMs = 20_000;

interface Counted {
  /** Answers by status; 0: none came. */
  readonly statuses: Map<number, number>;
  /** Answers of 409 that are not about the object, of 500, and the like. */
  readonly strange: string[];
  isOver: boolean;
}

test('q.all, u.quota-leak, u.quota-conflict: exact through kills and new leaders', async () => {
  const seed = process.env['HISTORY_SEED'] ?? newSeed();
  const cluster = await TestCluster.start({ replicaCount: 3, memberCount: 3 });
  const storage = new EtcdStorage(cluster.etcd.connection);
  try {
    await begin(cluster);
    const from = await storage.currentRevision(AbortSignal.timeout(10_000));
    const counted: Counted = { statuses: new Map(), strange: [], isOver: false };
    const writers = cluster.replicas.flatMap((_replica, at) =>
      Array.from({ length: writersPerReplica }, (_, writer) =>
        write(cluster, at, new Random(seed, at, writer), counted),
      ),
    );
    await harm(cluster, new Random(seed, 'harm'));
    counted.isOver = true;
    await Promise.all(writers);
    const settled = await settledUse(cluster);
    const to = await storage.currentRevision(AbortSignal.timeout(10_000));
    const findings = await findIn(storage, from, to);
    const { statuses, strange } = counted;
    expect({ seed, findings, strange }).toEqual({ seed, findings: [], strange: [] });
    expect(settled.used).toBe(settled.there);
    process.stdout.write(`seed ${seed}: ${JSON.stringify([...statuses])}\n`);
    for (const status of [201, 403]) expect(statuses.get(status) ?? 0).toBeGreaterThan(hard);
  } finally {
    storage.close();
    await cluster.stop();
  }
});

/** Until the controller has counted what there is. */
async function begin(cluster: TestCluster): Promise<void> {
  const replica = cluster.replica(0);
  await replica.request('POST', '/api/v1/namespaces', { body: { metadata: { name: namespace } } });
  const body = { metadata: { name: 'q' }, spec: { hard: { configmaps: String(hard) } } };
  await replica.request('POST', quotas, { body });
  await sleep(2_000); // every replica knows the quota, and what was made before is counted
  const { used, there } = await settledUse(cluster);
  expect(used).toBe(there);
}

async function settledUse(
  cluster: TestCluster,
): Promise<{ readonly used: number; readonly there: number }> {
  const replica = cluster.replica(0);
  const endMs = Date.now() + settleMs;
  for (;;) {
    const quota = await replica.request('GET', `${quotas}/q`);
    const list = await replica.request('GET', objects);
    if (quota.status === 200 && list.status === 200) {
      const { status } = quota.json<{ status?: { used?: { configmaps?: string } } }>();
      const used = Number(status?.used?.configmaps ?? NaN);
      const there = list.json<{ items: unknown[] }>().items.length;
      if (used === there || Date.now() > endMs) return { used, there };
    }
    await sleep(100);
  }
}

/** Creates, now and then of a name that is taken, and deletes; at one replica while it is there. */
async function write(
  cluster: TestCluster,
  at: number,
  random: Random,
  counted: Counted,
): Promise<void> {
  const names: string[] = [];
  while (!counted.isOver) {
    const isDelete = names.length > 0 && random.chance(0.3);
    const name = isDelete || random.chance(0.05) ? names.at(-1) : undefined;
    const fresh = name ?? `o-${String(at)}-${String(random.below(1e9))}`;
    const reply = await (
      isDelete
        ? cluster.replica(at).request('DELETE', `${objects}/${fresh}`)
        : cluster.replica(at).request('POST', objects, { body: { metadata: { name: fresh } } })
    ).catch(() => undefined);
    if (isDelete) names.pop();
    else if (reply?.status === 201) names.push(fresh);
    const status = reply?.status ?? 0;
    counted.statuses.set(status, (counted.statuses.get(status) ?? 0) + 1);
    if (reply !== undefined && !isExpected(status, reply.text)) {
      counted.strange.push(`${String(status)} ${reply.text.slice(0, 300)}`);
    }
    if (status === 0 || status >= 429) await sleep(50);
  }
}

function isExpected(status: number, text: string): boolean {
  if (status === 403) return text.includes('exceeded quota: q, requested: configmaps=1');
  if (status === 409) return text.includes('"AlreadyExists"');
  return [200, 201, 404, 429, 503, 504].includes(status);
}

async function harm({ replicas, etcd }: TestCluster, random: Random): Promise<void> {
  await sleep(2_000);
  const replica = random.pick(replicas);
  await replica.kill();
  await sleep(1_000);
  await replica.start();
  await etcd.moveLeader();
  await sleep(1_500);
  const leader = await etcd.leader();
  await etcd.kill(leader);
  await sleep(2_000);
  await etcd.restart(leader);
  const other = random.pick(replicas);
  await other.kill();
  await sleep(500);
  await other.start();
  await sleep(1_500);
}

/** What contradicts the quota, revision by revision. */
async function findIn(storage: EtcdStorage, from: number, to: number): Promise<string[]> {
  const range = { prefix: objectPrefix, limitCount: 0, at: from };
  const start = await storage.list(range, AbortSignal.timeout(10_000));
  const there = new Set(start.items.map(({ key }) => key));
  let used = await usedAt(storage, from);
  const findings: string[] = [];
  const ending = AbortSignal.timeout(30_000);
  for await (const { events, revision } of storage.watch('/registry/', from, ending)) {
    const byRevision = Map.groupBy(events, revisionOf);
    for (const [at, together] of byRevision) {
      for (const event of together) {
        const key = event.type === 'put' ? event.item.key : event.key;
        if (key === quotaKey && event.type === 'put') used = usedIn(event.item.value);
        if (!key.startsWith(objectPrefix)) continue;
        if (event.type === 'put') there.add(key);
        else there.delete(key);
      }
      const says = `at ${String(at)}: ${String(there.size)} there, ${String(used)} used`;
      if (!(there.size <= used && used <= hard)) findings.push(says);
    }
    if (revision >= to) break;
  }
  return findings;
}

const revisionOf = (event: StorageEvent): number =>
  event.type === 'put' ? event.item.modRevision : event.revision;

async function usedAt(storage: EtcdStorage, at: number): Promise<number> {
  const prefix = `/registry/resourcequotas/${namespace}/`;
  const page = await storage.list({ prefix, limitCount: 0, at }, AbortSignal.timeout(10_000));
  return usedIn(page.items[0]?.value ?? new Uint8Array());
}

/** Of a stored quota. */
const usedIn = (value: Uint8Array): number =>
  Number(/"used":\{"configmaps":"(\d+)"/.exec(Buffer.from(value).toString('latin1'))?.[1]);
