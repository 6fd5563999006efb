// A map that holds so many entries at most: one more takes the place of the one that was asked for
// longest ago.

export class Recent<T> {
  readonly #countMax: number;
  readonly #onGone: (value: T) => void;
  /** The one that was asked for last comes last. */
  readonly #entries = new Map<string, T>();

  /** @param onGone told of what another one took the place of, and of all that is cleared */
  constructor(countMax: number, onGone: (value: T) => void) {
    this.#countMax = countMax;
    this.#onGone = onGone;
  }

  get(key: string): T | undefined {
    const value = this.#entries.get(key);
    if (value === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, value);
    return value;
  }

  set(key: string, value: T): void {
    const before = this.#entries.get(key);
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (before !== undefined) this.#onGone(before);
    const [first] = this.#entries;
    if (this.#entries.size > this.#countMax && first !== undefined) this.delete(first[0]);
  }

  delete(key: string): void {
    const value = this.#entries.get(key);
    this.#entries.delete(key);
    if (value !== undefined) this.#onGone(value);
  }

  entries(): Iterable<readonly [string, T]> {
    return this.#entries;
  }

  clear(): void {
    const all = [...this.#entries.values()];
    this.#entries.clear();
    for (const value of all) this.#onGone(value);
  }
}
