// Which mutations a second pass repeats: those with `reinvocationPolicy: IfNeeded` that something
// changed the object after, and, after any mutation of the first pass, all of them. What the first
// pass did not run the second does not, either.
import { cloneAlike, jsonEqual } from '../../api/json-value.ts';
import type { ApiObject } from '../../codec/codec.ts';

export class Reinvocation {
  /** Repeatable, run since something changed the object. */
  #ran = new Set<string>();
  readonly #toRepeat = new Set<string>();
  /** As the first pass left it. */
  #left: Readonly<ApiObject> | undefined;

  /** Before the second pass. @returns whether it has anything to do */
  begin(object: Readonly<ApiObject>): boolean {
    if (this.#ran.size > 0 && !jsonEqual(object, this.#left)) this.#moveAll();
    return this.#toRepeat.size > 0;
  }

  mustRepeat(key: string): boolean {
    return this.#toRepeat.has(key);
  }

  /** After each mutation; `isRepeatable`: its policy says IfNeeded. */
  ran(key: string, did: { readonly hasChanged: boolean; readonly isRepeatable: boolean }): void {
    if (did.hasChanged) this.#moveAll();
    if (did.isRepeatable) this.#ran.add(key);
  }

  /** After the first pass. */
  end(object: Readonly<ApiObject>, hasChanged: boolean): void {
    if (hasChanged) this.#moveAll();
    if (this.#ran.size > 0) this.#left = cloneAlike(object);
  }

  #moveAll(): void {
    for (const key of this.#ran) this.#toRepeat.add(key);
    this.#ran = new Set();
  }
}
