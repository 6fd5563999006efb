// What is stored of an object beside what is written of it, for one update: which parts are the
// same, and which items of keyed lists are. Each part is looked at once, however often it is asked
// for, so that the work stays linear.
import type { MaybePromise } from '../base/maybe-promise.ts';
import { whenThere } from '../base/maybe-promise.ts';
import type { Yielder } from '../base/yielder.ts';
import { isObject, jsonEqual, ownMember } from './json-value.ts';
import { Twins } from './twins.ts';
import type { ValueInfo } from './type-info.ts';

interface Compared {
  readonly old: object;
  readonly isSame: boolean;
}

export class StoredParts {
  readonly #compared = new Map<object, Compared>();
  readonly #twins = new Map<readonly unknown[], Twins<unknown>>();
  #isComparing = false;
  #comparedMs = 0;

  /** Time that comparing has taken so far. */
  get comparedMs(): number {
    return this.#comparedMs;
  }

  /** Whether a part is stored just so: as `jsonEqual` has it. */
  isSame(value: unknown, old: unknown): boolean {
    if (typeof value !== 'object' || value === null) return jsonEqual(value, old);
    if (typeof old !== 'object' || old === null) return false;
    const known = this.#compared.get(value);
    if (known?.old === old) return known.isSame;
    const isSame = this.#isComparing ? this.#compare(value, old) : this.#timed(value, old);
    this.#compared.set(value, { old, isSame });
    return isSame;
  }

  #timed(value: object, old: object): boolean {
    const fromMs = performance.now();
    this.#isComparing = true;
    const isSame = this.#compare(value, old);
    this.#isComparing = false;
    this.#comparedMs += performance.now() - fromMs;
    return isSame;
  }

  #compare(value: object, old: object): boolean {
    if (Array.isArray(value)) {
      if (!Array.isArray(old) || value.length !== old.length) return false;
      for (let at = 0; at < value.length; at += 1) {
        if (!this.isSame(value[at], old[at])) return false;
      }
      return true;
    }
    if (!isObject(value) || !isObject(old)) return false;
    for (const key of Object.keys(value)) {
      if (!this.isSame(value[key], ownMember(old, key))) return false;
    }
    for (const key of Object.keys(old)) {
      if (old[key] !== undefined && !Object.hasOwn(value, key)) return false;
    }
    return true;
  }

  /** The items of a stored list by what tells them from each other; of a long one later. */
  twinsIn(
    old: readonly unknown[],
    list: ValueInfo,
    pace: Yielder | undefined,
  ): MaybePromise<Twins<unknown>> {
    const known = this.#twins.get(old);
    if (known !== undefined) return known;
    return whenThere(Twins.inList(old, list, pace), (twins) => {
      this.#twins.set(old, twins);
      return twins;
    });
  }
}
