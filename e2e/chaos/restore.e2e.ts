// etcd is restored from a backup while one replica is cut off from it. When the replica is back the
// store has passed everything that it saw of the history that was lost; still nothing of that
// history is served, by any replica.

import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestCluster, type Replica } from '../harness.ts';
import { checkHistory } from '../history/checker.ts';
import type { Anomaly, History } from '../history/history.ts';
import { newSeed, Random } from '../history/random.ts';
import { describeHistory } from '../history/summary.ts';
import { startWorkload } from '../history/workload.ts';
import { TcpProxy } from '../tcp-proxy.ts';
import { accessTo, flowOf } from './truth.ts';

interface ListBody {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string };
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

const revisionOf = (list: ListBody): number => Number(list.metadata.resourceVersion);
const namesOf = (list: ListBody): string[] => list.items.map(({ metadata }) => metadata.name);

/** Three replicas, the last one behind a link that can be cut, and what was recorded of them. */
class Scene {
  readonly seed = process.env['HISTORY_SEED'] ?? newSeed();
  readonly random = new Random(this.seed, 'restore');
  readonly cluster: TestCluster;
  readonly link: TcpProxy;
  readonly #runs: History[] = [];

  private constructor(cluster: TestCluster, link: TcpProxy) {
    this.cluster = cluster;
    this.link = link;
  }

  static async open(): Promise<Scene> {
    let link: TcpProxy | undefined;
    const cluster = await TestCluster.start({
      replicaCount: 3,
      tls: true,
      serverFlags: ['--controllers='], // the clients alone make config maps
      etcdUrlOf: async (replica, url) => {
        if (replica < 2) return url;
        link = await TcpProxy.start(url);
        return link.url;
      },
    });
    if (link === undefined) throw new Error('the last replica has a link of its own');
    return new Scene(cluster, link);
  }

  /** A recorded run of clients over all replicas, on the objects that are there. */
  async run(): Promise<void> {
    const { seed, cluster } = this;
    const [first] = this.#runs;
    const workload = await startWorkload({
      servers: cluster.replicas.map(({ url }) => url),
      access: accessTo(cluster),
      seed,
      settleMs: 45_000,
      firstClient: 100 * this.#runs.length,
      ...(first === undefined ? {} : { namespace: first.namespace }),
    });
    await flowOf(workload, seed, 200);
    this.#runs.push(await workload.stop());
  }

  /** What happened between the runs has never been: that is what a restore says. */
  anomalies(): Anomaly[] {
    const last = this.#runs.at(-1);
    if (last === undefined) throw new Error('there was no run');
    const history: History = {
      ...last,
      writes: this.#runs.flatMap(({ writes }) => writes),
      gets: this.#runs.flatMap(({ gets }) => gets),
      lists: this.#runs.flatMap(({ lists }) => lists),
      watches: this.#runs.flatMap(({ watches }) => watches),
    };
    process.stdout.write(`restore: ${describeHistory(history)}\n`);
    return checkHistory(history, { retentionMs: 0 });
  }

  path(name = ''): string {
    return `/api/v1/namespaces/${this.#runs[0]?.namespace ?? ''}/configmaps${name}`;
  }

  /** Undefined: refused for now. */
  async list(replica: Replica, query = ''): Promise<ListBody | undefined> {
    const reply = await replica.request('GET', this.path(query));
    return reply.status === 200 ? reply.json<ListBody>() : undefined;
  }

  /** Asks until there is an answer. */
  async untilListed(replica: Replica, query = ''): Promise<ListBody> {
    for (;;) {
      const list = await this.list(replica, query);
      if (list !== undefined) return list;
      await sleep(20);
    }
  }

  async close(): Promise<void> {
    await this.cluster.stop();
    await this.link.close();
  }
}

test.each([
  ['as it was', []],
  ['with its revision raised', ['--bump-revision=1000000', '--mark-compacted']],
])('from before deletions, %s', async (_how, flags) => {
  const scene = await Scene.open();
  const { cluster, link, random, seed } = scene;
  const [first, cutOff] = [cluster.replica(0), cluster.replica(2)];
  try {
    await scene.run();
    const backup = await cluster.etcd.saveSnapshot('backup.db');
    const kept = namesOf(await scene.untilListed(first));

    // What is lost: objects are deleted, one after the other, and all replicas see it.
    const begun = await scene.untilListed(cutOff, '?limit=1');
    for (const name of kept.toSorted(() => random.fraction() - 0.5)) {
      expect((await first.request('DELETE', scene.path(`/${name}`))).status).toBe(200);
    }
    const lost = await scene.untilListed(cutOff);
    expect({ seed, items: lost.items }).toEqual({ seed, items: [] });

    link.cut();
    await cluster.etcd.restoreSnapshot(backup, undefined, flags);
    const grownTo = revisionOf(lost) + random.below(20);
    for (let count = 0; revisionOf(await scene.untilListed(first)) < grownTo; count += 1) {
      const body = { metadata: { name: `grown-${count}` } };
      await first.request('POST', '/api/v1/namespaces/default/configmaps', { body });
    }
    link.mend();

    // From its first answer on, the replica that was away shows what is there.
    for (let count = 0; count < 20; count += 1) {
      const names = namesOf(await scene.untilListed(cutOff));
      expect({ seed, names }).toEqual({ seed, names: kept });
    }
    const deadline = Date.now() + 60_000;
    const remembers = async (): Promise<boolean> =>
      namesOf(await scene.untilListed(cutOff, '?resourceVersion=0')).length === 0;
    while ((await remembers()) && Date.now() < deadline) await sleep(20);
    const old = [
      `?continue=${begun.metadata.continue ?? ''}`,
      `?resourceVersion=${revisionOf(lost)}&resourceVersionMatch=Exact`,
    ];
    for (const replica of cluster.replicas) {
      for (const query of old) {
        const { status } = await replica.request('GET', scene.path(query));
        expect({ seed, query, status }).toEqual({ seed, query, status: 410 });
      }
    }
    await scene.run();
    expect({ seed, anomalies: scene.anomalies() }).toEqual({ seed, anomalies: [] });
  } finally {
    await scene.close();
  }
});
