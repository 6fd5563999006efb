import { expect, test } from '@jest/globals';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { cacheObserver } from './observers.ts';

test('reads and stored objects that cannot be read are counted by resource', async () => {
  const metrics = testMetrics();
  const observer = cacheObserver(metrics);
  observer.onCorrupted?.('/pods', '/registry/pods/a/b', 'cut');
  observer.onCorrupted?.('apps/deployments', '/registry/deployments/a/b', 'cut');
  observer.onCorrupted?.('/pods', '/registry/pods/a/c', 'cut');
  observer.onRead?.('/pods', 'list', 'latest', 'memory');
  observer.onRead?.('/pods', 'list', 'any', 'memory');
  observer.onRead?.('/pods', 'list', 'exact', 'snapshot');
  observer.onRead?.('/pods', 'list', 'latest', 'storage');
  observer.onRead?.('/pods', 'list', 'exact', 'storage');
  observer.onRead?.('/pods', 'get', 'latest', 'memory');
  observer.onRead?.('/pods', 'watch', 'any', 'memory');
  const { body } = await metrics.text();
  const errors = 'apiserver_storage_decode_errors_total';
  expect(body).toContain(`${errors}{group="",resource="pods"} 2`);
  expect(body).toContain(`${errors}{group="apps",resource="deployments"} 1`);
  const consistent = 'apiserver_watch_cache_consistent_read_total';
  expect(body.split('\n')).toEqual(
    expect.arrayContaining([
      'apiserver_cache_list_total{group="",index="memory",resource="pods"} 2',
      'apiserver_cache_list_total{group="",index="snapshot",resource="pods"} 1',
      'apiserver_storage_list_total{group="",resource="pods"} 2',
      `${consistent}{fallback="false",group="",resource="pods",success="true"} 2`,
      `${consistent}{fallback="true",group="",resource="pods",success="false"} 1`,
    ]),
  );
});
