// The storage suite through the fence of a term, and what becomes of writes once the term is over.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { EtcdStorage } from './etcd-storage.ts';
import { fencedStorage, TermEnded } from './fenced-storage.ts';
import { describeStorage } from './storage.suite.ts';
import type { Revision, Storage } from './storage.ts';
import { EtcdCluster } from './testing/etcd-process.ts';
import { bytes, newPlace, revisionOf } from './testing/place.ts';

let cluster: EtcdCluster;
let storage: EtcdStorage;
let fence: Revision;
const key = '/registry/svc-internal/fence';
const never = new AbortController().signal;

beforeAll(async () => {
  cluster = await EtcdCluster.start();
  storage = new EtcdStorage({ ...cluster.connection, pageBytes: 20_000 });
  fence = await begin();
});
afterAll(async () => {
  storage.close();
  await cluster.stop();
});

/** @returns the revision of the term that begins. */
async function begin(): Promise<Revision> {
  const { item } = await storage.get(key, never);
  const expected = item?.modRevision ?? 0;
  return revisionOf(await storage.put(key, bytes('x'), { expected }, never));
}

const within = (expected: Revision, ended: () => void = () => undefined): Storage => {
  const { history } = storage.epoch;
  return fencedStorage(storage, { fence: { key, expected }, history, ended });
};

describeStorage('storage within a term', () => ({
  storage: within(fence),
  compact: (revision) => cluster.compact(revision),
}));

type Write = (on: Storage, key: string, expected: Revision) => Promise<unknown>;
const writes: readonly (readonly [string, Write])[] = [
  ['put', (on, at, expected) => on.put(at, bytes('late'), { expected }, never)],
  [
    'put for a time',
    (on, at, expected) => {
      return on.put(at, bytes('late'), { expected, ttlSeconds: 60 }, never);
    },
  ],
  ['delete', (on, at, expected) => on.delete(at, { expected }, never)],
  [
    'transact',
    (on, at, expected) => {
      const changes = [{ type: 'put', key: at, value: bytes('late') } as const];
      return on.transact({ conditions: [{ key: at, expected }], changes }, never);
    },
  ],
  [
    'transact without a condition',
    (on, at) => {
      const changes = [{ type: 'put', key: at, value: bytes('late') } as const];
      return on.transact({ conditions: [], changes }, never);
    },
  ],
];

describe('once another term has begun', () => {
  test.each(writes)('%s fails, changes nothing and tells', async (_name, write) => {
    const mine = await begin();
    let endedCount = 0;
    const fenced = within(mine, () => endedCount++);
    const { prefix, created } = newPlace(storage);
    const revision = await created('a', 'before');
    await begin();
    await expect(write(fenced, `${prefix}a`, revision)).rejects.toThrow(TermEnded);
    expect(endedCount).toBe(1);
    const { item } = await storage.get(`${prefix}a`, never);
    expect(item?.modRevision).toBe(revision);
  });

  test('the next one writes', async () => {
    const fenced = within(await begin());
    const { prefix } = newPlace(storage);
    const result = await fenced.put(`${prefix}a`, bytes('x'), { expected: 0 }, never);
    expect(result.ok).toBe(true);
  });
});

test('a term whose fence is gone, or is of another history, is over', async () => {
  const mine = await begin();
  const { prefix } = newPlace(storage);
  const put = (on: Storage): Promise<unknown> =>
    on.put(`${prefix}a`, bytes('x'), { expected: 0 }, never);
  const other = { fence: { key, expected: mine }, history: -1, ended: () => undefined };
  await expect(put(fencedStorage(storage, other))).rejects.toThrow(TermEnded);
  await storage.delete(key, { expected: mine }, never);
  await expect(put(within(mine))).rejects.toThrow(TermEnded);
  expect((await storage.get(`${prefix}a`, never)).item).toBeUndefined();
});

test('a fence that was never put holds: whoever lost a race is answered as ever', async () => {
  const { history } = storage.epoch;
  const absent = { key: '/registry/svc-internal/never', expected: 0 };
  const fenced = fencedStorage(storage, { fence: absent, history, ended: () => undefined });
  const { prefix, created } = newPlace(storage);
  await created('a', 'before');
  const result = await fenced.put(`${prefix}a`, bytes('late'), { expected: 0 }, never);
  expect(result).toMatchObject({ ok: false, current: { key: `${prefix}a` } });
});
