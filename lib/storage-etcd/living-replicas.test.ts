import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { limits } from '../base/limits.ts';
import { EtcdStorage } from './etcd-storage.ts';
import { createKeyspace } from './keys.ts';
import { slackSeconds } from './lease.ts';
import { LivingReplicas } from './living-replicas.ts';
import { EtcdCluster } from './testing/etcd-process.ts';

let etcd: EtcdCluster;
let storage: EtcdStorage;

beforeAll(async () => {
  etcd = await EtcdCluster.start();
  storage = new EtcdStorage(etcd.connection);
});

afterAll(async () => {
  storage.close();
  await etcd.stop();
});

const signal = (): AbortSignal => AbortSignal.timeout(60_000);
let count = 0;
const freshKeyspace = () => createKeyspace(`/r${String(++count)}`);

test('replicas that live are told apart by address and port, IPv6 too', async () => {
  const keyspace = freshKeyspace();
  const all = [
    { ip: '10.0.0.1', port: 6443 },
    { ip: '10.0.0.1', port: 6444 },
    { ip: 'fd00::1', port: 6443 },
  ];
  for (const own of all) await new LivingReplicas(storage, keyspace).refresh(own, signal());
  const replicas = new LivingReplicas(storage, keyspace);
  expect((await replicas.list(signal())).replicas).toEqual(all);
  await replicas.remove({ ip: '10.0.0.1', port: 6444 }, signal());
  expect((await replicas.list(signal())).replicas).toEqual([all[0], all[2]]);
});

test('a key that is not ours is no replica', async () => {
  const keyspace = freshKeyspace();
  const replicas = new LivingReplicas(storage, keyspace);
  for (const value of ['not json', '{}', 'null', '{"ip":1,"port":2}']) {
    const key = keyspace.key('masterleases', '', String(value.length));
    await storage.put(key, Buffer.from(value), { expected: 0 }, signal());
  }
  expect((await replicas.list(signal())).replicas).toEqual([]);
});

test('a refresh makes a key again that ended, and takes over one of a process before', async () => {
  const keyspace = freshKeyspace();
  const own = { ip: '10.0.0.1', port: 1 };
  const replicas = new LivingReplicas(storage, keyspace);
  await replicas.refresh(own, signal());
  await new LivingReplicas(storage, keyspace).remove(own, signal());
  await replicas.refresh(own, signal());
  await new LivingReplicas(storage, keyspace).refresh(own, signal());
  await replicas.refresh(own, signal());
  expect((await replicas.list(signal())).replicas).toEqual([own]);
});

test('changes are replicas that come and go; refreshed keys are none', async () => {
  const keyspace = freshKeyspace();
  const replicas = new LivingReplicas(storage, keyspace);
  const [a, b] = [1, 2].map((port) => ({ ip: '10.0.0.1', port })) as [Own, Own];
  await replicas.refresh(a, signal());
  const { revision } = await replicas.list(signal());
  const ending = new AbortController();
  const changes = replicas.changes(revision, ending.signal);
  const other = new LivingReplicas(storage, keyspace);
  // Each is awaited before the next: batches may hold several events.
  await replicas.refresh(a, signal());
  await other.refresh(b, signal());
  await changes.next();
  expect((await replicas.list(signal())).replicas).toEqual([a, b]);
  await replicas.refresh(a, signal());
  await other.remove(b, signal());
  await changes.next();
  expect((await replicas.list(signal())).replicas).toEqual([a]);
  ending.abort(new Error('over'));
  await changes.next().catch(() => undefined);
});
interface Own {
  readonly ip: string;
  readonly port: number;
}

test('the key of a killed replica ends within 14 s, a second before it must be noticed', () => {
  const ttlSeconds = limits.replicaLeaseSeconds;
  const etcdLatestSeconds = 2; // it looks for ended leases twice a second
  expect(ttlSeconds + slackSeconds(ttlSeconds) + etcdLatestSeconds).toBeLessThanOrEqual(14);
});
