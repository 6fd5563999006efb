// Items of one resource by the value of one field, for lists with `field=value`. The empty value is
// not indexed.
import type { CachedItem } from './item.ts';

export class FieldIndex {
  readonly field: string;
  readonly #byValue = new Map<string, Map<string, CachedItem>>();

  constructor(field: string) {
    this.field = field;
  }

  /** Replaces what `previous` left here by `item`. */
  change(previous: CachedItem | undefined, item: CachedItem | undefined): void {
    const before = previous?.field(this.field) ?? '';
    const value = item?.field(this.field) ?? '';
    if (before !== '' && previous !== undefined && before !== value) {
      const items = this.#byValue.get(before);
      items?.delete(previous.path);
      if (items?.size === 0) this.#byValue.delete(before);
    }
    if (value === '' || item === undefined) return;
    let items = this.#byValue.get(value);
    if (items === undefined) {
      items = new Map();
      this.#byValue.set(value, items);
    }
    items.set(item.path, item);
  }

  /** In key order. */
  select(value: string): CachedItem[] {
    const items = [...(this.#byValue.get(value)?.values() ?? [])];
    return items.sort((a, b) => (a.sortKey < b.sortKey ? -1 : 1));
  }
}
