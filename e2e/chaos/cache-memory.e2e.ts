// Current state that exceeds the memory of the cache: watches go on all the same, those of Events
// too, of which the log keeps no minimum.

import { expect, test } from '@jest/globals';
import { judge } from './truth.ts';

test('Events are watched while other objects fill the memory of the cache', async () => {
  const { seed, anomalies, history } = await judge({
    name: 'cache memory exceeded',
    cluster: { serverFlags: ['--cache-memory-mb=16'] },
    workload: { resource: 'events', slowWatchers: 3, clients: 10, pauseMs: 2 },
    // The log's own share holds more than this, but not for ever.
    check: { retentionMs: 3_000, watchDelayMaxMs: 60_000 },
    harm: async ({ cluster, flow }) => {
      const [replica] = cluster.replicas;
      const metadata = { generateName: 'large-' };
      const body = { metadata, data: { payload: 'x'.repeat(1_000_000) } };
      for (let count = 0; count < 24; count += 1) {
        const path = '/api/v1/namespaces/default/configmaps';
        const made = await replica?.request('POST', path, { body });
        expect(made?.status).toBe(201);
      }
      for (const each of cluster.replicas) {
        const { text } = await each.request('GET', '/readyz?verbose');
        expect(text).toContain('current state exceeds --cache-memory-mb');
      }
      await flow(2_000);
    },
  });
  expect({ seed, anomalies }).toEqual({ seed, anomalies: [] });
  expect(history.watches.flatMap(({ events }) => events).length).toBeGreaterThan(1_000);
});
