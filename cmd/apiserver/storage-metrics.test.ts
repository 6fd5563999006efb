import { expect, test } from '@jest/globals';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { storageMetrics } from './observers.ts';

test('calls of etcd are counted by how they ended', async () => {
  const metrics = testMetrics();
  const observer = storageMetrics(metrics);
  observer.call('KV/Range', 0.01, true);
  observer.call('KV/Range', 0.01, false);
  const { body } = await metrics.text();
  const labels = 'group="",operation="KV/Range",resource=""';
  expect(body).toContain(`etcd_requests_total{${labels}} 2\n`);
  expect(body).toContain(`etcd_request_errors_total{${labels}} 1\n`);
  expect(body).toContain(`etcd_request_duration_seconds_count{${labels}} 2\n`);
});
