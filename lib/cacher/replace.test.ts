// A resource that goes on under another record: what stays, what is shown, what watches get.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ResourceInfo } from '../api/type-info.ts';
import { createLogger } from '../base/log.ts';
import { encodeStored } from '../codec/stored-form.ts';
import { EtcdCluster } from '../storage-etcd/testing/etcd-process.ts';
import { eventually } from '../storage-etcd/testing/events.ts';
import type { Cache } from './cache.ts';
import { follow } from './follow.ts';
import type { Item, ReadAt, ResourceView, Selection, WatchCursor } from './resource-view.ts';
import {
  CacheFixture,
  gadgets,
  listPaths,
  paths,
  shown,
  take,
  widget,
  widgets,
  widgetTranscoder,
} from './testing/cache-fixture.ts';
import { reading, removable, removableNarrow, removableSized } from './testing/records.ts';

let cluster: EtcdCluster;
let fixture: CacheFixture;
const { signal } = new AbortController();
const all = { limitCount: 0 };
const latest: ReadAt = { mode: 'latest' };
const key = { namespace: 'n', name: 'a' };

beforeAll(async () => {
  cluster = await EtcdCluster.start();
});
afterAll(() => cluster.stop());
beforeEach(() => {
  fixture = new CacheFixture(cluster);
});
afterEach(() => fixture.close());

const started = (corrupted?: string[]): Promise<Cache> =>
  fixture.started({
    resources: [removable, { resource: gadgets }],
    observer: { onCorrupted: (_resource, one) => void corrupted?.push(one) },
  });

const textOf = (item: Item | undefined): string =>
  item?.corrupted === true ? 'corrupted' : Buffer.from(item?.json() ?? []).toString();

const listed = async (
  view: ResourceView,
  at: ReadAt = latest,
  select: Selection = {},
): Promise<string[]> =>
  (await view.list({ showsUnreadable: true, ...select }, at, all, signal)).items.map(textOf);

const watchFrom = (view: ResourceView, revision: number, select = {}): Promise<WatchCursor> =>
  view.watch(select, { from: 'revision', revision }, { bookmarks: true }, signal);

const bySize = (size: number): Selection => ({
  fields: [{ path: 'spec.size', operator: '=', value: String(size) }],
});
const onNode = (value: string): Selection => ({
  fields: [{ path: 'spec.nodeName', operator: '=', value }],
});

describe('its watches', () => {
  test('are closed within the turn, where a bookmark may be given; others go on', async () => {
    const cache = await started();
    const view = cache.view(widgets);
    const from = cache.health().revision;
    const pending = await watchFrom(view, from);
    const idle = await watchFrom(view, from, { namespace: 'n' });
    const other = await watchFrom(cache.view(gadgets), from);
    const next = pending.next(signal);
    const a = await fixture.put('n/a');
    expect((await next)?.map(({ revision }) => revision)).toEqual([a]);
    const waiting = pending.next(signal);
    expect(cache.replace(removableNarrow)).toBe(view);
    expect(cache.view(widgets)).toBe(view);
    expect(cache.health().cursorCount).toBe(1);
    expect(await waiting).toBeUndefined();
    expect(await idle.next(signal)).toBeUndefined();
    // One has taken what happened up to then, the other has not.
    expect([pending.position, idle.position]).toEqual([a, from]);
    expect([pending.replaced, idle.replaced]).toEqual(['goOn', 'goOn']);
    const g = await fixture.putRaw(
      'example.com/gadgets/g',
      encodeStored(widget('g'), gadgets).value,
    );
    expect(await take(other, 1)).toEqual([`ADDED g@${String(g)}`]);
  });

  test('resume from before the replacement: the log stays', async () => {
    const cache = await started();
    const view = cache.view(widgets);
    const first = await fixture.put('n/a', { size: 1 });
    const cursor = await watchFrom(view, first);
    const second = await fixture.put('n/a', { size: 2 });
    await listPaths(view);
    cache.replace(removableNarrow);
    expect(await cursor.next(signal)).toBeUndefined();
    const third = await fixture.put('n/a', { size: 3 });
    const gone = await fixture.delete('n/a');
    const resumed = await watchFrom(view, cursor.position);
    expect(await take(resumed, 3)).toEqual([
      `MODIFIED n/a@${String(second)}`,
      `MODIFIED n/a@${String(third)}`,
      `DELETED n/a@${String(gone)}`,
    ]);
  });

  test('that begin while a record is replaced are closed as those that run', async () => {
    const cache = await started();
    const start = { from: 'state', at: latest, bookmark: true } as const;
    const opening = cache.view(widgets).watch({}, start, { bookmarks: true }, signal);
    cache.replace(removableNarrow);
    const cursor = await opening;
    expect(await cursor.next(signal)).toBeUndefined();
    expect([cursor.position, cursor.replaced]).toEqual([0, 'startOver']);
  });

  test('give what follows as the new record selects it', async () => {
    const cache = await started();
    const view = cache.view(widgets);
    await fixture.put('n/a', { size: 7 });
    await listPaths(view);
    cache.replace(removableSized);
    const { items, revision } = await view.list(bySize(7), latest, all, signal);
    expect(paths(items)).toEqual(['n/a']);
    const cursor = await watchFrom(view, revision, bySize(7));
    const b = await fixture.put('n/b', { size: 7 });
    const left = await fixture.put('n/a', { size: 8 });
    expect(await take(cursor, 2)).toEqual([
      `ADDED n/b@${String(b)}`,
      `DELETED n/a@${String(left)}`,
    ]);
  });

  test('of a follower go on where they were', async () => {
    const cache = await started();
    await fixture.put('n/a');
    const ending = new AbortController();
    const told: string[] = [];
    const tell =
      (what: string) =>
      (item: Item): void =>
        void told.push(`${what} ${paths([item])[0] ?? ''}`);
    const follower = {
      present: tell('present'),
      absent: tell('absent'),
      restarted: () => void told.push('restarted'),
    };
    const log = createLogger('error');
    const following = follow(follower, { view: cache.view(widgets), log }, ending.signal);
    const becomes = (expected: string[]): Promise<void> =>
      eventually(() => expect(told).toEqual(expected));
    await becomes(['present n/a']);
    cache.replace(removableNarrow);
    await fixture.put('n/b');
    await becomes(['present n/a', 'present n/b']);
    cache.remove(widgets);
    await following;
    expect(told).toHaveLength(2);
  });

  test('of a follower start over where an object could not be read', async () => {
    const cache = await started();
    await fixture.putRaw('widgets/n/a', Buffer.from('{'));
    const ending = new AbortController();
    const told: string[] = [];
    const follower = {
      present: ({ corrupted }: Item): void => void told.push(corrupted ? 'corrupted' : 'readable'),
      absent: () => undefined,
    };
    const options = { view: cache.view(widgets), select: { showsUnreadable: true } };
    const log = createLogger('error');
    const following = follow(follower, { ...options, log }, ending.signal);
    await eventually(() => expect(told).toEqual(['corrupted']));
    cache.replace({ ...removable, transcoder: readsAnything });
    await eventually(() => expect(told).toEqual(['corrupted', 'readable']));
    ending.abort(new Error('the test is over'));
    await following;
  });
});

const readsAnything = {
  ...widgetTranscoder,
  decodeForeign: () => encodeStored(widget('n/a', { size: 8 }), widgets),
};

describe('its objects', () => {
  const reads: readonly (readonly [string, (view: ResourceView) => Promise<string>])[] = [
    ['get', async (view) => textOf(await view.get(key, { mode: 'any' }, signal))],
    ['peek', (view) => Promise.resolve(textOf(view.peek(key)))],
    ['a list', async (view) => (await listed(view))[0] ?? ''],
    ['a list of one', async (view) => (await listed(view, latest, key))[0] ?? ''],
    ['a list by field', async (view) => (await listed(view, latest, onNode('x')))[0] ?? ''],
    [
      'a watch that begins with the state',
      async (view) => {
        const start = { from: 'state', at: latest, bookmark: true } as const;
        const cursor = await view.watch({}, start, { bookmarks: true }, signal);
        return textOf((await cursor.next(signal))?.[0]?.item);
      },
    ],
    [
      'a list of the version before',
      async (view) => {
        const item = view.peek(key);
        return (await listed(view, { mode: 'exact', revision: item?.revision ?? 0 }))[0] ?? '';
      },
    ],
  ];
  test.each(reads)('%s shows as the new record has them, and nothing is lost', async (_, read) => {
    const cache = await started();
    await fixture.put('n/a', { size: 7, nodeName: 'x' });
    await fixture.put('n/b', { size: 7 });
    const view = cache.view(widgets);
    await listPaths(view);
    const wide = await read(view);
    expect(wide).toContain('"size":7');
    cache.replace(removableNarrow);
    const left = await read(view);
    expect(left).not.toContain('size');
    expect(left).toContain('"nodeName":"x"');
    cache.replace(removable);
    expect(await read(view)).toBe(wide);
  });

  test('that are written by the record before are shown by the new one', async () => {
    const cache = await started();
    const view = cache.view(widgets);
    const encoded = encodeStored(widget('n/a', { size: 7 }), widgets);
    const written = async (): Promise<Item> => {
      const modRevision = await fixture.putRaw('widgets/n/a', encoded.value);
      const stored = { key: `${fixture.prefix}widgets/n/a`, value: encoded.value, modRevision };
      return view.itemOf({ ...stored, createRevision: modRevision }, encoded);
    };
    const answered = await written();
    cache.replace(removableNarrow);
    expect(textOf(answered)).toContain('"size":7');
    expect((await listed(view))[0]).not.toContain('size');
    expect(textOf(await written())).not.toContain('size');
    expect((await listed(view))[0]).not.toContain('size');
  });

  test('stay as they are, with what was made of them, where both records store alike', async () => {
    const cache = await started();
    await fixture.put('n/a', { size: 7 });
    const view = cache.view(widgets);
    await listPaths(view);
    const item = view.peek(key);
    const table = item?.encoded('table', () => Buffer.from('row'));
    const used = cache.health().memory;
    const other: ResourceInfo = { ...widgets, shortNames: ['w'] };
    for (const transcoder of [widgetTranscoder, reading(unexpected)]) {
      cache.replace({ ...removable, resource: other, transcoder });
      expect(view.peek(key)).toBe(item);
      expect(item?.keptEncoding('table')).toBe(table);
      expect((await view.list({}, latest, all, signal)).items).toEqual([item]);
    }
    expect(cache.health().memory).toEqual(used);
  });

  test('that were stored otherwise are read again by another transcoder only', async () => {
    const cache = await started();
    await fixture.putRaw('widgets/n/a', encodeStored(widget('n/a'), removableSized.resource).value);
    await fixture.put('n/b', { size: 7 });
    const view = cache.view(widgets);
    await listPaths(view);
    const [a, b] = (await view.list({}, latest, all, signal)).items;
    const read: string[] = [];
    const transcoder = reading((value) => read.push(Buffer.from(value).toString()));
    for (let time = 0; time < 3; time++) cache.replace({ ...removable, transcoder });
    const again = (await view.list({}, latest, all, signal)).items;
    expect(read).toHaveLength(1);
    expect(again[0]).not.toBe(a);
    expect(textOf(again[0])).toBe(textOf(a));
    expect(again[1]).toBe(b);
  });

  test('that cannot be read become readable by a record that can, and the reverse', async () => {
    const corrupted: string[] = [];
    const cache = await started(corrupted);
    await fixture.putRaw('widgets/n/a', Buffer.from('{'));
    const view = cache.view(widgets);
    expect(await listed(view)).toEqual(['corrupted']);
    cache.replace({ ...removable, transcoder: readsAnything });
    expect((await listed(view))[0]).toContain('"size":8');
    expect(cache.health().corrupted.size).toBe(0);
    cache.replace(removable);
    expect(await listed(view)).toEqual(['corrupted']);
    cache.replace(removableNarrow);
    expect(await listed(view)).toEqual(['corrupted']);
    // Told when it ceased to be readable, not each time that it was tried again.
    expect(corrupted).toHaveLength(2);
  });

  test('are found by the fields of the new record, and no longer by those of the old', async () => {
    const cache = await started();
    for (const size of [7, 8, 7]) await fixture.put(`n/w${String(Math.random())}`, { size });
    await fixture.put('n/a', { size: 7, nodeName: 'x' });
    const view = cache.view(widgets);
    await listPaths(view);
    const fetched = (): number => cache.resourceUse()[0]?.counts.fetched.memory ?? 0;
    cache.replace(removableSized);
    await listPaths(view);
    const before = fetched();
    expect(await listed(view, latest, { ...bySize(7), namespace: 'n' })).toHaveLength(3);
    expect(fetched() - before).toBe(3);
    cache.replace({ ...removable, indexedFields: [] });
    await listPaths(view);
    const between = fetched();
    expect(await listed(view, latest, onNode('x'))).toHaveLength(1);
    expect(fetched() - between).toBe(4);
  });
});

test('versions from before a replacement are read as the new record has them', async () => {
  const cache = await started();
  const a = await fixture.put('n/a', { size: 1 });
  await fixture.put('n/b', { size: 1 });
  const c = await fixture.put('n/a', { size: 2 });
  const view = cache.view(widgets);
  await listPaths(view);
  cache.replace(removableNarrow);
  const d = await fixture.put('n/b', { size: 3 });
  const e = await fixture.delete('n/a');
  await listPaths(view);
  for (const [revision, found] of [
    [a, ['n/a']],
    [c, ['n/a', 'n/b']],
    [d, ['n/a', 'n/b']],
    [e, ['n/b']],
  ] as const) {
    const { items } = await view.list({}, { mode: 'exact', revision }, all, signal);
    expect(paths(items)).toEqual(found);
    expect(items.map(textOf).join()).not.toContain('size');
  }
});

test('memory is counted: the log holds what a record made that is no more', async () => {
  const cache = await started();
  const empty = cache.health().memory;
  for (let size = 0; size < 5; size += 1) await fixture.put('n/a', { size });
  await fixture.put('n/b');
  const view = cache.view(widgets);
  await listPaths(view);
  const before = cache.health().memory;
  const item = view.peek(key);
  item?.encoded('table', () => Buffer.alloc(1_000));
  cache.replace(removableSized);
  await listPaths(view);
  const { stateBytes, logBytes, memoBytes } = cache.health().memory;
  expect(logBytes).toBe(before.logBytes + before.stateBytes);
  expect([stateBytes > before.stateBytes, memoBytes]).toEqual([true, before.memoBytes]);
  cache.remove(removableSized.resource);
  expect(cache.health().memory).toEqual(empty);
});

test('a resource whose scope changed is another one', async () => {
  const cache = await started();
  await fixture.put('n/a');
  const view = cache.view(widgets);
  const cursor = await watchFrom(view, await fixture.put('n/b'));
  const other = cache.replace({ ...removable, resource: { ...widgets, namespaced: false } });
  expect(other).not.toBe(view);
  expect(await cursor.next(signal)).toBeUndefined();
  const c = await fixture.putRaw('widgets/c', encodeStored(widget('c'), widgets).value);
  expect(shown((await other.list({}, latest, all, signal)).items)).toEqual([`c@${String(c)}`]);
});

test('what is not removable is not replaced', async () => {
  const cache = await started();
  expect(() => cache.replace({ resource: gadgets })).toThrow();
});

function unexpected(): never {
  throw new Error('what both store alike is not read again');
}
