// All replicas behind a load balancer are restarted, one after the other, under steady load: no
// request fails, no watch is cut, no write is lost to a reader.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { adminToken, TestCluster } from '../harness.ts';
import { Balancer } from './balancer.ts';
import { SteadyLoad } from './steady-load.ts';

const rounds = Number(process.env['ROLLING_ROUNDS'] ?? 1);

let cluster: TestCluster;
let balancer: Balancer;
beforeAll(async () => {
  cluster = await TestCluster.start({
    replicaCount: 3,
    tls: true,
    serverFlags: ['--shutdown-delay-duration=1s'],
  });
  balancer = await Balancer.start(cluster.replicas.map(({ url }) => url));
});
afterAll(async () => {
  await balancer.close();
  await cluster.stop();
});

test('no request fails while every replica is restarted', async () => {
  const ca = readFileSync(cluster.replica(0).caFile, 'utf8');
  const identity = { ca, token: adminToken };
  const load = await SteadyLoad.start({ url: balancer.url, identity: () => identity });
  for (let round = 0; round < rounds; round++) {
    for (const [index, replica] of cluster.replicas.entries()) {
      load.phase = `replica ${String(index)} stops`;
      const ended = replica.terminate();
      while (balancer.takes(replica.url)) await load.flow(1);
      expect(await ended).toBe(0);
      load.phase = `replica ${String(index)} starts`;
      await replica.start();
      while (!balancer.takes(replica.url)) await load.flow(1);
      await load.flow();
    }
  }
  const { failures, ...counts } = await load.stop();
  process.stdout.write(`rolling restart: ${JSON.stringify(counts)}\n`);
  expect(failures).toEqual([]);
  expect(counts.goawayCount).toBeGreaterThan(0);
  expect(counts.watchEndCount).toBeGreaterThan(0);
});

test('the same load notices a replica that is killed', async () => {
  const ca = readFileSync(cluster.replica(0).caFile, 'utf8');
  const identity = { ca, token: adminToken };
  const options = { namespace: 'kube-public', identity: () => identity };
  const load = await SteadyLoad.start({ url: balancer.url, ...options });
  await cluster.replica(0).kill();
  while (balancer.takes(cluster.replica(0).url)) await load.flow(1);
  expect((await load.stop()).failures).not.toEqual([]);
});
