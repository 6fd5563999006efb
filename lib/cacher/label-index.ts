// Items of one resource by the value of one label: in the order of keys, for each value and for all
// that have the label.
import type { CachedItem } from './item.ts';
import { ResourceIndex } from './resource-index.ts';
import type { ItemOrder, PathRange } from './resource-index.ts';

/** Slots of one item in two orders, with what chunks leave free. */
const itemBytes = 64;
/** Order, chunk and map entry of one value. */
const valueBytes = 500;

/** What an index of so many items would take, each with a value of its own at worst. */
export const labelIndexBytesMax = (itemCount: number): number =>
  itemCount * (itemBytes + valueBytes);

export class LabelIndex {
  readonly key: string;
  readonly #holders = new ResourceIndex();
  readonly #byValue = new Map<string, ResourceIndex>();

  constructor(key: string) {
    this.key = key;
  }

  /** Heap that it takes. */
  get bytes(): number {
    return this.#holders.size * itemBytes + this.#byValue.size * valueBytes;
  }

  /** Replaces what `previous` left here by `item`. */
  change(previous: CachedItem | undefined, item: CachedItem | undefined): void {
    const before = previous?.labels[this.key];
    const value = item?.labels[this.key];
    if (previous !== undefined && before !== undefined && before !== value) {
      const items = this.#byValue.get(before);
      items?.delete(previous.path);
      if (items?.size === 0) this.#byValue.delete(before);
      if (value === undefined) this.#holders.delete(previous.path);
    }
    if (item === undefined || value === undefined) return;
    this.#holders.set(item);
    let items = this.#byValue.get(value);
    if (items === undefined) {
      items = new ResourceIndex();
      this.#byValue.set(value, items);
    }
    items.set(item);
  }

  /** Those of a range that have one of the values; undefined: any value. */
  select(values: readonly string[] | undefined, range: PathRange): ItemOrder {
    if (values === undefined) return this.#holders;
    const [first = '', second] = values;
    if (second === undefined) return this.#byValue.get(first) ?? none;
    const orders = values.flatMap((value) => this.#byValue.get(value) ?? []);
    let count = 0;
    for (const order of orders) count += order.count(range);
    return count * joinedShareMin > this.#holders.size ? this.#holders : joined(orders, range);
  }
}

/** Joining costs a sort: for a larger part, a walk over all that have the label costs less. */
const joinedShareMin = 8;
const none: ItemOrder = new ResourceIndex();

function joined(orders: readonly ItemOrder[], range: PathRange): ItemOrder {
  const items: CachedItem[] = [];
  for (const order of orders) order.walk(range, (item) => items.push(item) > 0);
  items.sort((one, other) => (one.sortKey < other.sortKey ? -1 : 1));
  const order = new ResourceIndex();
  for (const item of items) order.set(item);
  return order;
}
