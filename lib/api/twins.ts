// Items of two lists that are the same item: in keyed lists by their keys, in sets by themselves.
import { isObject } from './json-value.ts';
import type { ValueInfo } from './type-info.ts';

/** The items of a keyed list or set, found by one that is the same in another list. */
export class Twins {
  readonly #list: Pick<ValueInfo, 'listType' | 'listMapKeys'>;
  readonly #items = new Map<string, unknown>();

  constructor(items: readonly unknown[], list: Pick<ValueInfo, 'listType' | 'listMapKeys'>) {
    this.#list = list;
    for (const item of items) {
      const identity = this.#identityOf(item);
      if (identity !== undefined && !this.#items.has(identity)) this.#items.set(identity, item);
    }
  }

  /** The item that is the same one as `item`. */
  of(item: unknown): unknown {
    const identity = this.#identityOf(item);
    return identity === undefined ? undefined : this.#items.get(identity);
  }

  #identityOf(item: unknown): string | undefined {
    const { listType, listMapKeys } = this.#list;
    if (listType === 'set') return canonicalText(item);
    if (listType !== 'map' || !isObject(item)) return undefined;
    return canonicalText(listMapKeys.map((key) => (Object.hasOwn(item, key) ? item[key] : null)));
  }
}

/** One text for all JSON that is the same. */
function canonicalText(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'undefined';
  const entries = Object.keys(value).sort();
  return `{${entries.map((key) => `${JSON.stringify(key)}:${canonicalText(value[key])}`).join()}}`;
}
