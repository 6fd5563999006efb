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
import { startWorkload } from './history/workload.ts';

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
  readonly doneCount: number;
}

/** A short run of clients and watchers that all go through the proxy. */
async function runWith(fault: Fault | undefined): Promise<Outcome> {
  proxy.plant(fault);
  const workload = await startWorkload({
    servers: [proxy.url],
    watchers: 4,
    pauseMs: 2,
    settleMs: 1_000,
    requestTimeoutMs: 2_000,
  });
  await sleep(1_000);
  const history = await workload.stop();
  const { doneCount } = proxy;
  proxy.plant(undefined);
  // Honest streams are late on a busy machine too: the limit is short only where lateness is
  // planted.
  const options = fault?.kind === 'delay-event' ? { watchDelayMaxMs: fault.delayMs / 2 } : {};
  return { history, anomalies: checkHistory(history, options), doneCount };
}

const found: readonly (readonly [Fault, AnomalyKind])[] = [
  [{ kind: 'drop-event', every: 30 }, 'missing-event'],
  [{ kind: 'repeat-event', every: 30 }, 'duplicate-event'],
  [{ kind: 'swap-events', every: 30 }, 'reordered-event'],
  [{ kind: 'delay-event', every: 30, delayMs: 300 }, 'late-event'],
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
  { kind: 'cut-watch', every: 30 },
];

describe('the checker finds', () => {
  test.each(found)('%j', async (fault, kind) => {
    const { history, anomalies, doneCount } = await runWith(fault);
    const kinds = [...new Set(anomalies.map((anomaly) => anomaly.kind))];
    expect(doneCount).toBeGreaterThan(0);
    expect({ seed: history.seed, kinds }).toEqual({
      seed: history.seed,
      kinds: expect.arrayContaining([kind]),
    });
  });

  test('frozen watches', async () => {
    const { anomalies, doneCount } = await runWith({ kind: 'freeze-watch', every: 20 });
    expect(doneCount).toBeGreaterThan(0);
    expect(anomalies.map(({ kind }) => kind)).toContain('stalled-watch');
  });
});

describe('the checker accepts', () => {
  test.each(harmless)('%j', async (fault) => {
    const { history, anomalies, doneCount } = await runWith(fault);
    expect(doneCount).toBeGreaterThan(0);
    expect({ seed: history.seed, anomalies }).toEqual({ seed: history.seed, anomalies: [] });
  });

  test('an honest proxy whose connections are all cut again and again', async () => {
    const timer = setInterval(() => {
      proxy.cutAll();
    }, 100);
    const { history, anomalies } = await runWith(undefined);
    clearInterval(timer);
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
