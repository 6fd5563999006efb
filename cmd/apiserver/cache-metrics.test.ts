// What reads and watches of a cache over a real etcd leave in its metrics.
import { expect, test } from '@jest/globals';
import { CacheFixture, widgets } from '../../lib/cacher/testing/cache-fixture.ts';
import { EtcdCluster } from '../../lib/storage-etcd/testing/etcd-process.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { cacheObserver, collectCache } from './observers.ts';

test('objects read, states of watches, events and waits are counted by resource', async () => {
  const cluster = await EtcdCluster.start();
  const fixture = new CacheFixture(cluster);
  try {
    const metrics = testMetrics();
    const cache = await fixture.started({ observer: cacheObserver(metrics) });
    collectCache(metrics, cache, 1);
    const view = cache.view(widgets);
    await fixture.putMany(3);
    const latest = { mode: 'latest' } as const;
    await view.list({}, latest, { limitCount: 2 }, fixture.signal);
    const of = { namespace: 'n', name: 'w1' };
    await view.list(of, latest, { limitCount: 0 }, fixture.signal);
    const start = { from: 'state', at: latest, bookmark: false } as const;
    (await view.watch({}, start, { bookmarks: false }, fixture.signal)).close();
    // A watch that the log has passed takes as many changes as the log holds.
    for (const { counts } of cache.resourceUse()) counts.passedWatches = 1;
    const { body } = await metrics.text();
    const labels = 'group="example.com"';
    const name = 'resource="widgets"';
    expect(body.split('\n')).toEqual(
      expect.arrayContaining([
        `apiserver_watch_cache_events_received_total{${labels},${name}} 3`,
        `apiserver_storage_events_received_total{${labels},${name}} 3`,
        `apiserver_watch_cache_events_dispatched_total{${labels},${name}} 3`,
        `apiserver_watch_cache_initializations_total{${labels},${name}} 1`,
        `apiserver_terminated_watchers_total{${labels},${name}} 1`,
        `apiserver_cache_list_total{${labels},index="memory",${name}} 2`,
        `apiserver_cache_list_fetched_objects_total{${labels},index="memory",${name}} 4`,
        `apiserver_cache_list_returned_objects_total{${labels},${name}} 3`,
        `apiserver_init_events_total{${labels},${name}} 3`,
        `apiserver_watch_cache_read_wait_seconds_count{${labels},${name}} 2`,
      ]),
    );
    const unreadable = async (): Promise<string | undefined> =>
      /^apiserver_storage_unreadable_objects .*$/m.exec((await metrics.text()).body)?.[0];
    expect(await unreadable()).toBe('apiserver_storage_unreadable_objects 0');
    await fixture.putRaw('widgets/n/w0', Buffer.from('not an object'));
    await view.list({}, latest, { limitCount: 1 }, fixture.signal).catch(() => undefined);
    expect(await unreadable()).toBe('apiserver_storage_unreadable_objects 1');
  } finally {
    await fixture.close();
    await cluster.stop();
  }
});
