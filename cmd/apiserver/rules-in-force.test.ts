import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BeginAnew } from '../../lib/base/begin-anew.ts';
import { RegistryOnEtcd, keyspace } from '../../lib/registry/testing/registry-on-etcd.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import type { Base } from './base.ts';
import { openRules } from './rules-in-force.ts';

let registry: RegistryOnEtcd;
beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
});
afterAll(() => registry.stop());

test('x.own: requests that are judged anew are counted', async () => {
  const { scheme, naming, cache, stores: resources } = await registry.replica({});
  const metrics = testMetrics();
  const base = { scheme, naming, metrics } as Base; // the rest is for others
  const rules = openRules(base, { keyspace, cache, resources });
  expect(rules?.changed()).toBeInstanceOf(BeginAnew);
  const { body } = await metrics.text();
  expect(body).toContain('apiserver_admission_configuration_retries_total 1\n');
});
