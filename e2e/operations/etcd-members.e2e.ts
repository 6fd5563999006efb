// A member of etcd is added and another one, which leads, is removed, under load and in the order
// of docs/operate/etcd.md: no request fails.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { adminToken, TestCluster } from '../harness.ts';
import { Balancer } from './balancer.ts';
import { SteadyLoad } from './steady-load.ts';

let cluster: TestCluster;
let balancer: Balancer;
beforeAll(async () => {
  cluster = await TestCluster.start({
    replicaCount: 2,
    memberCount: 3,
    tls: true,
    serverFlags: ['--shutdown-delay-duration=500ms'],
  });
  balancer = await Balancer.start(cluster.replicas.map(({ url }) => url));
});
afterAll(async () => {
  await balancer.close();
  await cluster.stop();
});

test('no request fails while a member is added and the leader is removed', async () => {
  const { etcd, replicas } = cluster;
  const identity = { ca: readFileSync(cluster.replica(0).caFile, 'utf8'), token: adminToken };
  const options = { connectionCount: 1, identity: () => identity };
  const load = await SteadyLoad.start({ url: balancer.url, ...options });
  const restarted = async (urls: readonly string[]): Promise<void> => {
    for (const replica of replicas) {
      const ended = replica.terminate();
      while (balancer.takes(replica.url)) await load.flow(1);
      expect(await ended).toBe(0);
      await replica.start([`--etcd-servers=${urls.join(',')}`]);
      while (!balancer.takes(replica.url)) await load.flow(1);
    }
  };
  load.phase = 'a member is added';
  await etcd.add();
  await load.flow();
  load.phase = 'replicas learn of it';
  await restarted(etcd.endpoints);
  await load.flow();

  const leader = await etcd.leader();
  const rest = etcd.endpoints.filter((_, index) => index !== leader);
  load.phase = 'replicas leave the leader';
  await restarted(rest);
  load.phase = 'the lead moves';
  await etcd.moveLeader();
  await load.flow();
  load.phase = 'a member is removed';
  const id = await etcd.memberId(leader);
  await etcd.etcdctl(`--endpoints=${rest[0] ?? ''}`, 'member', 'remove', id);
  await load.flow();
  await etcd.kill(leader);
  await load.flow();

  const list = await etcd.etcdctl('member', 'list');
  expect(list.trim().split('\n')).toHaveLength(3);
  expect(list).not.toContain(id);
  const { failures, ...counts } = await load.stop();
  process.stdout.write(`members of etcd: ${JSON.stringify(counts)}\n`);
  expect(failures).toEqual([]);
});
