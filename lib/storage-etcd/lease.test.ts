import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Clock } from '../base/clock.ts';
import { EtcdConnection } from './connection.ts';
import { LeasePool, slackSeconds } from './lease.ts';
import { EtcdCluster } from './testing/etcd-process.ts';

let cluster: EtcdCluster;
let connection: EtcdConnection;
const never = new AbortController().signal;

beforeAll(async () => {
  cluster = await EtcdCluster.start();
  connection = new EtcdConnection(cluster.connection);
});
afterAll(async () => {
  connection.close();
  await cluster.stop();
});

function setClock(): { clock: Clock; advance: (ms: number) => void } {
  let nowMs = 1_000;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => undefined };
  return { clock, advance: (ms) => (nowMs += ms) };
}

const ids = async (pool: LeasePool, ttls: readonly number[]): Promise<readonly string[]> =>
  (await Promise.all(ttls.map((ttl) => pool.leaseFor(ttl, never)))).map(String);

const grantedTtl = async (id: string): Promise<number> => {
  const text = await cluster.etcdctl('lease', 'timetolive', BigInt(id).toString(16));
  return Number(/granted with TTL\((\d+)s\)/.exec(text)?.[1]);
};

test('puts that end at about the same time share one lease, at once or one by one', async () => {
  const pool = new LeasePool(connection, setClock().clock);
  const first = await ids(pool, [100, 100, 103, 105]);
  const second = await ids(pool, [100, 104]);
  expect(new Set([...first, ...second]).size).toBe(1);
});

test('a lease is never shorter than asked, and longer by the slack at most', async () => {
  const { clock, advance } = setClock();
  const pool = new LeasePool(connection, clock);
  const [first = ''] = await ids(pool, [100]);
  expect(await grantedTtl(first)).toBe(100 + slackSeconds(100));
  const [longer = ''] = await ids(pool, [106]);
  expect(longer).not.toBe(first);
  const [shorter] = await ids(pool, [50]);
  expect(shorter).not.toBe(first);
  advance(5_000);
  expect(await ids(pool, [100])).toEqual([first]);
  advance(1);
  const [renewed] = await ids(pool, [100]);
  expect(renewed).not.toBe(first);
});

test('a lease is full at 1,000 keys', async () => {
  const pool = new LeasePool(connection, setClock().clock);
  const all = await ids(
    pool,
    Array.from({ length: 1_001 }, () => 3_600),
  );
  const distinct = [...new Set(all)];
  expect(distinct).toHaveLength(2);
  expect(all.filter((id) => id === distinct[0])).toHaveLength(1_000);
});

test('a lease that etcd lost is not handed out again', async () => {
  const pool = new LeasePool(connection, setClock().clock);
  const lease = await pool.leaseFor(100, never);
  await cluster.etcdctl('lease', 'revoke', BigInt(lease.toString()).toString(16));
  await pool.forget(lease);
  expect(String(await pool.leaseFor(100, never))).not.toBe(lease.toString());
});

test.each([
  [1, 1],
  [100, 5],
  [3_600, 60],
])('the slack of %i s is %i s', (ttlSeconds, slack) => {
  expect(slackSeconds(ttlSeconds)).toBe(slack);
});
