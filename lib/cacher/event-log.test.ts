import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { EtcdCluster } from '../storage-etcd/testing/etcd-process.ts';
import { eventually } from '../storage-etcd/testing/events.ts';
import type { Cache, CacheOptions } from './cache.ts';
import type { Selection, WatchCursor } from './resource-view.ts';
import { CacheFixture, describeEvent, take, widgets } from './testing/cache-fixture.ts';

let cluster: EtcdCluster;
let fixture: CacheFixture;
const { signal } = new AbortController();

beforeAll(async () => {
  cluster = await EtcdCluster.start();
});
afterAll(() => cluster.stop());
beforeEach(() => {
  fixture = new CacheFixture(cluster);
});
afterEach(() => fixture.close());

const watch = async (cache: Cache, select: Selection = {}): Promise<WatchCursor> => {
  const { revision } = cache.health();
  const start = { from: 'revision', revision } as const;
  return cache.view(widgets).watch(select, start, { bookmarks: false }, signal);
};
/** Changes are kept for nobody, as those of Events. */
const withoutHistory: Partial<CacheOptions> = {
  resources: [{ resource: widgets, historyCountMin: 0 }],
};
const red: Selection = { labels: (labels) => labels['color'] === 'red' };

test('age and compaction pass over what watchers are about to be woken for', async () => {
  let compacted = 0;
  const cache = await fixture.started({
    ...withoutHistory,
    times: { logAgeMaxMs: 0, tickMs: 1 },
    compactedRevision: () => compacted,
  });
  const cursor = await watch(cache);
  compacted = Number.MAX_SAFE_INTEGER;
  const all = take(cursor, 300);
  await fixture.putMany(300);
  expect(new Set(await all).size).toBe(300);
});

describe('current state that leaves the log no memory', () => {
  const budgetBytes = 16_000;
  let cache: Cache;
  beforeEach(async () => {
    await fixture.putMany(100);
    cache = await fixture.started({ ...withoutHistory, budgetBytes });
    expect(cache.health().memory.stateBytes).toBeGreaterThan(3 * budgetBytes);
  });

  test.each<[string, Selection]>([
    ['everything', {}],
    ['a namespace', { namespace: 'n' }],
    ['labels', red],
  ])('a watcher that waits gets each change: %s', async (_what, select) => {
    const cursor = await watch(cache, select);
    const written: string[] = [];
    const seen: string[] = [];
    for (let size = 0; size < 50; size++) {
      const pending = cursor.next(signal);
      const revision = await fixture.put('n/a', { size, labels: { color: 'red' } });
      written.push(`${size === 0 ? 'ADDED' : 'MODIFIED'} n/a@${String(revision)}`);
      seen.push(...((await pending) ?? []).map(describeEvent));
    }
    expect(seen).toEqual(written);
  });

  test('a watcher that waits gets all changes that come together', async () => {
    const cursors = [await watch(cache), await watch(cache, { namespace: 'n' })];
    const all = Promise.all(cursors.map((cursor) => take(cursor, 300)));
    await Promise.all(
      Array.from({ length: 300 }, (_, index) => fixture.put(`n/new-${String(index)}`)),
    );
    for (const seen of await all) expect(new Set(seen).size).toBe(300);
  });

  test('an idle watcher holds nothing: 410 once the log’s own share is full', async () => {
    const slow = await watch(cache);
    const quick = await watch(cache);
    for (let size = 0; size < 10; size++) {
      await fixture.put('n/a', { size });
      await take(quick, 1);
    }
    // The last change goes once all watchers of its round are woken.
    await eventually(() => {
      expect(cache.health().memory.logBytes).toBeLessThan(budgetBytes / 4);
    });
    await expect(slow.next(signal)).rejects.toMatchObject({ code: 410, reason: 'Expired' });
  });

  test('a watcher that misses a few changes reads on', async () => {
    const cursor = await watch(cache);
    await fixture.put('n/a');
    const last = await fixture.put('n/a');
    const at = { mode: 'notOlderThan', revision: last } as const;
    await cache.view(widgets).list({}, at, { limitCount: 1 }, signal);
    expect((await take(cursor, 2)).length).toBe(2);
  });
});
