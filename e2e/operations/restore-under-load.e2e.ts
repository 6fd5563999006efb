// A backup is taken and restored under load, by the commands of docs/operate/backup.md. Watchers
// list anew, nobody is shown what lies before something he had seen without a 410 between, and the
// controllers go on, without a restart of any replica.
import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminToken, TestCluster } from '../harness.ts';
import type { Replica } from '../harness.ts';
import { Informer } from './informer.ts';

const path = '/api/v1/namespaces/default/configmaps';

interface Listed {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly resourceVersion: string };
  }[];
}

/** Writes and deletes until it is ended, through all replicas in turn, and retries nothing. */
class Writers {
  writtenCount = 0;
  readonly #replicas: readonly Replica[];
  readonly #running: Promise<unknown>;
  #isOver = false;

  constructor(replicas: readonly Replica[]) {
    this.#replicas = replicas;
    this.#running = Promise.all(replicas.map((_, writer) => this.#run(writer)));
  }

  async flow(count = 60): Promise<void> {
    const wanted = this.writtenCount + count;
    while (this.writtenCount < wanted) await sleep(20);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(writer: number): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++) {
      const replica = this.#replicas[(writer + turn) % this.#replicas.length];
      const name = `w${String(writer)}-${String(turn)}`;
      const body = { metadata: { name } };
      const made = await replica?.request('POST', path, { body }).catch(() => undefined);
      if (made?.status === 201) this.writtenCount++;
      const old = `${path}/w${String(writer)}-${String(turn - 10)}`;
      await replica?.request('DELETE', old).catch(() => undefined);
      await sleep(20);
    }
  }
}

async function listed(replica: Replica): Promise<Listed> {
  for (;;) {
    const reply = await replica.request('GET', path);
    if (reply.status === 200) return reply.json<Listed>();
    await sleep(50);
  }
}

async function controllersWork(replica: Replica, name: string): Promise<void> {
  const namespace = `/api/v1/namespaces/${name}`;
  const body = { metadata: { name } };
  expect((await replica.request('POST', '/api/v1/namespaces', { body })).status).toBe(201);
  const account = `${namespace}/serviceaccounts/default`;
  while ((await replica.request('GET', account)).status !== 200) await sleep(50);
  expect((await replica.request('DELETE', namespace)).status).toBe(200);
  while ((await replica.request('GET', namespace)).status !== 404) await sleep(50);
}

test.each([
  ['with its revision raised', ['--bump-revision=1000000', '--mark-compacted']],
  ['as it was', []],
])('a backup is restored under load, %s', async (_how, flags) => {
  const cluster = await TestCluster.start({ replicaCount: 3, tls: true });
  const pids = cluster.replicas.map(({ pid }) => pid);
  const informers: Informer[] = [];
  try {
    const writers = new Writers(cluster.replicas);
    const ca = readFileSync(cluster.replica(0).caFile, 'utf8');
    const identity = (): { ca: string; token: string } => ({ ca, token: adminToken });
    for (const { url } of [...cluster.replicas, ...cluster.replicas]) {
      informers.push(new Informer({ url, identity, path }));
    }
    await writers.flow();
    await controllersWork(cluster.replica(0), 'before');
    const backup = await cluster.etcd.saveSnapshot('backup.db');
    await writers.flow();
    const lost = Number((await listed(cluster.replica(0))).metadata.resourceVersion);
    while (informers.some(({ reached }) => reached < lost)) await sleep(20);

    await cluster.etcd.restoreSnapshot(backup, undefined, [
      ...flags,
      '--initial-cluster-token=restored-1',
    ]);
    await writers.flow();
    await controllersWork(cluster.replica(1), 'after');
    await writers.flow();
    await writers.stop();

    const last = await listed(cluster.replica(2));
    const expected = last.items.map(({ metadata: { name, resourceVersion } }) => [
      name,
      resourceVersion,
    ]);
    const isThere = ({ known }: Informer): boolean =>
      expected.length === known.size &&
      expected.every(([name = '', version]) => known.get(name) === version);
    const giveUpAt = performance.now() + 60_000;
    while (!informers.every(isThere) && performance.now() < giveUpAt) await sleep(50);
    for (const informer of informers) {
      const { backwards, goneCount, known } = informer;
      expect([...known].sort()).toEqual(expected.toSorted());
      expect(backwards).toEqual([]);
      expect(goneCount).toBeGreaterThan(0);
    }
    if (flags.length > 0) expect(Number(last.metadata.resourceVersion)).toBeGreaterThan(1_000_000);
    expect(cluster.replicas.map(({ pid }) => pid)).toEqual(pids);
  } finally {
    await Promise.all(informers.map((informer) => informer.stop()));
    await cluster.stop();
  }
});
