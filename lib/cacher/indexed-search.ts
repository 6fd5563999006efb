// What the indexes of a resource leave of its current items for a list or the state of a watch: all
// that are selected, and others that the selection is still to be asked about.
import type { CachedItem } from './item.ts';
import type { ResourceCache } from './resource-cache.ts';
import type { ItemOrder } from './resource-index.ts';
import type { ItemKey, Selection } from './resource-view.ts';
import { onePathOf, rangeOf } from './select.ts';

/** The few items of one name, or of one value of a field; undefined: no such index helps. */
export function itemsByField(
  cache: ResourceCache,
  select: Selection,
): readonly CachedItem[] | undefined {
  const path = onePathOf(select, cache.source.resource);
  if (path !== undefined) {
    const item = cache.get(path);
    return item === undefined ? [] : [item];
  }
  // Fields of objects that cannot be read are in no index.
  if (cache.unreadable.size > 0) return undefined;
  for (const { path: field, operator, value } of select.fields ?? []) {
    if (operator !== '=' || value === '') continue;
    const index = cache.fieldIndex(field);
    if (index !== undefined) return index.select(value);
  }
  return undefined;
}

/** As few items as an index of labels leaves, in order: all where none helps. */
export function itemsByLabel(
  cache: ResourceCache,
  select: Selection,
  after: ItemKey | undefined,
): ItemOrder {
  const { labelTerms } = select;
  // Labels of objects that cannot be read are in no index.
  if (labelTerms === undefined || cache.unreadable.size > 0) return cache.index;
  return cache.labels.narrowed(labelTerms, rangeOf(select, after)) ?? cache.index;
}
