import { expect, test } from '@jest/globals';
import { createMetrics } from '../../lib/telemetry/metrics.ts';
import { cacheObserver } from './observers.ts';

test('reads and stored objects that cannot be read are counted by resource', async () => {
  const metrics = createMetrics({ release: '1.36', showHiddenFor: undefined });
  const observer = cacheObserver(metrics);
  observer.onCorrupted?.('/pods', '/registry/pods/a/b', 'cut');
  observer.onCorrupted?.('apps/deployments', '/registry/deployments/a/b', 'cut');
  observer.onCorrupted?.('/pods', '/registry/pods/a/c', 'cut');
  observer.onRead?.('/pods', 'memory');
  const { body } = await metrics.text();
  const errors = 'apiserver_storage_decode_errors_total';
  expect(body).toContain(`${errors}{group="",resource="pods"} 2`);
  expect(body).toContain(`${errors}{group="apps",resource="deployments"} 1`);
  expect(body).toContain('apiserver_cache_list_total{group="",index="memory",resource="pods"} 1');
});
