// Seeded choices. The same seed and labels give the same choices, whatever else ran in between.

import { createHash, randomBytes } from 'node:crypto';

export class Random {
  #state: number;

  /** The labels separate streams: choices of one client do not depend on those of another. */
  constructor(seed: string, ...labels: readonly (string | number)[]) {
    this.#state = createHash('sha256')
      .update([seed, ...labels].join('\0'))
      .digest()
      .readUInt32LE();
  }

  /** From 0 up to, not including, 1. */
  fraction(): number {
    // A Weyl sequence through a 32-bit mixer: small, fast, and even enough to pick operations.
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[this.below(choices.length)];
    if (choice === undefined) throw new Error('nothing to choose from');
    return choice;
  }

  /** Picks a key with the probability its weight has in the sum of all. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let rest = this.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      rest -= weight;
      if (rest < 0) return key;
    }
    return this.pick(entries)[0];
  }
}

export function newSeed(): string {
  return randomBytes(6).toString('hex');
}
