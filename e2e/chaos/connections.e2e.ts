// Connections break between clients and replicas: in the middle of streams, before answers, all at
// once. And lies planted on the way are found in traffic of real replicas too.

import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startFaultProxy, type Fault, type FaultProxy } from '../fault-proxy.ts';
import type { TestCluster } from '../harness.ts';
import type { AnomalyKind } from '../history/history.ts';
import { judge, SharedClusters, type Scenario } from './truth.ts';

const shared = new SharedClusters();
afterAll(() => shared.stop());

let proxies: FaultProxy[] = [];
afterEach(() => {
  proxies = [];
});

/** Clients reach each replica through a proxy of its own. */
async function throughProxies({ replicas }: TestCluster): Promise<readonly string[]> {
  proxies = await Promise.all(
    replicas.map(({ url, caFile }) =>
      startFaultProxy({ target: url, ca: readFileSync(caFile, 'utf8') }),
    ),
  );
  return proxies.map(({ url }) => url);
}

async function closeProxies(): Promise<void> {
  await Promise.all(proxies.map((proxy) => proxy.close()));
}

function scenario(name: string, harm: Scenario['harm']): Scenario {
  return { name, shared, serversOf: throughProxies, cleanUp: closeProxies, harm };
}

function plant(fault: Fault | undefined): void {
  for (const proxy of proxies) proxy.plant(fault);
}

describe('no anomaly', () => {
  test('all connections cut again and again', async () => {
    const { seed, anomalies } = await judge(
      scenario('connections cut', async () => {
        for (let count = 0; count < 25; count += 1) {
          await sleep(100);
          for (const proxy of proxies) proxy.cutAll();
        }
      }),
    );
    expect({ seed, anomalies }).toEqual({ seed, anomalies: [] });
  });

  test.each<Fault>([
    { kind: 'cut-watch', every: 20 },
    { kind: 'cut-answer', every: 10 },
  ])('%j', async (fault) => {
    const { seed, anomalies } = await judge(
      scenario(fault.kind, async ({ flow }) => {
        plant(fault);
        await flow();
        expect(proxies.some(({ doneCount }) => doneCount > 0)).toBe(true);
        plant(undefined);
      }),
    );
    expect({ seed, anomalies }).toEqual({ seed, anomalies: [] });
  });
});

describe('a planted lie is found', () => {
  test.each<[Fault, AnomalyKind]>([
    [{ kind: 'drop-event', every: 20 }, 'missing-event'],
    [{ kind: 'repeat-event', every: 20 }, 'duplicate-event'],
    [{ kind: 'swap-events', every: 20 }, 'reordered-event'],
    [{ kind: 'stale-read', every: 2 }, 'stale-read'],
    [{ kind: 'short-list', every: 5 }, 'torn-list'],
  ])('%j', async (fault, kind) => {
    const { seed, anomalies } = await judge(
      scenario(fault.kind, async ({ flow }) => {
        plant(fault);
        await flow();
        plant(undefined);
      }),
    );
    const kinds = [...new Set(anomalies.map((anomaly) => anomaly.kind))];
    expect({ seed, kinds }).toEqual({ seed, kinds: expect.arrayContaining([kind]) });
  });
});
