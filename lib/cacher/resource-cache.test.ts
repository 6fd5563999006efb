import { describe, expect, test } from '@jest/globals';
import { heldBytes, mega } from '../base/testing/held-bytes.ts';
import { nextTurn } from '../base/turn.ts';
import { encodeStored } from '../codec/stored-form.ts';
import type { ResourceCache } from './resource-cache.ts';
import { ResourceCounts } from './resource-counts.ts';
import { widget, widgets } from './testing/cache-fixture.ts';
import { itemSource, resourceCacheAt } from './testing/item-source.ts';
import type { Transcoder } from './transcoder.ts';
import { LogCursor } from './watch-cursor.ts';

/** A widget of about 1 MiB. */
function largeWidget(path: string): Uint8Array {
  const small = widget(path);
  const annotations = { padding: path.padEnd(mega, 'x') };
  return encodeStored({ ...small, metadata: { ...small.metadata, annotations } }, widgets).value;
}

const noParsing = (): never => {
  throw new Error('what was written needs no parsing');
};

function cacheAt(revision: number, parser: Partial<Transcoder> = {}): ResourceCache {
  const { transcoder, ...made } = itemSource();
  const source = { ...made, keepsStored: true, transcoder: { ...transcoder, ...parser } };
  return resourceCacheAt(revision, source).cache;
}

test('nothing is kept of an item that was replaced or deleted', () => {
  const source = itemSource();
  const { cache } = resourceCacheAt(10, source);
  const use = (): void => {
    const item = cache.index.get('n/w');
    item?.object();
    item?.encoded('other', () => Buffer.alloc(100));
    expect(source.budget.use().memoBytes).toBeGreaterThan(100);
  };
  cache.put('n/w', encodeStored(widget('n/w'), widgets).value, 11, 0);
  use();
  cache.put('n/w', encodeStored(widget('n/w'), widgets).value, 12, 0);
  expect(source.budget.use().memoBytes).toBe(0);
  use();
  cache.delete('n/w', 13, 0);
  expect(source.budget.use().memoBytes).toBe(0);
});

describe('the item of an answered write', () => {
  const path = 'n/w';
  const encoded = encodeStored(widget(path), widgets);
  const { value } = encoded;

  test('is the one of its event', () => {
    const cache = cacheAt(10);
    const item = cache.itemOf(path, value, 11);
    cache.put(path, value, 11, 0);
    expect(cache.index.get(path)).toBe(item);
  });

  const foreign = Buffer.from('in another encoding');
  const unread = { open: noParsing, decodeForeign: noParsing };
  test.each([
    ['the stored form', value],
    ['another encoding', foreign],
  ])('is made of %s without parsing it, and so is its event', (_form, written) => {
    const cache = cacheAt(10, unread);
    const item = cache.itemOf(path, written, 11, encoded);
    expect(item.object()).toMatchObject({ metadata: { name: 'w', resourceVersion: '11' } });
    cache.put(path, Buffer.from(written), 11, 0);
    expect(cache.index.get(path)).toBe(item);
    const kept = [...cache.remove().values()].map((one) =>
      Buffer.from('value' in one ? one.value : one.storedValue()),
    );
    expect(kept).toEqual([Buffer.from(written)]);
  });

  test('is read from what is stored where that was written by another record', () => {
    const cache = cacheAt(10);
    const { header } = encoded;
    const older = { ...encoded, header: { ...header, schema: 'of another record' } };
    expect(cache.itemOf(path, value, 11, older).corrupted).toBe(false);
    expect(cacheAt(10, unread).itemOf(path, value, 11, older).corrupted).toBe(true);
  });

  test('is not kept when its event has come: its object may be gone by then', async () => {
    const cache = cacheAt(100);
    const held = await heldBytes(() => {
      for (let index = 0; index < 32; index++) {
        const gone = `n/w${String(index)}`;
        expect(cache.itemOf(gone, largeWidget(gone), 50).corrupted).toBe(false);
      }
    });
    expect(held).toBeLessThan(4 * mega);
    expect(cache.index.size).toBe(0);
  });

  test('is not kept when memory is filled again: its event does not come again', async () => {
    const cache = cacheAt(10);
    const held = await heldBytes(() => {
      cache.clear();
      for (let index = 0; index < 32; index++) {
        const written = `n/w${String(index)}`;
        cache.itemOf(written, largeWidget(written), 11 + index);
      }
      cache.begin(100);
    });
    expect(held).toBeLessThan(4 * mega);
    expect(cache.index.size).toBe(0);
  });
});

test('events that watchers shared are dropped with the log', async () => {
  const cache = cacheAt(10);
  const { log } = cache.options;
  const { watchIndex } = cache.log;
  const bucket = watchIndex.join({ by: 'all' }, 10);
  const watch = { log, watchIndex, bucket, predicate: undefined, after: 10, state: undefined };
  const cursor = new LogCursor({
    ...watch,
    mayHold: () => true,
    showsUnreadable: false,
    counts: new ResourceCounts(),
    bookmarkMs: 0,
    onClose: () => undefined,
  });
  const held = await heldBytes(async () => {
    for (let index = 0; index < 32; index++) {
      const path = `n/w${String(index)}`;
      cache.put(path, largeWidget(path), 11 + index, 0);
    }
    log.advance(42, 0);
    expect(await cursor.next(new AbortController().signal)).toHaveLength(32);
    for (let index = 0; index < 32; index++) cache.delete(`n/w${String(index)}`, 43 + index, 0);
    log.advance(74, 0);
    // Nothing goes before those who wait had their turn.
    while (log.length > 0) {
      log.compact(74);
      await nextTurn();
    }
  });
  expect(held).toBeLessThan(4 * mega);
  expect(cursor.position).toBe(42);
});
