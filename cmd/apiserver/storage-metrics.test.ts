import { expect, test } from '@jest/globals';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { compactionObserver, storageMetrics } from './observers.ts';

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

test('rounds of compaction are counted by what became of them, from 0 on', async () => {
  const metrics = testMetrics();
  const count = compactionObserver(metrics);
  const rounds = async (): Promise<readonly string[]> => {
    const { body } = await metrics.text();
    const line = /^apiserver_storage_compaction_rounds_total\{result="(\w+)"\} (\d+)$/gm;
    return [...body.matchAll(line)].map(([, result = '', times = '']) => `${result} ${times}`);
  };
  expect(await rounds()).toEqual(['compacted 0', 'started 0', 'learned 0', 'failed 0']);
  for (const result of ['started', 'compacted', 'compacted', 'failed'] as const) count(result);
  expect(await rounds()).toEqual(['compacted 2', 'started 1', 'learned 0', 'failed 1']);
});
