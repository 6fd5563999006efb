// The items of one page of a list. An object that cannot be read and that may be selected fails the
// page that it belongs to: left out, it would look deleted to whoever keeps a copy.
import { limits } from '../base/limits.ts';
import type { CachedItem } from './item.ts';
import type { ListPage, Selection } from './resource-view.ts';
import { predicateOf } from './select.ts';
import type { Predicate } from './select.ts';
import { mayHold, unreadableItems } from './unreadable.ts';

export class PageBuilder {
  readonly #items: CachedItem[] = [];
  readonly #select: Selection;
  readonly #predicate: Predicate | undefined;
  readonly #limit: number;
  readonly #unreadable: CachedItem[] = [];
  #isCut = false;
  /** Items that were given to it, selected or not. */
  seenCount = 0;

  /** `checksNamespace`: items of other namespaces may be added too. */
  constructor(
    select: Selection,
    { limitCount }: ListPage,
    options: { readonly checksNamespace: boolean },
  ) {
    this.#select = select;
    this.#predicate = predicateOf(select, options);
    this.#limit = limitCount === 0 ? Infinity : limitCount;
  }

  get count(): number {
    return this.#items.length;
  }

  /** An item follows that is not on the page. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /**
   * The next item in order, which is skipped when it is not selected. False: the page ends before
   * it. @throws StatusError 500 when too many were met that cannot be read.
   */
  add(item: CachedItem): boolean {
    this.seenCount++;
    const isUnreadable = item.problem !== undefined;
    if (isUnreadable ? !mayHold(this.#select, item) : this.#predicate?.(item) === false)
      return true;
    if (this.#items.length === this.#limit) {
      this.#isCut = true;
      return false;
    }
    if (!isUnreadable || this.#select.showsUnreadable === true) this.#items.push(item);
    else if (this.#unreadable.push(item) > limits.unreadableNamedMax) {
      throw unreadableItems(this.#unreadable);
    }
    return true;
  }

  /** @throws StatusError 500 that names what cannot be read. */
  finish(): CachedItem[] {
    if (this.#unreadable.length > 0) throw unreadableItems(this.#unreadable);
    return this.#items;
  }
}
