// Resources that go and come back, with the same or with another record.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { encodeStored } from '../codec/stored-form.ts';
import { field, message, specType, widgetType } from '../codec/testing/sample-types.ts';
import { EtcdCluster } from '../storage-etcd/testing/etcd-process.ts';
import type { Cache } from './cache.ts';
import type { ReadAt } from './resource-view.ts';
import {
  CacheFixture,
  gadgets,
  listPaths,
  shown,
  take,
  widget,
  widgets,
  widgetTranscoder,
} from './testing/cache-fixture.ts';

let cluster: EtcdCluster;
let fixture: CacheFixture;
const { signal } = new AbortController();
const all = { limitCount: 0 };
const latest: ReadAt = { mode: 'latest' };
const removable = { resource: widgets, indexedFields: ['spec.nodeName'], isRemovable: true };
const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();

beforeAll(async () => {
  cluster = await EtcdCluster.start();
});
afterAll(() => cluster.stop());
beforeEach(() => {
  fixture = new CacheFixture(cluster);
});
afterEach(() => fixture.close());

const started = (): Promise<Cache> =>
  fixture.started({ resources: [removable, { resource: gadgets }] });

describe('a removed resource', () => {
  test('closes its watches, and no others; a view that is held opens none', async () => {
    const cache = await started();
    const from = { from: 'revision', revision: cache.health().revision } as const;
    const options = { bookmarks: false };
    const watch = await cache.view(widgets).watch({}, from, options, signal);
    const one = await cache.view(widgets).watch({ namespace: 'n' }, from, options, signal);
    const other = await cache.view(gadgets).watch({}, from, options, signal);
    const held = cache.view(widgets);
    const pending = watch.next(signal);
    cache.remove(widgets);
    expect(await pending).toBeUndefined();
    expect(await one.next(signal)).toBeUndefined();
    expect([watch.position, watch.replaced]).toEqual([from.revision, undefined]);
    await expect(held.watch({}, from, options, signal)).rejects.toMatchObject({ code: 410 });
    const g = await fixture.putRaw(
      'example.com/gadgets/g',
      encodeStored(widget('g'), gadgets).value,
    );
    expect(await take(other, 1)).toEqual([`ADDED g@${String(g)}`]);
    expect(cache.health().cursorCount).toBe(1);
    expect(() => cache.view(widgets)).toThrow();
  });

  test('reads through a view that is still held are answered by etcd', async () => {
    const cache = await started();
    const a = await fixture.put('n/a');
    const view = cache.view(widgets);
    expect(await listPaths(view)).toEqual(['n/a']);
    cache.remove(widgets);
    const b = await fixture.put('n/b');
    expect(view.peek({ namespace: 'n', name: 'a' })).toBeUndefined();
    for (const at of [latest, { mode: 'any' }, { mode: 'exact', revision: b }] as const) {
      const { items } = await view.list({}, at, all, signal);
      expect(shown(items)).toEqual([`n/a@${String(a)}`, `n/b@${String(b)}`]);
    }
  });

  test('gives its memory back, that of changes and of what was made too', async () => {
    const cache = await started();
    const empty = cache.health().memory;
    for (let size = 0; size < 5; size += 1) await fixture.put('n/a', { size });
    const view = cache.view(widgets);
    const item = await view.get({ namespace: 'n', name: 'a' }, latest, signal);
    item?.object();
    item?.encoded('table', () => Buffer.alloc(1_000));
    const from = { from: 'revision', revision: (item?.revision ?? 0) - 1 } as const;
    const cursor = await view.watch({}, from, { bookmarks: false }, signal);
    for (const event of (await cursor.next(signal)) ?? []) {
      event.memo('frame', () => Buffer.alloc(1_000));
    }
    expect(cache.health().memory.stateBytes).toBeGreaterThan(empty.stateBytes);
    cache.remove(widgets);
    expect(cache.health().memory).toEqual(empty);
    expect(cache.resourceUse().map(({ name }) => name)).toEqual(['example.com/gadgets']);
  });
});

describe('added again', () => {
  test('it is complete at once, with what changed meanwhile', async () => {
    const cache = await started();
    const a = await fixture.put('n/a', { labels: { app: 'x' }, nodeName: 'ä' });
    const b = await fixture.put('n/b');
    await fixture.put('n/c');
    const seen = await listPaths(cache.view(widgets));
    expect(seen).toEqual(['n/a', 'n/b', 'n/c']);
    const before = cache.view(widgets).peek({ namespace: 'n', name: 'a' });
    expect(before?.labels).toEqual({ app: 'x' });
    cache.remove(widgets);
    const c = await fixture.put('n/c', { size: 2 });
    await fixture.delete('n/b');
    const d = await fixture.put('n/d');
    await cache.view(gadgets).list({}, latest, all, signal);
    const view = cache.add(removable);
    expect(cache.view(widgets)).toBe(view);
    const { items } = await view.list({}, { mode: 'any' }, all, signal);
    expect(shown(items)).toEqual([a, c, d].map((at, i) => `n/${'acd'.charAt(i)}@${String(at)}`));
    const after = view.peek({ namespace: 'n', name: 'a' });
    expect(text(after?.json())).toBe(text(before?.json()));
    expect([after?.labels, after?.field('spec.nodeName')]).toEqual([{ app: 'x' }, 'ä']);
    const stale = { from: 'revision', revision: b } as const;
    await expect(view.watch({}, stale, { bookmarks: false }, signal)).rejects.toMatchObject({
      code: 410,
    });
    const from = { from: 'revision', revision: cache.health().revision } as const;
    const cursor = await view.watch({}, from, { bookmarks: false }, signal);
    const next = await fixture.put('n/e');
    expect(await take(cursor, 1)).toEqual([`ADDED n/e@${String(next)}`]);
  });

  test('with another record it shows all that is stored', async () => {
    const narrow = {
      ...widgets,
      type: message(
        'Widget',
        widgetType.fields.map((one) =>
          one.jsonName === 'spec'
            ? field('spec', message('WidgetSpec', specType.fields.slice(0, 1)))
            : one,
        ),
        { hasTypeMeta: true },
      ),
    };
    const cache = await started();
    await fixture.put('n/a', { size: 7, nodeName: 'x' });
    await fixture.putRaw('widgets/n/broken', Buffer.from('{'));
    const shownAs = async (): Promise<string[]> => {
      const { items } = await cache
        .view(widgets)
        .list({ showsUnreadable: true }, latest, all, signal);
      return items.map((item) => (item.corrupted ? 'corrupted' : text(item.json())));
    };
    const wide = await shownAs();
    expect(wide[0]).toContain('"size":7');
    cache.remove(widgets);
    cache.add({ ...removable, resource: narrow });
    const [left, broken] = await shownAs();
    expect(left).not.toContain('size');
    expect(left).toContain('"nodeName":"x"');
    expect(broken).toBe('corrupted');
    cache.remove(narrow);
    cache.add(removable);
    expect(await shownAs()).toEqual(wide);
  });

  test('it may bring a transcoder of its own', async () => {
    const cache = await started();
    await fixture.put('n/a', { size: 7 });
    await listPaths(cache.view(widgets));
    cache.remove(widgets);
    const view = cache.add({
      ...removable,
      transcoder: {
        ...widgetTranscoder,
        schemaOf: () => 'other',
        decodeForeign: () => encodeStored(widget('n/a', { size: 8 }), widgets),
      },
    });
    const item = view.peek({ namespace: 'n', name: 'a' });
    expect(text(item?.json())).toContain('"size":8');
  });
});

test('what is not removable is not removed', async () => {
  const cache = await started();
  expect(() => {
    cache.remove(gadgets);
  }).toThrow();
});
