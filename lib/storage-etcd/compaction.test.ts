import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Compactor } from './compaction.ts';
import { EtcdStorage } from './etcd-storage.ts';
import type { Revision } from './storage.ts';
import { EtcdCluster } from './testing/etcd-process.ts';

let cluster: EtcdCluster;
let storage: EtcdStorage;
const never = new AbortController().signal;
let count = 0;

beforeAll(async () => {
  cluster = await EtcdCluster.start();
  storage = new EtcdStorage(cluster.connection);
});
afterAll(async () => {
  storage.close();
  await cluster.stop();
});

const write = async (): Promise<Revision> => {
  const key = `/registry/c/${String(count++)}`;
  const result = await storage.put(key, Buffer.from('x'), { expected: 0 }, never);
  return result.ok ? result.revision : 0;
};
const isReadable = (at: Revision): Promise<boolean> =>
  storage.list({ prefix: '/registry/c/', limitCount: 1, at }, never).then(
    () => true,
    (error: unknown) => {
      expect(error).toMatchObject({ code: 410 });
      return false;
    },
  );

test('history is kept for one interval, and one replica a round compacts', async () => {
  const replicas = Array.from(
    { length: 3 },
    () => new Compactor(storage.connection, { intervalMs: 1_000 }),
  );
  const round = (): Promise<readonly string[]> =>
    Promise.all(replicas.map((replica) => replica.runOnce(never)));
  const first = await write();
  expect((await round()).toSorted()).toEqual(['learned', 'learned', 'started']);
  const second = await write();
  expect(await isReadable(first)).toBe(true);
  expect((await round()).toSorted()).toEqual(['compacted', 'learned', 'learned']);
  expect(await isReadable(first)).toBe(false);
  expect(await isReadable(second)).toBe(true);
  await round();
  expect(await isReadable(second)).toBe(false);
  const stored = (await storage.get('compact_rev_key', never)).item;
  const compacted = Number(Buffer.from(stored?.value ?? []).toString());
  expect(compacted).toBeGreaterThan(second);
  for (const replica of replicas) expect(await replica.refresh(never)).toBe(compacted);
});

test('a replica that was away only learns, and takes over when the others are gone', async () => {
  const late = new Compactor(storage.connection, { intervalMs: 1_000 });
  const revision = await write();
  expect(await late.runOnce(never)).toBe('learned');
  expect(await late.runOnce(never)).toBe('compacted');
  expect(late.compactedRevision).toBeGreaterThanOrEqual(revision);
  await cluster.compact(await write());
  expect(await late.runOnce(never)).toBe('compacted');
});

test('it runs until it is told to stop, over failures too', async () => {
  const errors: unknown[] = [];
  const ending = new AbortController();
  const down = new EtcdStorage({ endpoints: ['http://127.0.0.1:1'], writeTimeoutMs: 50 });
  const running = new Compactor(down.connection, {
    intervalMs: 20,
    onError: (error) => {
      errors.push(error);
      if (errors.length === 2) ending.abort(new Error('enough'));
    },
  }).run(ending.signal);
  await running;
  expect(errors).toMatchObject([{ code: 503 }, { code: 503 }]);
  down.close();
});
