// Items of two lists that are the same item: in keyed lists by their keys, in sets by themselves.
import { eachInTurns } from '../base/each-in-turns.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Yielder } from '../base/yielder.ts';
import { canonicalText } from './canonical-json.ts';
import { isObject, ownMember } from './json-value.ts';
import type { ValueInfo } from './type-info.ts';

type ListKeys = Pick<ValueInfo, 'listType' | 'listMapKeys'>;

/** The items of a list, found by one that is the same in another list. */
export class Twins<Item> {
  readonly #identityOf: (item: Item) => string | undefined;
  readonly #items = new Map<string, Item>();

  /** `identityOf` tells an item from the others; undefined: nothing does. */
  constructor(items: readonly Item[], identityOf: (item: Item) => string | undefined) {
    this.#identityOf = identityOf;
    for (const item of items) this.#add(item);
  }

  #add(item: Item): void {
    const identity = this.#identityOf(item);
    if (identity !== undefined && !this.#items.has(identity)) this.#items.set(identity, item);
  }

  /** Of a keyed list or set, by what its type says of it; of a long one in several turns. */
  static inList<Item>(
    items: readonly Item[],
    list: ListKeys,
    pace: Yielder | undefined,
  ): MaybePromise<Twins<Item>> {
    const twins = new Twins<Item>([], (item) => itemIdentity(item, list));
    const step = (item: Item): void => {
      twins.#add(item);
    };
    const done = eachInTurns(items, step, pace);
    return done === undefined ? twins : done.then(() => twins);
  }

  /** The item that is the same one as `item`. */
  of(item: Item): Item | undefined {
    const identity = this.#identityOf(item);
    return identity === undefined ? undefined : this.#items.get(identity);
  }
}

/**
 * What tells an item of a keyed list or set from the others; undefined: nothing does. An absent key
 * is a value of its own.
 */
export function itemIdentity(item: unknown, list: ListKeys): string | undefined {
  const { listType, listMapKeys } = list;
  if (listType === 'set') return canonicalText(item);
  if (listType !== 'map' || !isObject(item)) return undefined;
  return canonicalText(listMapKeys.map((key) => ownMember(item, key)));
}
