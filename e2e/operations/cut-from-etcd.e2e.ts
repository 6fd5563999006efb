// One replica of three loses etcd, by connections that break and by packets that are lost without a
// word: its readiness falls, the balancer leaves it, and it never shows an old state as the latest.
import { afterEach, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminToken, TestCluster } from '../harness.ts';
import { TcpProxy } from '../tcp-proxy.ts';
import { configMaps } from './asks.ts';
import { Balancer } from './balancer.ts';
import { Probe } from './probe.ts';
import { SteadyLoad } from './steady-load.ts';

let cluster: TestCluster;
let balancer: Balancer;
let link: TcpProxy;
afterEach(async () => {
  await balancer.close();
  await cluster.stop();
  await link.close();
});

interface Listed {
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

test.each(['cut', 'freeze'] as const)('%s', async (how) => {
  cluster = await TestCluster.start({
    replicaCount: 3,
    tls: true,
    etcdUrlOf: async (replica, url) => {
      if (replica > 0) return url;
      link = await TcpProxy.start(url);
      return link.url;
    },
  });
  balancer = await Balancer.start(cluster.replicas.map(({ url }) => url));
  const [lone, other] = [cluster.replica(0), cluster.replica(1)];
  const probe = new Probe(other, lone);
  await probe.run();
  expect(probe).toMatchObject({ freshCount: 2, refusedCount: 0, oldCount: 0 });

  link[how]();
  const probing = new AbortController();
  const probes = probe.keepRunning(probing.signal);
  while (balancer.takes(lone.url)) await sleep(50);
  // From here on nobody notices: the balancer sends nothing there.
  const identity = { ca: readFileSync(lone.caFile, 'utf8'), token: adminToken };
  const options = { connectionCount: 1, identity: () => identity };
  const load = await SteadyLoad.start({ url: balancer.url, ...options });
  await load.flow();
  expect((await load.stop()).failures).toEqual([]);
  const known = await lone.request('GET', `${configMaps}?resourceVersion=0`);
  if (known.status === 200) expect(known.json<Listed>().items.length).toBeGreaterThan(0);
  while (probe.refusedCount === 0) await sleep(50); // at the latest after a request's whole time
  link.mend();
  while (!balancer.takes(lone.url)) await sleep(50);
  probing.abort();
  await probes;
  expect(probe.oldCount).toBe(0);
  const before = probe.freshCount;
  await probe.run();
  expect(probe.freshCount).toBe(before + 2);
});
