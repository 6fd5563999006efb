// The storage suite on one real etcd, and what only etcd-storage promises.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EtcdStorage } from './etcd-storage.ts';
import { createKeyspace } from './keys.ts';
import { SharedSecrets } from './shared-secrets.ts';
import { describeStorage } from './storage.suite.ts';
import { eventually } from './testing/events.ts';
import type { Storage, TransactionResult, WatchBatch } from './storage.ts';
import { EtcdCluster, etcdOfSuite } from './testing/etcd-process.ts';

let cluster: EtcdCluster;
let storage: EtcdStorage;
const never = new AbortController().signal;
const calls: { operation: string; isOk: boolean }[] = [];

beforeAll(async () => {
  cluster = await EtcdCluster.start();
  storage = new EtcdStorage({
    ...cluster.connection,
    pageBytes: 20_000,
    metrics: {
      call: (operation, durationSeconds, isOk) => {
        if (durationSeconds >= 0) calls.push({ operation, isOk });
      },
    },
  });
});
afterAll(async () => {
  storage.close();
  await cluster.stop();
});

describeStorage('etcd-storage', () => ({
  storage,
  compact: (revision) => cluster.compact(revision),
}));

const put = (on: Storage, key: string, value: string): ReturnType<Storage['put']> =>
  on.put(key, Buffer.from(value), { expected: 0 }, never);

describe('pages', () => {
  test('are sized by bytes whatever the items’ size', async () => {
    const prefix = '/registry/sized/';
    for (let index = 0; index < 60; index++) {
      await put(storage, `${prefix}${String(100 + index)}`, 'x'.repeat(index < 30 ? 50 : 9_000));
    }
    const first = await storage.list({ prefix, limitCount: 0 }, never);
    expect(first.items.length).toBeLessThanOrEqual(32);
    const afterKey = `${prefix}130`;
    await storage.list({ prefix, afterKey, limitCount: 0 }, never);
    const large = await storage.list({ prefix, afterKey, limitCount: 0 }, never);
    expect(large.items.length).toBeLessThanOrEqual(2);
    expect(large.remainingCount).toBe(29 - large.items.length);
  });
});

describe('requests that etcd refuses', () => {
  test('an etcd with a lower limit than assumed: 413, nothing written', async () => {
    const small = await EtcdCluster.start({ flags: ['--max-request-bytes=20000'] });
    const on = new EtcdStorage(small.connection);
    try {
      const failed = on.put('/registry/x', Buffer.alloc(30_000), { expected: 0 }, never);
      await expect(failed).rejects.toMatchObject({ code: 413 });
      await expect(failed).rejects.toThrow(/30000 bytes.*limit is etcd/);
      expect((await on.get('/registry/x', never)).item).toBeUndefined();
    } finally {
      on.close();
      await small.stop();
    }
  });
});

describe('progress', () => {
  async function progressOf(batches: AsyncIterator<WatchBatch>): Promise<WatchBatch> {
    const result = await batches.next();
    if (result.done === true) throw new Error('the watch ended');
    return result.value;
  }

  test('a request moves a quiet watch up to the store’s revision', async () => {
    await eventually(() => {
      expect(storage.health.canRequestProgress).toBe(true);
    });
    const start = await storage.currentRevision(never);
    const batches = storage.watch('/registry/quiet/', start, never)[Symbol.asyncIterator]();
    const first = batches.next();
    storage.requestProgress();
    expect((await first).value).toMatchObject({ revision: start, events: [] });
    await put(storage, '/registry/elsewhere/a', 'x');
    const revision = await storage.currentRevision(never);
    storage.requestProgress();
    expect(await progressOf(batches)).toMatchObject({ revision, events: [] });
    await batches.return?.();
  });

  test.each([
    ['bookworm', '3.4.23', false],
    ['trixie', '3.5.16', true],
    ['sid', '3.5.30', true],
  ])('etcd of %s (%s): allowed is %s', async (suite, version, isAllowed) => {
    const own = await EtcdCluster.start({ etcdPath: await etcdOfSuite(suite) });
    const on = new EtcdStorage(own.connection);
    try {
      expect(on.health.canRequestProgress).toBe(false);
      await eventually(() => {
        expect(Object.values(on.health.versions)).toEqual([version]);
      });
      expect(on.health.canRequestProgress).toBe(isAllowed);
      await put(on, '/registry/v/a', 'x');
      const batches = on.watch('/registry/v/', 1, never)[Symbol.asyncIterator]();
      expect((await batches.next()).value).toMatchObject({ revision: 2 });
      await batches.return?.();
    } finally {
      on.close();
      await own.stop();
    }
  });

  test('a member is checked again when it comes back, and until then unchecked', async () => {
    const [older, newer] = [await etcdOfSuite('trixie'), await etcdOfSuite('sid')];
    const old = await etcdOfSuite('bookworm');
    const own = await EtcdCluster.start({ etcdPath: old });
    const on = new EtcdStorage(own.connection);
    try {
      await eventually(() => {
        expect(Object.values(on.health.versions)).toEqual(['3.4.23']);
      });
      for (const [path, version] of [
        [older, '3.5.16'],
        [newer, '3.5.30'],
      ] as const) {
        await own.restart(0, path);
        await eventually(() => {
          expect(Object.values(on.health.versions)).toEqual([version]);
          expect(on.health.canRequestProgress).toBe(true);
        });
        await own.kill(0);
        await eventually(() => {
          expect(on.health.canRequestProgress).toBe(false);
        });
      }
    } finally {
      on.close();
      await own.stop();
    }
  });
});

describe('answers in fragments', () => {
  test('a revision whose events and previous values exceed one message arrives whole', async () => {
    const on = new EtcdStorage({ ...cluster.connection, watchPrevious: true });
    const keys = Array.from({ length: 40 }, (_, index) => `/registry/big/${String(100 + index)}`);
    const putAll = (value: Uint8Array): Promise<TransactionResult> =>
      on.transact(
        { conditions: [], changes: keys.map((key) => ({ type: 'put', key, value })) },
        never,
      );
    await putAll(Buffer.alloc(36_000, 'a'));
    const start = await on.currentRevision(never);
    await putAll(Buffer.alloc(36_000, 'b'));
    const batches = on.watch('/registry/big/', start, never)[Symbol.asyncIterator]();
    const { value } = (await batches.next()) as { value: WatchBatch };
    expect(value.revision).toBe(start + 1);
    expect(value.events).toHaveLength(40);
    for (const event of value.events) {
      expect(event.previous?.value.at(0)).toBe('a'.charCodeAt(0));
      expect(event.previous?.modRevision).toBe(start);
    }
    await batches.return?.();
    on.close();
  });

  test('a long history of large values is caught up in order', async () => {
    const start = await storage.currentRevision(never);
    for (let index = 0; index < 12; index++) {
      await put(storage, `/registry/long/${String(100 + index)}`, 'x'.repeat(1_000_000));
    }
    const keys: string[] = [];
    for await (const batch of storage.watch('/registry/long/', start, never)) {
      for (const event of batch.events) if (event.type === 'put') keys.push(event.item.key);
      if (keys.length === 12) break;
    }
    expect(keys).toEqual(keys.toSorted());
    expect(new Set(keys).size).toBe(12);
  });
});

describe('shared values', () => {
  test('replicas that start at once agree on the first one made', async () => {
    const keyspace = createKeyspace('/registry');
    const others = Array.from({ length: 3 }, () => new EtcdStorage(cluster.connection));
    const values = await Promise.all(
      others.map((on, index) =>
        new SharedSecrets(on, keyspace).getOrCreate('key', () => Buffer.from([index]), never),
      ),
    );
    for (const on of others) on.close();
    expect(new Set(values.map((value) => value[0])).size).toBe(1);
    const { item } = await storage.get('/registry/svc-internal/key', never);
    expect([...(item?.value ?? [])]).toEqual([...(values[0] ?? [])]);
  });
});

test('close ends the watches with 503', async () => {
  const on = new EtcdStorage(cluster.connection);
  const start = await on.currentRevision(never);
  const batches = on.watch('/registry/closed/', start, never)[Symbol.asyncIterator]();
  const waiting = (async () => {
    for (;;) await batches.next();
  })();
  setTimeout(() => {
    on.close();
  }, 100);
  await expect(waiting).rejects.toMatchObject({ code: 503 });
});

test('each call is told to the metrics with its outcome', async () => {
  calls.length = 0;
  await put(storage, '/registry/metrics/a', 'x');
  await storage.get('/registry/metrics/a', never);
  const future = { prefix: '/registry/metrics/', limitCount: 1, at: 1_000_000 };
  await expect(storage.list(future, never)).rejects.toMatchObject({ code: 504 });
  expect(calls).toEqual([
    { operation: 'KV/Txn', isOk: true },
    { operation: 'KV/Range', isOk: true },
    { operation: 'KV/Range', isOk: false },
    { operation: 'KV/Range', isOk: true },
  ]);
});
