// Objects in the order in which they came, each of which leaves soon. Not a Set: V8 makes the table
// of one anew as those that left use it up, and the one before, once it is in the old generation,
// takes every later one there with all that was in it, dead or not (docs/adr/0069).

/** A list's own marks at its members; one object is in one list at most. */
export interface Linked<T> {
  before?: T | undefined;
  after?: T | undefined;
}

export class LinkedList<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Who has been in it for the longest time. */
  get first(): T | undefined {
    return this.#first;
  }

  has(item: T): boolean {
    return item.before !== undefined || this.#first === item;
  }

  /** At the end; where it is in the list already it stays where it is. */
  add(item: T): void {
    if (this.has(item)) return;
    item.before = this.#last;
    if (this.#last === undefined) this.#first = item;
    else this.#last.after = item;
    this.#last = item;
    this.#size++;
  }

  /** False: it was not in the list. */
  delete(item: T): boolean {
    if (!this.has(item)) return false;
    const { before, after } = item;
    if (before === undefined) this.#first = after;
    else before.after = after;
    if (after === undefined) this.#last = before;
    else after.before = before;
    item.before = undefined;
    item.after = undefined;
    this.#size--;
    return true;
  }

  /** Moves all of them, first to last, to the end of `into`. */
  takeAll(into: T[] = []): T[] {
    for (let item = this.#first; item !== undefined; item = this.#first) {
      this.delete(item);
      into.push(item);
    }
    return into;
  }

  /** First to last; nobody may leave meanwhile but the one that was told last. */
  *[Symbol.iterator](): IterableIterator<T> {
    for (let item = this.#first; item !== undefined;) {
      const { after } = item;
      yield item;
      item = after;
    }
  }
}
