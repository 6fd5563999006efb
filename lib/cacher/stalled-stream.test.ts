// The store is replaced while the watch stream of a replica is stalled: the next answer of any call
// shows it, and from then on memory is not served.
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { eventually } from '../storage-etcd/testing/events.ts';
import type { Cache, CacheOptions } from './cache.ts';
import type { ReadAt, ResourceView, WatchEvent } from './resource-view.ts';
import { intercept, take, widgets } from './testing/cache-fixture.ts';
import type { CacheFixture } from './testing/cache-fixture.ts';
import { growTo, latest, RestorableStore, sizeOf } from './testing/restorable-store.ts';

let store: RestorableStore;
let fixture: CacheFixture;
/** Lets the stream go on. */
let release: () => void;
const { signal } = new AbortController();
const key = { namespace: 'n', name: 'a' };
const fromState = (at: ReadAt) => ({ from: 'state', at, bookmark: true }) as const;

beforeEach(async () => {
  store = await RestorableStore.start();
  ({ fixture } = store);
  await fixture.put('n/a', { size: 1 });
  await store.save();
});
afterEach(async () => {
  release();
  await store.close();
});

interface Stalled {
  readonly cache: Cache;
  readonly view: ResourceView;
  /** The change that the stream is held at. */
  readonly lost: number;
  /** What a watcher that waits for that change gets. */
  readonly events: Promise<readonly WatchEvent[] | undefined>;
}

/** The object has the size 2 in memory, and 3 in the store: the stream is held in between. */
async function stalled(options: Partial<CacheOptions> = {}): Promise<Stalled> {
  const gate = Promise.withResolvers<undefined>();
  const held = Promise.withResolvers<undefined>();
  let isHeld = false;
  release = () => {
    isHeld = false;
    gate.resolve(undefined);
  };
  const storage = intercept(options.storage ?? fixture.storage, {
    async *watch(...args) {
      for await (const batch of fixture.storage.watch(...args)) {
        if (isHeld) {
          held.resolve(undefined);
          await gate.promise;
        }
        yield batch;
      }
    },
  });
  const cache = await fixture.started({ ...options, storage });
  const view = cache.view(widgets);
  const known = await fixture.put('n/a', { size: 2 });
  await eventually(() => {
    expect(view.peek(key)?.revision).toBe(known);
  });
  const start = { from: 'revision', revision: known } as const;
  const cursor = await view.watch({}, start, { bookmarks: false }, signal);
  const events = cursor.next(signal);
  events.catch(() => undefined);
  isHeld = true;
  const lost = await fixture.put('n/a', { size: 3 });
  await held.promise;
  return { cache, view, events, lost };
}

test('memory is not served', async () => {
  const { cache, view } = await stalled();
  await store.restore(() => Promise.resolve());
  const revision = await fixture.storage.currentRevision(signal);
  expect(cache.health().state).toBe('following');
  expect(view.peek(key)).toBeUndefined();
  expect(sizeOf(await view.get(key, { mode: 'any' }, signal))).toBe(1);
  const start = { from: 'revision', revision } as const;
  const opening = view.watch({}, start, { bookmarks: false }, signal);
  // Who waits lets others run.
  await new Promise((resolve) => setImmediate(resolve));
  release();
  const cursor = await opening;
  const next = await fixture.put('n/a', { size: 4 });
  expect(await take(cursor, 1)).toEqual([`MODIFIED n/a@${String(next)}`]);
  expect(sizeOf(await view.get(key, latest, signal))).toBe(4);
});

test('changes that were on their way are not delivered', async () => {
  const { events } = await stalled();
  await store.restore(() => Promise.resolve());
  await fixture.storage.currentRevision(signal);
  release();
  await expect(events).rejects.toMatchObject({ code: 410 });
});

test('a watch that begins with what etcd has waits until memory is of the same store', async () => {
  let listCount = 0;
  const { view, lost } = await stalled({
    health: () => ({ ...fixture.storage.health, canRequestProgress: false }),
    storage: intercept(fixture.storage, {
      list: (...args) => {
        listCount++;
        return fixture.storage.list(...args);
      },
    }),
  });
  await store.restore((other) => growTo(other, lost));
  listCount = 0;
  const opening = view.watch({ name: 'a' }, fromState(latest), { bookmarks: false }, signal);
  await eventually(() => {
    expect(listCount).toBe(1);
  });
  await fixture.storage.currentRevision(signal);
  release();
  const cursor = await opening;
  const [first] = (await cursor.next(signal)) ?? [];
  expect(sizeOf(first?.item)).toBe(1);
  const next = await fixture.put('n/a');
  expect(await take(cursor, 1)).toEqual([`MODIFIED n/a@${String(next)}`]);
});
