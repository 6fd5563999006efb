// Every query of the dashboards returns data on a real Prometheus that scrapes two replicas and
// etcd under a mixed load, and every rule can be evaluated there.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { metricNames } from '../scripts/observability/metric-names.ts';
import { alertGroups } from '../scripts/observability/rule-files.ts';
import { findPrometheus } from '../scripts/prometheus.mjs';
import { TestCluster } from './harness.ts';
import { metricsOf, wrongPanels, wrongRules } from './observability/dashboard-queries.ts';
import { mixedLoad, userRow } from './observability/mixed-load.ts';
import { startPrometheus } from './observability/prometheus-process.ts';
import type { RunningPrometheus } from './observability/prometheus-process.ts';

const found = await findPrometheus().catch((error: unknown) => {
  process.stderr.write(`the dashboards are not asked: ${String(error)}\n`);
  return undefined;
});

(found === undefined ? describe.skip : describe)('under a mixed load', () => {
  let cluster: TestCluster;
  let prometheus: RunningPrometheus;
  const ending = new AbortController();
  let load: Promise<void> = Promise.resolve();

  beforeAll(async () => {
    process.env['ETCD_UNSAFE_NO_FSYNC'] = 'false'; // a panel shows how long it takes
    cluster = await TestCluster.start({ replicaCount: 2, tokens: [userRow] });
    load = mixedLoad(cluster.replicas, ending.signal);
    load.catch(() => undefined); // awaited at the end
    prometheus = await startPrometheus(found?.path ?? '', cluster);
  });
  afterAll(async () => {
    delete process.env['ETCD_UNSAFE_NO_FSYNC'];
    ending.abort();
    await load;
    await prometheus.stop();
    await cluster.stop();
  });

  test('every panel shows something, or says why nothing is good', async () => {
    const options = { deadlineMs: 120_000, rateInterval: '1m' };
    const loadEnded = load.then(() => ['the load has ended']);
    expect(await Promise.race([wrongPanels(prometheus.url, options), loadEnded])).toEqual([]);
  });

  test('every rule can be evaluated', async () => {
    expect(await wrongRules(prometheus.url)).toEqual([]);
  });

  test('etcd has what alerts ask of it', async () => {
    const served = await metricsOf(prometheus.url);
    const asked = alertGroups
      .flatMap(({ rows }) => rows.flatMap(({ expr }) => metricNames(expr)))
      .filter((name) => /^etcd_(server|disk|mvcc)_/.test(name));
    expect(asked.length).toBeGreaterThan(4);
    expect(asked.filter((name) => !served.has(name))).toEqual([]);
  });
});
