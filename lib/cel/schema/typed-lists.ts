// Lists of declared type. Plain ones compare in order; sets compare and add without order or
// duplicates; keyed lists compare by key, and adding overrides the items whose keys are there.
import { equalValues, noSuchOverload } from '../model/equality.ts';
import { isError, isList, isMap, listItems } from '../model/value.ts';
import type { ListValue, Value } from '../model/value.ts';
import { BucketIndex, bucketOf, bucketOfAll } from '../model/value-index.ts';
import { escapeName } from './escaping.ts';

type WrapItem = (raw: unknown) => Value;

/** A list whose order matters. */
export class TypedList implements ListValue {
  readonly kind = 'list';
  readonly isTyped = true;
  readonly #raw: readonly unknown[];
  readonly #wrap: WrapItem;
  constructor(raw: readonly unknown[], wrap: WrapItem) {
    this.#raw = raw;
    this.#wrap = wrap;
  }
  size(): number {
    return this.#raw.length;
  }
  get(index: number): Value {
    return this.#wrap(this.#raw[index]);
  }
}

/** A list of items with rules of its own, wrapped when first needed. */
function lazyItems(raw: readonly unknown[], wrap: WrapItem): () => readonly Value[] {
  let items: readonly Value[] | undefined;
  return () => (items ??= raw.map(wrap));
}

function indexBy(items: readonly Value[], bucket: (item: Value) => string): BucketIndex<Value> {
  const index = new BucketIndex<Value>();
  for (const item of items) index.add(bucket(item), item);
  return index;
}

/** A list of type `set`. */
export class SetList implements ListValue {
  readonly kind = 'list';
  readonly isTyped = true;
  readonly #size: number;
  readonly #items: () => readonly Value[];
  #index: BucketIndex<Value> | undefined;
  /** The items that are texts: sets of these are the most, and the longest. */
  #textItems: ReadonlySet<unknown> | undefined;
  constructor(raw: readonly unknown[], wrap: WrapItem) {
    this.#size = raw.length;
    this.#items = lazyItems(raw, wrap);
  }
  size(): number {
    return this.#size;
  }
  get(index: number): Value {
    return this.#items()[index] as Value;
  }
  equals(other: Value): Value {
    if (!isList(other)) return noSuchOverload(other);
    const theirs = listItems(other);
    const mine = this.#items();
    return mine.length === theirs.length && theirs.every((item) => this.#has(item));
  }
  plus(other: Value): Value {
    if (!isList(other)) return noSuchOverload(other);
    const added = listItems(other).filter((item) => !this.#has(item));
    return SetList.of([...this.#items(), ...added]);
  }
  #has(wanted: Value): boolean {
    if (typeof wanted === 'string') return this.#texts().has(wanted);
    this.#index ??= indexBy(this.#items(), bucketOf);
    const candidates = this.#index.candidates(bucketOf(wanted));
    return candidates.some((item) => equalValues(item, wanted) === true);
  }
  #texts(): ReadonlySet<unknown> {
    if (this.#textItems !== undefined) return this.#textItems;
    const texts = new Set<unknown>();
    for (const item of this.#items()) if (typeof item === 'string') texts.add(item);
    this.#textItems = texts;
    return texts;
  }
  static of(items: readonly Value[]): SetList {
    return new SetList(items, (item) => item as Value);
  }
}

/** A list of type `map`: items are told apart by the values of their keys. */
export class KeyedList implements ListValue {
  readonly kind = 'list';
  readonly isTyped = true;
  readonly #keys: readonly string[];
  readonly #size: number;
  readonly #items: () => readonly Value[];
  constructor(raw: readonly unknown[], wrap: WrapItem, keys: readonly string[]) {
    this.#keys = keys;
    this.#size = raw.length;
    this.#items = lazyItems(raw, wrap);
  }
  size(): number {
    return this.#size;
  }
  get(index: number): Value {
    return this.#items()[index] as Value;
  }
  equals(other: Value): Value {
    if (!isList(other)) return noSuchOverload(other);
    const theirs = listItems(other);
    if (this.#size !== theirs.length) return false;
    const mine = indexBy(this.#items(), (item) => this.#bucket(item));
    for (const item of theirs) {
      const candidates = mine.candidates(this.#bucket(item));
      const twin = candidates.find((candidate) => this.#sameKey(candidate, item));
      if (twin === undefined) return false;
      const equal = equalValues(twin, item);
      if (equal !== true) return isError(equal) ? equal : false;
    }
    return true;
  }
  plus(other: Value): Value {
    if (!isList(other)) return noSuchOverload(other);
    const items = [...this.#items()];
    const positions = new BucketIndex<number>();
    for (const [position, item] of items.entries()) positions.add(this.#bucket(item), position);
    for (const item of listItems(other)) {
      const bucket = this.#bucket(item);
      const position = positions
        .candidates(bucket)
        .find((candidate) => this.#sameKey(items[candidate] as Value, item));
      if (position === undefined) positions.add(bucket, items.push(item) - 1);
      else items[position] = item;
    }
    return new KeyedList(items, (item) => item as Value, this.#keys);
  }
  #bucket(item: Value): string {
    if (!isMap(item)) return '';
    return bucketOfAll(this.#keys.map((key) => item.find(escapeName(key) ?? key)));
  }
  #sameKey(left: Value, right: Value): boolean {
    if (!isMap(left) || !isMap(right)) return false;
    return this.#keys.every((key) => {
      const identifier = escapeName(key) ?? key;
      const [mine, theirs] = [left.find(identifier), right.find(identifier)];
      if (mine === undefined || theirs === undefined) return mine === theirs;
      return equalValues(mine, theirs) === true;
    });
  }
}
