// A recorded run against honest servers: no anomaly, and everything the checker judges did occur in
// it.

import { expect, test } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { checkHistory } from './checker.ts';
import { countHistory } from './summary.ts';
import { startTinyServers } from './testing/tiny-server.ts';
import { startWorkload } from './workload.ts';

test('honest servers: no anomaly, and traffic of every kind', async () => {
  const servers = await startTinyServers(3);
  try {
    const workload = await startWorkload({ servers: servers.urls, pauseMs: 2, slowWatchers: 1 });
    await sleep(2_000);
    while (workload.answered() < 1_000) await sleep(20);
    const history = await workload.stop();
    expect({ seed: workload.seed, anomalies: checkHistory(history) }).toEqual({
      seed: workload.seed,
      anomalies: [],
    });
    const counts = countHistory(history);
    const rare = Object.entries(counts).filter(([, count]) => count < 2);
    expect({ seed: workload.seed, rare }).toEqual({ seed: workload.seed, rare: [] });
  } finally {
    await servers.close();
  }
});

test('a run ends with an error when no server takes a last write', async () => {
  const servers = await startTinyServers(1);
  const workload = await startWorkload({ servers: servers.urls, settleMs: 300 });
  await servers.close();
  await expect(workload.stop()).rejects.toThrow('last write');
});
