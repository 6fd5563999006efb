// A growing list whose elements keep their number while the oldest ones are dropped.

export class Sequence<T> {
  #elements: (T | undefined)[] = [];
  #head = 0;
  #first = 0;

  /** Number of the oldest element kept. */
  get first(): number {
    return this.#first;
  }

  /** Number that the next element will get. */
  get end(): number {
    return this.#first + this.length;
  }

  get length(): number {
    return this.#elements.length - this.#head;
  }

  at(number: number): T | undefined {
    return this.#elements[number - this.#first + this.#head];
  }

  oldest(): T | undefined {
    return this.#elements[this.#head];
  }

  push(element: T): void {
    this.#elements.push(element);
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const element = this.#elements[this.#head];
    this.#elements[this.#head] = undefined; // What was dropped must not stay in memory.
    this.#head++;
    this.#first++;
    // Copying half of the list once every half of its length costs one move an element.
    if (this.#head > 64 && this.#head * 2 > this.#elements.length) {
      this.#elements = this.#elements.slice(this.#head);
      this.#head = 0;
    }
    return element;
  }

  /** Puts older elements in front; they get the numbers before `first`. */
  prepend(older: readonly T[]): void {
    this.#elements = [...older, ...this.#elements.slice(this.#head)];
    this.#head = 0;
    this.#first -= older.length;
  }

  clear(): void {
    this.#first = this.end;
    this.#elements = [];
    this.#head = 0;
  }

  /** Number of the first element for which `isReached` holds; it must hold for all later ones. */
  find(isReached: (element: T) => boolean): number {
    let low = this.first;
    let high = this.end;
    while (low < high) {
      const middle = low + Math.floor((high - low) / 2);
      const element = this.at(middle);
      if (element !== undefined && !isReached(element)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
