// Seeded random numbers: the same seed gives the same inputs on every machine.

export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** A whole number from 0, less than `below`. */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000) * below);
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T; // There is at least one.
  }
}
