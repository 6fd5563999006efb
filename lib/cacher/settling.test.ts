// The objects of a resource whose record was replaced are made anew in slices: what is asked for,
// and what happens, in the middle of that.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { limits } from '../base/limits.ts';
import { expired } from '../base/status.ts';
import { nextTurn } from '../base/turn.ts';
import { encodeStored } from '../codec/stored-form.ts';
import { EtcdCluster } from '../storage-etcd/testing/etcd-process.ts';
import type { Cache, CachedResource } from './cache.ts';
import type { Item, ReadAt, ResourceView } from './resource-view.ts';
import { Settling } from './settling.ts';
import { eventually } from '../storage-etcd/testing/events.ts';
import { CacheFixture, intercept, take, widget, widgets } from './testing/cache-fixture.ts';
import { narrow, reading, removable, removableNarrow } from './testing/records.ts';

const count = 40;
let cluster: EtcdCluster;
let fixture: CacheFixture;
let cache: Cache;
let view: ResourceView;
const { signal } = new AbortController();
const all = { limitCount: 0 };
const any: ReadAt = { mode: 'any' };
const key = (name: string): { namespace: string; name: string } => ({ namespace: 'n', name });

beforeAll(async () => {
  cluster = await EtcdCluster.start();
});
afterAll(() => cluster.stop());
beforeEach(async () => {
  fixture = new CacheFixture(cluster);
  cache = await fixture.started({ resources: [removable] });
  view = cache.view(widgets);
  await Promise.all(
    Array.from({ length: count }, (_, index) => fixture.put(`n/w${String(index)}`, { size: 7 })),
  );
  await view.list({}, { mode: 'latest' }, all, signal);
});
afterEach(() => fixture.close());

/** Longer than a slice: each object that is made ends one. */
function keepBusy(): void {
  const fromMs = performance.now();
  while (performance.now() - fromMs <= limits.workSliceMs);
}

/** Records whose objects take a turn each to be made; `made` counts them. */
class Slow {
  made = 0;
  readonly as: CachedResource = {
    ...removableNarrow,
    transcoder: reading(() => {
      this.made++;
      keepBusy();
    }),
  };
}

const sizesIn = (items: readonly Item[]): number =>
  items.filter((item) => Buffer.from(item.json()).includes('"size"')).length;

test('each turn makes few objects, and a list waits for all of them', async () => {
  const slow = new Slow();
  cache.replace(slow.as);
  const list = view.list({}, any, all, signal);
  let turns = 0;
  for (let before = 0; slow.made < count; turns++) {
    expect(slow.made - before).toBeLessThanOrEqual(2);
    before = slow.made;
    await nextTurn();
  }
  expect(turns).toBeGreaterThan(count / 4);
  const { items } = await list;
  expect([items.length, sizesIn(items)]).toEqual([count, 0]);
  expect(slow.made).toBe(count);
});

test('one object is made when it is asked for, and not again', async () => {
  const slow = new Slow();
  cache.replace(slow.as);
  const last = `w${String(count - 1)}`;
  const peeked = view.peek(key(last));
  const named = await view.list(key('w8'), any, all, signal);
  expect(sizesIn([...named.items, ...(peeked === undefined ? [] : [peeked])])).toBe(0);
  expect(await view.get(key(last), any, signal)).toBe(peeked);
  expect(slow.made).toBeLessThan(count / 2);
  const { items } = await view.list({}, any, all, signal);
  expect(items).toContain(peeked);
  expect(slow.made).toBe(count);
});

test('a watch that begins with the state waits, one from a version does not', async () => {
  const slow = new Slow();
  const { revision } = cache.health();
  cache.replace(slow.as);
  const start = { from: 'revision', revision } as const;
  const follows = await view.watch({}, start, { bookmarks: false }, signal);
  expect(slow.made).toBeLessThan(count / 2);
  const added = await fixture.put('n/x', { size: 7 });
  expect(await take(follows, 1)).toEqual([`ADDED n/x@${String(added)}`]);
  const begins = { from: 'state', at: any, bookmark: false } as const;
  const cursor = await view.watch({}, begins, { bookmarks: false }, signal);
  expect(slow.made).toBeGreaterThanOrEqual(count);
  const events = (await cursor.next(signal)) ?? [];
  expect(events).toHaveLength(count + 1);
  expect(sizesIn(events.flatMap(({ item }) => item ?? []))).toBe(0);
});

test('changes in the middle are of the new record, and so is what they replace', async () => {
  const slow = new Slow();
  const { revision } = cache.health();
  cache.replace(slow.as);
  const start = { from: 'revision', revision } as const;
  const cursor = await view.watch({}, start, { bookmarks: false }, signal);
  const last = `n/w${String(count - 1)}`;
  await fixture.put(last, { size: 8 });
  await fixture.delete('n/w8');
  const events = [];
  while (events.length < 2) events.push(...((await cursor.next(signal)) ?? []));
  expect(events.map(({ type }) => type)).toEqual(['MODIFIED', 'DELETED']);
  for (const { item, change } of events) {
    const shown = [item, change?.previous].flatMap((one) => one ?? []);
    expect(shown).toHaveLength(2);
    expect(sizesIn(shown)).toBe(0);
  }
  const { items } = await view.list({}, { mode: 'latest' }, all, signal);
  expect([items.length, sizesIn(items)]).toEqual([count - 1, 0]);
});

test('however often the record changes, a list waits for two laps at most', async () => {
  const slow = new Slow();
  let isOver = false;
  const changing = (async () => {
    for (let turn = 0; !isOver; turn++) {
      const { as } = turn % 2 === 0 ? slow : { as: removable };
      if (turn % 4 < 2) cache.replace(as);
      await nextTurn();
    }
  })();
  const { items } = await view.list({}, any, all, signal);
  isOver = true;
  await changing;
  expect(items).toHaveLength(count);
  cache.replace(removableNarrow);
  expect(sizesIn((await view.list({}, any, all, signal)).items)).toBe(0);
});

test('back to the record before, what was not made anew is still as it was', async () => {
  const slow = new Slow();
  const last = key(`w${String(count - 1)}`);
  const item = view.peek(last);
  cache.replace(slow.as);
  cache.replace(removable);
  expect((await view.list({}, any, all, signal)).items).toContain(item);
  expect(slow.made).toBeLessThan(count / 2);
  expect(sizesIn((await view.list({}, any, all, signal)).items)).toBe(count);
});

describe('in the middle', () => {
  test('a removal ends the work, and who waited reads the store', async () => {
    const slow = new Slow();
    cache.replace(slow.as);
    const list = view.list({}, any, all, signal);
    cache.remove(narrow);
    const { made } = slow;
    cache.add(removable);
    await nextTurn();
    expect(slow.made).toBeLessThanOrEqual(made + 1);
    expect((await list).items).toHaveLength(count);
    const { items } = await cache.view(widgets).list({}, any, all, signal);
    expect(sizesIn(items)).toBe(count);
  });

  test('memory that is filled again is of the new record', async () => {
    let isLost = false;
    const below = fixture.storage;
    const storage = intercept(below, {
      async *watch(...of) {
        for await (const batch of below.watch(...of)) {
          if (isLost) throw expired('the position was compacted');
          yield batch;
        }
      },
    });
    cache = await fixture.started({ storage, resources: [removable] });
    view = cache.view(widgets);
    const slow = new Slow();
    cache.replace(slow.as);
    const list = view.list({}, any, all, signal);
    isLost = true;
    await fixture.put('n/x', { size: 7 });
    await eventually(() => expect(cache.health().state).toBe('loading'));
    isLost = false;
    expect(sizesIn((await list).items)).toBe(0);
    await eventually(() => expect(cache.health().loadCount).toBe(2));
    const { made } = slow;
    const { items } = await view.list({}, { mode: 'latest' }, all, signal);
    expect([items.length, sizesIn(items), slow.made]).toEqual([count + 1, 0, made]);
  });
});

test('objects that came before their resource are made in slices, too', async () => {
  for (let index = 0; index < count; index++) {
    const name = `g${String(index)}`;
    const { value } = encodeStored(widget(name, { size: 7 }), widgets);
    await fixture.putRaw(`example.com/gadgets/${name}`, value);
  }
  await view.list({}, { mode: 'latest' }, all, signal);
  const slow = new Slow();
  const resource = { ...narrow, namespaced: false, storagePrefix: 'example.com/gadgets' };
  const added = cache.add({ ...slow.as, resource });
  expect(slow.made).toBeLessThanOrEqual(2);
  expect(added.peek({ namespace: '', name: 'g7' })?.corrupted).toBe(false);
  expect(slow.made).toBeLessThanOrEqual(3);
  const { items } = await added.list({}, any, all, signal);
  expect([items.length, sizesIn(items), slow.made]).toEqual([count, 0, count]);
});

test('laps: what starts during one is done at the end of the next', async () => {
  const visited: string[] = [];
  const settling = new Settling(function* () {
    for (const one of ['a', 'b', 'c']) {
      visited.push(one);
      keepBusy();
      yield;
    }
  });
  expect(settling.done).toBeUndefined();
  settling.start();
  const first = settling.done;
  settling.start();
  const second = settling.done;
  settling.start();
  expect(settling.done).toBe(second);
  await first;
  expect(visited.slice(0, 3)).toEqual(['a', 'b', 'c']);
  expect(settling.done).toBe(second);
  await second;
  expect([visited.length, settling.done]).toEqual([6, undefined]);
  settling.start();
  const stopped = settling.done;
  settling.stop();
  await stopped;
  await nextTurn();
  await nextTurn();
  expect(visited.length).toBeLessThanOrEqual(8);
});
