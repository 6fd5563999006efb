// Custom resources under traffic, while their definition changes again and again and while replicas
// and etcd break: no answer contradicts another, no event is lost, no request fails for a change.

import { afterAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reply, TestCluster } from '../harness.ts';
import type { History } from '../history/history.ts';
import { establish, redefine } from './definitions.ts';
import { judge, SharedClusters, type Scene } from './truth.ts';

const shared = new SharedClusters();
afterAll(() => shared.stop());

const kind = { group: 'history.example.com', plural: 'widgets' };
const workload = { resource: 'widgets' } as const;
const seconds = Number(process.env['CHAOS_SECONDS'] ?? 5);

/** The kind as it was at first. */
async function prepare(cluster: TestCluster): Promise<void> {
  const { status } = await redefine(cluster.replica(0), kind);
  if (status === 404) await establish(cluster, kind);
}

/** Another edition of the definition every few milliseconds, through any of these replicas. */
async function changing(
  { random, cluster }: Scene,
  { until, everyMs }: { readonly until: () => boolean; readonly everyMs: number },
): Promise<number> {
  let edition = 0;
  while (!until()) {
    edition += 1;
    const reply = await redefine(random.pick(cluster.replicas), { ...kind, edition }).catch(
      (): Reply | undefined => undefined,
    );
    // What a replica that fails or has just started answers asks to try again; all else is taken.
    const asksAgain = reply === undefined || reply.status === 429 || reply.status >= 500;
    if (!asksAgain && reply.status !== 200) {
      throw new Error(`${String(reply.status)} ${reply.text}`);
    }
    await sleep(everyMs);
  }
  return edition;
}

/** What was answered with a failure that nobody asked for. */
const failuresIn = ({ writes, gets, lists, watches }: History): string[] => [
  ...writes.flatMap(({ verb, outcome }) =>
    outcome.kind === 'unknown' || (outcome.kind === 'refused' && outcome.why === 'other')
      ? [`${verb}: ${outcome.why}`]
      : [],
  ),
  ...gets.flatMap(({ outcome }) => (outcome.kind === 'failed' ? [`get: ${outcome.why}`] : [])),
  ...lists.flatMap(({ ending }) => (ending.kind === 'failed' ? [`list: ${ending.why}`] : [])),
  ...watches.flatMap(({ ending }) => (ending.kind === 'failed' ? [`watch: ${ending.why}`] : [])),
];

test('a definition that changes every 10 ms fails no request, and watches go on', async () => {
  let count = 0;
  const { seed, anomalies, history } = await judge({
    name: 'definition changed',
    workload,
    shared,
    prepare,
    harm: async (scene) => {
      const endsAt = performance.now() + seconds * 1000;
      let isDone = false;
      const flowing = scene.flow(400).finally(() => (isDone = true));
      const until = (): boolean => isDone && performance.now() > endsAt;
      [count] = await Promise.all([changing(scene, { until, everyMs: 10 }), flowing]);
    },
  });
  expect({ seed, anomalies }).toEqual({ seed, anomalies: [] });
  expect({ seed, failures: failuresIn(history) }).toEqual({ seed, failures: [] });
  expect(count).toBeGreaterThan(20);
  // Streams that the servers ended for a change.
  expect(history.watches.some(({ ending }) => ending.kind === 'closed')).toBe(true);
});

test('a version that is served no more and again loses nothing', async () => {
  const { seed, anomalies, history } = await judge({
    name: 'version withdrawn',
    workload,
    shared,
    prepare,
    harm: async ({ cluster, random, flow }) => {
      for (let round = 0; round < 2; round += 1) {
        const through = random.pick(cluster.replicas);
        const served = round % 2 === 0 ? ['v1'] : ['v1', 'v2'];
        expect((await redefine(through, { ...kind, edition: round, served })).status).toBe(200);
        await flow();
      }
    },
  });
  expect({ seed, anomalies }).toEqual({ seed, anomalies: [] });
  // Only watches in the version that was not there failed: 404, with a text.
  const absent = ['watch: 404', 'watch: the answer is no JSON'];
  expect(failuresIn(history).filter((failure) => !absent.includes(failure))).toEqual([]);
});

const harms: readonly (readonly [string, (scene: Scene) => Promise<void>])[] = [
  [
    'a replica paused, and the leader of etcd moved',
    async ({ cluster, random, flow }) => {
      const paused = random.pick(cluster.replicas);
      paused.pause();
      await cluster.etcd.moveLeader();
      await sleep(2_000).finally(() => paused.resume());
      await flow();
      await cluster.etcd.moveLeader();
    },
  ],
  [
    'a replica killed and started again',
    async ({ cluster, random, flow }) => {
      const killed = random.pick(cluster.replicas);
      await killed.kill();
      await flow();
      await killed.start();
    },
  ],
];

test.each(harms)('a definition that changes, and %s', async (name, harm) => {
  const { seed, anomalies } = await judge({
    name: `definition changed, ${name}`,
    cluster: { memberCount: 3 },
    workload,
    // A replica that has just started holds no history from before, so 410 is allowed.
    check: name.includes('killed') ? { retentionMs: 0 } : {},
    shared,
    prepare,
    harm: async (scene) => {
      let isDone = false;
      const harming = harm(scene).finally(() => (isDone = true));
      await Promise.all([changing(scene, { until: () => isDone, everyMs: 50 }), harming]);
    },
  });
  expect({ seed, anomalies }).toEqual({ seed, anomalies: [] });
});
