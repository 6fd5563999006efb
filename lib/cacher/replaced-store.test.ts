// A replica whose etcd is replaced by a restored backup, which has gone on without it: nothing of
// the old history is served as if it were of the new one.
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../base/clock.ts';
import type { Revision, Storage } from '../storage-etcd/storage.ts';
import { eventually } from '../storage-etcd/testing/events.ts';
import type { Cache } from './cache.ts';
import type { ListResult, ReadAt, ResourceView } from './resource-view.ts';
import { intercept, listPaths, take, widgets } from './testing/cache-fixture.ts';
import type { CacheFixture } from './testing/cache-fixture.ts';
import { growTo, latest, listAt, RestorableStore, sizeOf } from './testing/restorable-store.ts';

let store: RestorableStore;
let fixture: CacheFixture;
const { signal } = new AbortController();
const key = { namespace: 'n', name: 'a' };

beforeEach(async () => {
  store = await RestorableStore.start();
  ({ fixture } = store);
});
afterEach(() => store.close());

const untilLoaded = (cache: Cache, loadCount: number): Promise<void> =>
  eventually(() => {
    expect(cache.health()).toMatchObject({ state: 'following', loadCount });
  });

test('nothing from before is served; lost revisions are 410', async () => {
  await fixture.put('n/kept');
  const cache = await fixture.started();
  const view = cache.view(widgets);
  await store.save();
  for (let i = 0; i < 20; i++) await fixture.put('n/lost', { size: i });
  expect(await listPaths(view)).toEqual(['n/kept', 'n/lost']);
  const { revision } = cache.health();
  const start = { from: 'revision', revision } as const;
  const cursor = await view.watch({}, start, { bookmarks: false }, signal);
  const pending = cursor.next(signal);
  pending.catch(() => undefined);
  await store.restore(() => Promise.resolve());
  await expect(pending).rejects.toMatchObject({ code: 410 });
  await untilLoaded(cache, 2);
  expect(await listPaths(view)).toEqual(['n/kept']);
  expect(cache.health().revision).toBeLessThan(revision);
  const opening = view.watch({}, start, { bookmarks: false }, signal);
  await expect(opening).rejects.toMatchObject({ code: 410 });
  for (const mode of ['notOlderThan', 'exact'] as const) {
    await expect(listAt(view, { mode, revision })).rejects.toMatchObject({ code: 410 });
  }
});

describe('from before deletions, and grown past them', () => {
  beforeEach(async () => {
    await fixture.putMany(40);
    await fixture.put('n/a', { size: 1 });
    await store.save();
  });

  /** A storage whose second page waits until `restore` has put the backup back and let it grow. */
  function restoredBetweenPages(): {
    readonly storage: Storage;
    readonly restore: (revision: number) => Promise<void>;
  } {
    const gate = Promise.withResolvers<undefined>();
    let pageCount = 0;
    const storage = intercept(fixture.storage, {
      list: async (range, abort) => {
        if (pageCount++ === 1) await gate.promise;
        return fixture.storage.list(range, abort);
      },
    });
    const restore = async (revision: number): Promise<void> => {
      await eventually(() => {
        expect(pageCount).toBe(2);
      });
      await store.restore((other) => growTo(other, revision));
      gate.resolve(undefined);
    };
    return { storage, restore };
  }

  /** The deletions that are lost. The last put stays where it is in both histories. */
  const loseSome = async (): Promise<Revision> => {
    await fixture.delete('n/w0');
    return fixture.delete('n/w1');
  };
  const expectAll = async (view: ResourceView): Promise<void> => {
    const names = (await listAt(view, latest)).items.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['w0', 'w1', 'a']));
  };

  test('watches end with 410, and what was deleted is there again', async () => {
    const cache = await fixture.started();
    const view = cache.view(widgets);
    const lost = await loseSome();
    await listAt(view, { mode: 'notOlderThan', revision: lost });
    const start = { from: 'revision', revision: lost } as const;
    const cursor = await view.watch({}, start, { bookmarks: false }, signal);
    const pending = cursor.next(signal);
    pending.catch(() => undefined);
    await store.restore((other) => growTo(other, lost + 5));
    await expect(pending).rejects.toMatchObject({ code: 410 });
    await expectAll(view);
    const b = await fixture.put('n/b');
    expect((await listAt(view, { mode: 'notOlderThan', revision: b })).items).toHaveLength(42);
  });

  test('the answer to a linearizable read of before proves nothing', async () => {
    const gate = Promise.withResolvers<undefined>();
    const sent = Promise.withResolvers<undefined>();
    const storage = intercept(fixture.storage, {
      currentRevision: async (abort) => {
        const revision = await fixture.storage.currentRevision(abort);
        sent.resolve(undefined);
        await gate.promise;
        return revision;
      },
    });
    const view = (await fixture.started({ storage })).view(widgets);
    const lost = await loseSome();
    await listAt(view, { mode: 'notOlderThan', revision: lost });
    const reading = expectAll(view);
    await sent.promise;
    await store.cluster.kill(0);
    await store.restore((other) => growTo(other, lost));
    gate.resolve(undefined);
    await reading;
  });

  test.each([0, 3])(
    'the first consistent read sees it, %i revisions after the last one known',
    async (distance) => {
      const view = (await fixture.started()).view(widgets);
      const lost = await loseSome();
      await listAt(view, { mode: 'notOlderThan', revision: lost });
      await store.cluster.kill(0);
      const reading = expectAll(view);
      await store.restore((other) => growTo(other, lost + distance));
      await reading;
    },
  );

  test('while memory is filled, page by page', async () => {
    const { storage, restore } = restoredBetweenPages();
    const lost = await loseSome();
    const cache = fixture.cache({ storage });
    const starting = cache.start(signal);
    await restore(lost + 5);
    await starting;
    expect(cache.view(widgets).peek({ namespace: 'n', name: 'w0' })).toBeDefined();
    await expectAll(cache.view(widgets));
  });

  test('between filling memory and following the store', async () => {
    const gate = Promise.withResolvers<undefined>();
    const storage = intercept(fixture.storage, {
      async *watch(...args) {
        await gate.promise;
        yield* fixture.storage.watch(...args);
      },
    });
    const lost = await loseSome();
    const cache = fixture.cache({ storage });
    await cache.start(signal);
    await store.restore((other) => growTo(other, lost + 5));
    gate.resolve(undefined);
    await untilLoaded(cache, 2);
    await expectAll(cache.view(widgets));
  });

  test('twice, the second time while memory is filled again', async () => {
    const gate = Promise.withResolvers<undefined>();
    let isHeld = false;
    const storage = intercept(fixture.storage, {
      list: async (range, abort) => {
        const page = await fixture.storage.list(range, abort);
        if (isHeld) await gate.promise;
        return page;
      },
    });
    const cache = await fixture.started({ storage });
    const lost = await loseSome();
    const view = cache.view(widgets);
    await listAt(view, { mode: 'notOlderThan', revision: lost });
    isHeld = true;
    await store.restore(async (other) => {
      await other.delete('n/a');
      await growTo(other, lost + 5);
    });
    await eventually(() => {
      expect(cache.health().state).toBe('loading');
    });
    await store.restore((other) => growTo(other, lost + 10));
    isHeld = false;
    gate.resolve(undefined);
    await eventually(() => {
      expect(cache.health().state).toBe('following');
    });
    expect(view.peek(key)).toBeDefined();
    await expectAll(view);
  });

  test('an equal revision of an object is another version', async () => {
    const view = (await fixture.started()).view(widgets);
    const lost = await fixture.put('n/a', { size: 2 });
    await listAt(view, { mode: 'notOlderThan', revision: lost });
    await store.cluster.kill(0);
    const reads = Promise.all([listAt(view, latest), view.get(key, latest, signal)]);
    await store.restore(async (other) => {
      expect(await other.put('n/a', { size: 3 })).toBe(lost);
      await growTo(other, lost + 3);
    });
    const [listed, got] = await reads;
    expect(sizeOf(listed.items.find(({ name }) => name === 'a'))).toBe(3);
    expect(sizeOf(got)).toBe(3);
    const { item } = await fixture.storage.get(`${fixture.prefix}widgets/n/a`, signal);
    expect(sizeOf(item && view.itemOf(item))).toBe(3);
  });

  test('a watch that is opened meanwhile is of one history', async () => {
    const view = (await fixture.started()).view(widgets);
    await fixture.put('n/a', { size: 2 });
    const lost = await fixture.put('n/a', { size: 3 });
    await listAt(view, { mode: 'notOlderThan', revision: lost });
    await store.cluster.kill(0);
    const start = { from: 'state', at: latest, bookmark: true } as const;
    const opening = view.watch({ name: 'a' }, start, { bookmarks: false }, signal);
    await store.restore(async (other) => {
      await other.delete('n/a');
      expect(await other.put('n/b')).toBe(lost);
    });
    const cursor = await opening;
    expect(await take(cursor, 1)).toEqual([`END ${String(lost)}`]);
    const next = await fixture.put('n/a');
    expect(await take(cursor, 1)).toEqual([`ADDED n/a@${String(next)}`]);
  });

  test('a list from etcd over two connections is of one history', async () => {
    const { storage, restore } = restoredBetweenPages();
    const lost = await loseSome();
    // Its cache is not started: nothing is in memory.
    const reading = expectAll(fixture.cache({ storage }).view(widgets));
    await restore(lost + 5);
    await reading;
  });

  test.each([
    ['lower', 0],
    ['higher', 5],
  ])('an exact read that was on its way is 410, the store being %s', async (_where, growth) => {
    const cache = await fixture.started({ listFromSnapshot: false });
    const view = cache.view(widgets);
    const lost = await loseSome();
    const { revision, history } = await listAt(view, { mode: 'notOlderThan', revision: lost }, 1);
    await store.cluster.kill(0);
    const reads = [{}, { history }].map((of) =>
      listAt(view, { mode: 'exact', revision, ...of }).catch((error: unknown) => error),
    );
    await store.restore((other) => growTo(other, growth === 0 ? 0 : lost + growth));
    for (const read of reads) expect(await read).toMatchObject({ code: 410 });
  });

  test('exact reads and continued lists of the old history alone are 410', async () => {
    const cache = await fixture.started();
    const view = cache.view(widgets);
    const lost = await loseSome();
    const before = await listAt(view, { mode: 'notOlderThan', revision: lost }, 1);
    const continued = ({ revision, history }: ListResult): ReadAt => {
      return { mode: 'exact', revision, history };
    };
    expect((await listAt(view, continued(before), 1)).revision).toBe(lost);
    await store.restore((other) => other.delete('n/w2'));
    await untilLoaded(cache, 2);
    const after = await listAt(view, latest, 1);
    expect(after.revision).toBeLessThan(lost);
    // The store comes to the old revisions once more.
    await growTo(fixture, lost + 2);
    await listAt(view, latest);
    expect((await listAt(view, continued(after), 1)).revision).toBe(after.revision);
    await expect(listAt(view, continued(before), 1)).rejects.toMatchObject({ code: 410 });
    const exact: ReadAt = { mode: 'exact', revision: lost };
    await expect(listAt(view, exact)).rejects.toMatchObject({ code: 410 });
    const beyond: ReadAt = { mode: 'exact', revision: lost + 1 };
    expect((await listAt(view, beyond)).revision).toBe(lost + 1);
  });
});

test('an etcd that comes back as it was: nothing is listed again, watches go on', async () => {
  await fixture.put('n/a');
  const cache = await fixture.started();
  const view = cache.view(widgets);
  const b = await fixture.put('n/b');
  await listAt(view, { mode: 'notOlderThan', revision: b });
  const start = { from: 'revision', revision: b } as const;
  const cursor = await view.watch({}, start, { bookmarks: false }, signal);
  await store.cluster.restart(0);
  const c = await fixture.put('n/c');
  expect(await take(cursor, 1, 10_000)).toEqual([`ADDED n/c@${String(c)}`]);
  expect(cache.health().loadCount).toBe(1);
  expect(await listPaths(view)).toEqual(['n/a', 'n/b', 'n/c']);
});

test('reads wait until a quiet store has shown its history, and come from memory', async () => {
  const by: string[] = [];
  const view = (
    await fixture.started({
      // No wait comes to its end, and nothing happens because of time.
      clock: { ...systemClock, after: () => () => undefined },
      health: () => ({ ...fixture.storage.health, canRequestProgress: true }),
      observer: { onRead: (_resource, _read, _at, answerer) => by.push(answerer) },
    })
  ).view(widgets);
  const a = await fixture.put('n/a');
  await listAt(view, { mode: 'notOlderThan', revision: a });
  await store.cluster.restart(0);
  const reads = Array.from({ length: 20 }, () => view.get(key, latest, signal));
  for (const item of await Promise.all(reads)) expect(item?.revision).toBe(a);
  expect(new Set(by)).toEqual(new Set(['memory']));
});
