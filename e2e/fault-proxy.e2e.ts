// Every fault that the proxy can plant between clients and honest servers is found by the history
// checker; what only breaks connections, or loses answers, is no anomaly.

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeTlsFiles } from '../lib/storage-etcd/testing/tls-files.ts';
import { startFaultProxy, type Fault, type FaultProxy } from './fault-proxy.ts';
import { checkHistory } from './history/checker.ts';
import type { Anomaly, AnomalyKind, History } from './history/history.ts';
import { startTinyServers, type TinyServers } from './history/testing/tiny-server.ts';
import { startWorkload, type Workload } from './history/workload.ts';

let servers: TinyServers;
let proxy: FaultProxy;

beforeAll(async () => {
  servers = await startTinyServers(1);
  proxy = await startFaultProxy({ target: servers.urls[0] ?? '' });
});
afterAll(async () => {
  await proxy.close();
  await servers.close();
});

interface Outcome {
  readonly history: History;
  readonly anomalies: readonly Anomaly[];
}

/** So often each fault is done in its run: one of them alone can go unnoticed. */
const faultCount = 20;
/** A fault can keep watchers from the end of a run for good: they are given this long. */
const spoiltSettleMs = 3_000;

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(10);
}

/** Clients and watchers that all go through the proxy, until the harm was done. */
async function runWith(
  fault: Fault | undefined,
  options: {
    readonly harm?: (workload: Workload) => Promise<void>;
    readonly settleMs?: number;
  } = {},
): Promise<Outcome> {
  const { harm = () => until(() => proxy.doneCount >= faultCount), settleMs } = options;
  proxy.plant(fault);
  const workload = await startWorkload({
    servers: [proxy.url],
    watchers: 4,
    pauseMs: 2,
    requestTimeoutMs: 2_000,
    ...(settleMs !== undefined && { settleMs }),
  });
  await harm(workload);
  const history = await workload.stop();
  proxy.plant(undefined);
  // Honest streams are late on a busy machine: lateness counts only where it is planted.
  const watchDelayMaxMs = fault?.kind === 'delay-event' ? fault.delayMs / 2 : Infinity;
  return { history, anomalies: checkHistory(history, { watchDelayMaxMs }) };
}

const found: readonly (readonly [Fault, AnomalyKind])[] = [
  [{ kind: 'drop-event', every: 10 }, 'missing-event'],
  [{ kind: 'repeat-event', every: 10 }, 'duplicate-event'],
  [{ kind: 'swap-events', every: 10 }, 'reordered-event'],
  [{ kind: 'delay-event', every: 10, delayMs: 300 }, 'late-event'],
  [{ kind: 'stale-read', every: 3 }, 'stale-read'],
  [{ kind: 'torn-page', every: 1 }, 'torn-list'],
  [{ kind: 'short-list', every: 5 }, 'torn-list'],
  [{ kind: 'write-error', every: 10, status: 409 }, 'refused-but-applied'],
  [{ kind: 'lost-write', every: 3 }, 'stale-read'],
  [{ kind: 'no-compare', every: 1 }, 'lost-update'],
];

const harmless: readonly Fault[] = [
  { kind: 'write-error', every: 10, status: 500 },
  { kind: 'cut-answer', every: 10 },
  { kind: 'cut-watch', every: 10 },
];

describe('the checker finds', () => {
  test.each(found)('%j', async (fault, kind) => {
    const { history, anomalies } = await runWith(fault, { settleMs: spoiltSettleMs });
    const kinds = [...new Set(anomalies.map((anomaly) => anomaly.kind))];
    expect({ seed: history.seed, kinds }).toEqual({
      seed: history.seed,
      kinds: expect.arrayContaining([kind]),
    });
  });

  test('frozen watches', async () => {
    const freeze = { kind: 'freeze-watch', every: 1 } as const;
    const harm = (): Promise<void> => until(() => proxy.doneCount >= 4);
    const { anomalies } = await runWith(freeze, { harm, settleMs: spoiltSettleMs });
    expect(anomalies.map(({ kind }) => kind)).toContain('stalled-watch');
  });
});

describe('the checker accepts', () => {
  test.each(harmless)('%j', async (fault) => {
    const { history, anomalies } = await runWith(fault);
    expect({ seed: history.seed, anomalies }).toEqual({ seed: history.seed, anomalies: [] });
  });

  test('an honest proxy whose connections are all cut again and again', async () => {
    const harm = async (workload: Workload): Promise<void> => {
      for (let count = 0; count < 10; count += 1) {
        const wanted = workload.answered() + 50;
        await until(() => workload.answered() >= wanted);
        proxy.cutAll();
      }
    };
    const { history, anomalies } = await runWith(undefined, { harm });
    expect(history.watches.filter(({ ending }) => ending.kind === 'cut').length).toBeGreaterThan(5);
    expect({ seed: history.seed, anomalies }).toEqual({ seed: history.seed, anomalies: [] });
  });
});

test('the proxy ends TLS on both sides, and its clients check the certificate', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'fault-proxy-'));
  const files = await writeTlsFiles(folder);
  const ca = readFileSync(files.caFile, 'utf8');
  const cert = readFileSync(files.serverCertFile, 'utf8');
  const key = readFileSync(files.serverKeyFile, 'utf8');
  rmSync(folder, { recursive: true });
  const inner = await startFaultProxy({ target: servers.urls[0] ?? '', tls: { cert, key } });
  const outer = await startFaultProxy({ target: inner.url, ca, tls: { cert, key } });
  try {
    await expect(startWorkload({ servers: [outer.url] })).rejects.toThrow(/certificate/);
    const workload = await startWorkload({ servers: [outer.url], access: { ca, token: 'any' } });
    await sleep(300);
    const history = await workload.stop();
    expect(history.writes.some(({ outcome }) => outcome.kind === 'applied')).toBe(true);
    expect(checkHistory(history)).toEqual([]);
  } finally {
    await outer.close();
    await inner.close();
  }
});
