// Selectors on what is served, where that has other labels than what is stored, or fields that this
// has not. Items and events stay those of the storage version.
import type { FieldRequirement } from '../api/selector.ts';
import { limits } from '../base/limits.ts';
import { Yielder } from '../base/yielder.ts';
import type {
  Item,
  ListPage,
  ListResult,
  WatchCursor,
  WatchEvent,
} from '../cacher/resource-view.ts';
import type { Conversion } from './conversion.ts';
import { SteppedCursor } from './stepped-cursor.ts';

export interface ServedSelection {
  readonly conversion: Conversion;
  /** With values as they are compared (`comparedText`). */
  readonly fields: readonly FieldRequirement[];
  readonly labels?: (labels: Readonly<Record<string, string>>) => boolean;
}

/**
 * The page of `everything` that may follow: no more is converted than fills it.
 * @throws StatusError 500 of the conversion.
 */
export async function selectPage(
  everything: ListResult,
  { limitCount }: ListPage,
  selection: ServedSelection,
  signal: AbortSignal,
): Promise<ListResult> {
  const { items: all } = everything;
  const limit = limitCount === 0 ? Infinity : limitCount;
  const stepCount = limitCount === 0 ? all.length : Math.max(limit, limits.filteredPageCount);
  const items: Item[] = [];
  for (let from = 0; from < all.length; from += stepCount) {
    const some = all.slice(from, from + stepCount);
    const isSelected = await selected(some, selection, signal);
    for (const item of some) {
      if (!isSelected.has(item)) continue;
      if (items.length === limit) {
        return { ...everything, items, more: true, remainingCount: undefined };
      }
      items.push(item);
    }
  }
  return { ...everything, items, more: false, remainingCount: undefined };
}

/** An object that begins or ceases to be selected is added or deleted. */
export const selectEvents = (cursor: WatchCursor, selection: ServedSelection): WatchCursor =>
  new SteppedCursor(cursor, async (events, signal) => {
    const items = events.flatMap(({ item, change }) =>
      change === undefined ? (item ?? []) : [change.item ?? [], change.previous ?? []].flat(),
    );
    const isSelected = await selected(items, selection, signal);
    return events.flatMap((event) => eventFor(event, isSelected) ?? []);
  });

function eventFor(event: WatchEvent, isSelected: ReadonlySet<Item>): WatchEvent | undefined {
  const { type, item, change } = event;
  if (item === undefined) return event;
  if (change === undefined) return isSelected.has(item) ? event : undefined;
  const { previous, item: next } = change;
  const held = type !== 'ADDED' && previous !== undefined && isSelected.has(previous);
  const holds = type !== 'DELETED' && next !== undefined && isSelected.has(next);
  return change.eventFor(held, holds);
}

/** Those that cannot be read are selected: nobody can say that they are not. */
async function selected(
  stored: readonly Item[],
  { conversion, fields, labels }: ServedSelection,
  signal: AbortSignal,
): Promise<ReadonlySet<Item>> {
  const served = await conversion.items(stored, signal);
  const found = new Set<Item>();
  const yielder = new Yielder();
  for (const [index, item] of stored.entries()) {
    const shown = served[index] ?? item;
    const isSelected =
      item.corrupted ||
      (fields.every(
        ({ path, operator, value }) => (shown.field(path) === value) === (operator === '='),
      ) &&
        labels?.(shown.labels) !== false);
    if (isSelected) found.add(item);
    if (yielder.isDue()) await yielder.yield();
  }
  return found;
}
