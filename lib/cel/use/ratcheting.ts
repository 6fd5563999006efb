// Ratcheting: a rule that fails on a value which an update did not change only warns. This walks
// the old object beside the new one, as far as parts of the two can be told to be the same part.
import { isObject, jsonEqual } from '../../api/json-value.ts';
import { Twins } from '../../api/twins.ts';
import type { ValueInfo } from '../../api/type-info.ts';
import { elementOf, isAtomicMap, memberOf } from '../../api/value-info.ts';

/** A value, what it was before, and what its type says of it. */
class Correlated {
  readonly value: unknown;
  readonly old: unknown;
  readonly info: ValueInfo;
  #isSame: boolean | undefined;
  #twins: Twins<unknown> | undefined;

  constructor(value: unknown, old: unknown, info: ValueInfo) {
    this.value = value;
    this.old = old;
    this.info = info;
  }

  isUnchanged(): boolean {
    return (this.#isSame ??= jsonEqual(this.value, this.old));
  }

  key(name: string): Correlated | undefined {
    const { value, old, info } = this;
    if (isAtomicMap(info) || !isObject(value) || !isObject(old)) return undefined;
    const child = Object.hasOwn(old, name) ? memberOf(info, name) : undefined;
    return child && new Correlated(value[name], old[name], child);
  }

  index(index: number): Correlated | undefined {
    const { value, old, info } = this;
    const element = elementOf(info);
    if (!Array.isArray(value) || !Array.isArray(old) || element === undefined) return undefined;
    const item: unknown = value[index];
    const twin = (this.#twins ??= Twins.inList<unknown>(old, info)).of(item);
    return twin === undefined ? undefined : new Correlated(item, twin, element);
  }
}

/** Where in the two objects a validation is. */
export class Ratchet {
  readonly #current: Correlated | undefined;
  /** The nearest part above that could be told to be the same in both. */
  readonly #above: Correlated | undefined;

  private constructor(current: Correlated | undefined, above: Correlated | undefined) {
    this.#current = current;
    this.#above = above;
  }

  /** Of an update. */
  static start(value: unknown, old: unknown, info: ValueInfo): Ratchet {
    return new Ratchet(new Correlated(value, old, info), undefined);
  }

  /** Of a create, or where ratcheting is off: every failure is an error. */
  static readonly off = new Ratchet(undefined, undefined);

  /** Whether a failure here only warns. */
  warns(): boolean {
    return this.#current?.isUnchanged() ?? this.#above?.isUnchanged() ?? false;
  }

  key(name: string): Ratchet {
    if (this.#current === undefined) return this;
    // Both objects were converted to one version: the type fields say nothing about what was
    // written.
    if (this.#above === undefined && (name === 'apiVersion' || name === 'kind')) return Ratchet.off;
    return new Ratchet(this.#current.key(name), this.#current);
  }

  index(index: number): Ratchet {
    if (this.#current === undefined) return this;
    return new Ratchet(this.#current.index(index), this.#current);
  }

  /** Rules under allOf ratchet only with what is above. */
  inAllOf(): Ratchet {
    return new Ratchet(undefined, this.#above);
  }
}
