// The whole past is compacted in etcd, again and again, under traffic. Watches and pages whose past
// is gone are told so (410) and start over; nobody is given a wrong answer instead.

import { afterAll, expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { judge, SharedClusters } from './truth.ts';

const shared = new SharedClusters();
afterAll(() => shared.stop());

test('forced compaction up to the present', async () => {
  const { seed, anomalies } = await judge({
    name: 'forced compaction',
    shared,
    workload: { slowWatchers: 2 },
    // Pages that left the cache's snapshots are read from etcd, where the past is gone at once.
    check: { retentionMs: 0 },
    harm: async ({ cluster: { etcd, replicas }, flow }) => {
      for (let count = 0; count < 8; count += 1) {
        const list = await replicas[0]?.request('GET', '/api/v1/namespaces?limit=1');
        const { metadata } = list?.json<{ metadata: { resourceVersion: string } }>() ?? {};
        await etcd.compact(Number(metadata?.resourceVersion));
        await flow(50);
      }
    },
  });
  expect({ seed, anomalies }).toEqual({ seed, anomalies: [] });
});

test('compaction while a replica is away, which then starts from what is left', async () => {
  const { seed, anomalies } = await judge({
    name: 'compaction and restart',
    shared,
    check: { retentionMs: 0 },
    harm: async ({ cluster: { etcd, replicas }, random, flow }) => {
      const away = random.pick(replicas);
      await away.kill();
      await flow();
      const other = replicas.find((replica) => replica !== away);
      const list = await other?.request('GET', '/api/v1/namespaces?limit=1');
      const { metadata } = list?.json<{ metadata: { resourceVersion: string } }>() ?? {};
      await etcd.compact(Number(metadata?.resourceVersion));
      await sleep(100);
      await away.start();
      await flow();
    },
  });
  expect({ seed, anomalies }).toEqual({ seed, anomalies: [] });
});
