// One replica of three loses etcd, by connections that break and by packets that are lost without a
// word: its readiness falls, the balancer leaves it, and it never shows an old state as the latest.
import { afterEach, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { adminToken, TestCluster } from '../harness.ts';
import type { Replica } from '../harness.ts';
import { TcpProxy } from '../tcp-proxy.ts';
import { Balancer } from './balancer.ts';
import { SteadyLoad } from './steady-load.ts';

const path = '/api/v1/namespaces/default/configmaps';

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

/** Writes through another replica, then reads here: what was refused, what was old. */
class Probe {
  oldCount = 0;
  refusedCount = 0;
  freshCount = 0;
  readonly #writer: Replica;
  readonly #reader: Replica;
  #turn = 0;

  constructor(writer: Replica, reader: Replica) {
    this.#writer = writer;
    this.#reader = reader;
  }

  async run(): Promise<void> {
    const turn = String(++this.#turn);
    const body = { data: { turn } };
    const headers = { 'content-type': 'application/merge-patch+json' };
    const written = await this.#writer.request('PATCH', `${path}/probe`, { body, headers });
    expect(written.status).toBe(200);
    const one = await this.#reader.request('GET', `${path}/probe`).catch(() => undefined);
    this.#count(one?.status, one?.text.includes(`"turn":"${turn}"`) === true);
    const list = await this.#reader.request('GET', `${path}?limit=500`).catch(() => undefined);
    this.#count(list?.status, list?.text.includes(`"turn":"${turn}"`) === true);
  }

  #count(status: number | undefined, isFresh: boolean): void {
    if (status !== 200) this.refusedCount++;
    else if (isFresh) this.freshCount++;
    else this.oldCount++;
  }
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
  await other.request('POST', path, { body: { metadata: { name: 'probe' } } });
  const probe = new Probe(other, lone);
  await probe.run();
  expect(probe).toMatchObject({ freshCount: 2, refusedCount: 0, oldCount: 0 });

  link[how]();
  const probing = new AbortController();
  const probes = (async () => {
    while (!probing.signal.aborted) {
      await probe.run();
      await sleep(20);
    }
  })();
  while (balancer.takes(lone.url)) await sleep(50);
  // From here on nobody notices: the balancer sends nothing there.
  const identity = { ca: readFileSync(lone.caFile, 'utf8'), token: adminToken };
  const options = { connectionCount: 1, identity: () => identity };
  const load = await SteadyLoad.start({ url: balancer.url, ...options });
  await load.flow();
  expect((await load.stop()).failures).toEqual([]);
  const known = await lone.request('GET', `${path}?resourceVersion=0`);
  if (known.status === 200) expect(known.json<Listed>().items.length).toBeGreaterThan(0);
  link.mend();
  while (!balancer.takes(lone.url)) await sleep(50);
  probing.abort();
  await probes;
  expect(probe.oldCount).toBe(0);
  expect(probe.refusedCount).toBeGreaterThan(0);
  const before = probe.freshCount;
  await probe.run();
  expect(probe.freshCount).toBe(before + 2);
});
