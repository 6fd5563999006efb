// Replicas are killed, drained and started again under traffic; the others go on, and no answer of
// any replica contradicts another.

import { afterAll, expect, test } from '@jest/globals';
import { judge, SharedClusters } from './truth.ts';

const shared = new SharedClusters();
afterAll(() => shared.stop());

// A replica that has just started holds no history from before, so 410 is allowed.
const check = { retentionMs: 0 };

test('a replica killed and started again', async () => {
  const { seed, anomalies } = await judge({
    name: 'replica killed',
    shared,
    check,
    harm: async ({ cluster, random, flow }) => {
      for (let count = 0; count < 3; count += 1) {
        const replica = random.pick(cluster.replicas);
        await replica.kill();
        await flow();
        await replica.start();
        await flow();
      }
    },
  });
  expect({ seed, anomalies }).toEqual({ seed, anomalies: [] });
});

test('replicas drained one after the other and started again, as in an upgrade', async () => {
  const { seed, anomalies } = await judge({
    name: 'replicas drained',
    shared,
    check,
    harm: async ({ cluster, flow }) => {
      for (const replica of cluster.replicas) {
        await replica.terminate();
        await replica.start();
        await flow();
      }
    },
  });
  expect({ seed, anomalies }).toEqual({ seed, anomalies: [] });
});

test('all replicas drained at once while watchers are behind', async () => {
  const { seed, anomalies, history } = await judge({
    name: 'all replicas drained',
    shared,
    // Large objects and slow readers: at any time most streams are in the middle of many events.
    workload: {
      paddingBytes: 240_000,
      clients: 4,
      slowWatchers: 4,
      watchers: 2,
      names: 4,
      streamMsMax: 20_000,
    },
    check: { ...check, watchDelayMaxMs: 60_000 },
    harm: async ({ cluster, flow }) => {
      for (let count = 0; count < 2; count += 1) {
        await flow();
        await Promise.all(cluster.replicas.map((replica) => replica.terminate()));
        await Promise.all(cluster.replicas.map((replica) => replica.start()));
      }
    },
  });
  expect({ seed, anomalies }).toEqual({ seed, anomalies: [] });
  // Streams that the servers ended, the last event of some of them a bookmark.
  const closed = history.watches.filter(({ ending }) => ending.kind === 'closed');
  expect(closed.some(({ events }) => events.at(-1)?.type === 'BOOKMARK')).toBe(true);
});
