import { expect, test } from '@jest/globals';
import { comparedText } from '../api/selectable-fields.ts';
import { heldBytes, mega } from '../base/testing/held-bytes.ts';
import { encodeStored } from '../codec/stored-form.ts';
import { makeItem } from './item.ts';
import type { CachedItem } from './item.ts';
import { widget, widgets } from './testing/cache-fixture.ts';
import type { WidgetOptions } from './testing/cache-fixture.ts';
import { itemSource } from './testing/item-source.ts';

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
