import { describe, expect, test } from '@jest/globals';
import { comparedText } from '../api/selectable-fields.ts';
import { heldBytes, mega } from '../base/testing/held-bytes.ts';
import { encodeStored } from '../codec/stored-form.ts';
import { namingProfile } from '../api/vendor.ts';
import { createStoredMedia } from '../codec/stored-media.ts';
import { withVersions } from './item-versions.ts';
import { makeItem } from './item.ts';
import type { CachedItem } from './item.ts';
import { widget, widgets } from './testing/cache-fixture.ts';
import type { WidgetOptions } from './testing/cache-fixture.ts';
import { itemSource } from './testing/item-source.ts';
import { versionsTranscoder } from './transcoder.ts';

const source = itemSource();
const itemOf = (path: string, options: WidgetOptions): CachedItem =>
  makeItem(source, path, encodeStored(widget(path, options), widgets).value, 1);

function manyLabels(mark: number): Record<string, string> {
  const valueOf = (at: number): string => `${String(mark)}-${String(at)}-${'v'.repeat(50)}`;
  const entries = Array.from({ length: 1_000 }, (_, at) => [`label-${String(at)}`, valueOf(at)]);
  return Object.fromEntries(entries) as Record<string, string>;
}

test('items with the same labels share them', () => {
  const [one, other] = ['n/a', 'n/b'].map((path) => itemOf(path, { labels: { app: 'web' } }));
  expect(one?.labels).toEqual({ app: 'web' });
  expect(one?.labels).toBe(other?.labels);
});

test('what long labels take, which no other item shares, counts for the item', async () => {
  const items: CachedItem[] = [];
  const held = await heldBytes(() => {
    for (let index = 0; index < 200; index++) {
      const item = itemOf('n/a', { labels: manyLabels(index) });
      expect(Object.keys(item.labels)).toHaveLength(1_000);
      items.push(item);
    }
  });
  const counted = items.reduce((sum, { bytes }) => sum + bytes, 0);
  expect(counted / held).toBeGreaterThan(0.7);
  expect(counted / held).toBeLessThan(1.5);
});

test('items that are gone leave no large labels and fields behind', async () => {
  const held = await heldBytes(() => {
    for (let index = 0; index < 100; index++) {
      const nodeName = `${String(index)}-${'n'.repeat(50_000)}`;
      const item = itemOf('n/a', { labels: manyLabels(index), nodeName });
      expect(Object.keys(item.labels)).toHaveLength(1_000);
      expect(item.field('spec.nodeName')).toBe(comparedText(nodeName));
    }
  });
  expect(held).toBeLessThan(2 * mega);
});

describe('an item that stays in the version it was stored in', () => {
  const old = {
    ...widgets,
    version: 'v0',
    kind: { ...widgets.kind, version: 'v0' },
    fieldSelectors: ['metadata.name', 'metadata.namespace'],
  };
  const transcoder = versionsTranscoder([old, widgets], {
    media: createStoredMedia('json', namingProfile('svc')),
    defaults: { apply: () => undefined },
    convert: undefined,
  });
  const mixed = withVersions({ ...source, transcoder, keepsStored: true }, [old]);
  const object = { ...widget('n/a', { labels: { app: 'web' } }), apiVersion: 'example.com/v0' };

  test('is served as its own product stored it, and given back so', () => {
    const { value } = encodeStored(object, old);
    const item = makeItem(mixed, 'n/a', value, 7);
    expect(item.resource).toBe(old);
    expect(item.object()).toMatchObject({ apiVersion: 'example.com/v0' });
    expect(item.labels).toEqual({ app: 'web' });
    expect(Buffer.from(item.storedValue())).toEqual(Buffer.from(value));
    const last = item.atRevision(8);
    expect([last.resource, last.object().metadata?.resourceVersion]).toEqual([old, '8']);
  });

  test('is read by its own version where others stored it, and given back as they did', () => {
    const value = Buffer.from(JSON.stringify(object));
    const item = makeItem(mixed, 'n/a', value, 7);
    expect(item.resource).toBe(old);
    expect(Buffer.from(item.storedValue())).toEqual(value);
  });

  test('is corrupted where its version is not known', () => {
    const value = Buffer.from(JSON.stringify({ ...object, apiVersion: 'example.com/v9' }));
    expect(makeItem(mixed, 'n/a', value, 7).problem).toContain('no Widget in a version that is');
  });
});
