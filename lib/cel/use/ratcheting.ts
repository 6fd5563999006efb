// Ratcheting: a rule that fails on a value which an update did not change only warns. This follows
// the stored object beside the new one, as far as parts of the two can be told to be the same part.
import type { StoredParts } from '../../api/stored-parts.ts';

/** A value and what it was before. */
interface Part {
  readonly value: unknown;
  readonly old: unknown;
}

/** Where in the two objects a validation is. */
export class Ratchet {
  readonly #stored: StoredParts | undefined;
  /** This part; undefined: nothing tells which stored one it is. */
  readonly #current: Part | undefined;
  /** The nearest part above that could be told to be the same in both. */
  readonly #above: Part | undefined;

  private constructor(
    stored: StoredParts | undefined,
    current: Part | undefined,
    above: Part | undefined,
  ) {
    this.#stored = stored;
    this.#current = current;
    this.#above = above;
  }

  /** Of an update. */
  static start(value: unknown, old: unknown, stored: StoredParts): Ratchet {
    return new Ratchet(stored, { value, old }, undefined);
  }

  /** Of a create, or where ratcheting is off: every failure is an error. */
  static readonly off = new Ratchet(undefined, undefined, undefined);

  /** Whether a failure here only warns. */
  warns(): boolean {
    const part = this.#current ?? this.#above;
    return part !== undefined && this.#stored?.isSame(part.value, part.old) === true;
  }

  /** A member, entry or item; `old` undefined: nothing tells which stored one it is. */
  below(value: unknown, old: unknown): Ratchet {
    if (this.#current === undefined) return this;
    const current = old === undefined ? undefined : { value, old };
    return new Ratchet(this.#stored, current, this.#current);
  }

  /** Rules under allOf ratchet only with what is above. */
  inAllOf(): Ratchet {
    if (this.#current === undefined) return this;
    return new Ratchet(this.#stored, undefined, this.#above);
  }
}
