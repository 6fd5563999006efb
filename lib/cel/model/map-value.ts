// Maps built by expressions: literals, comprehensions, and maps whose keys are not all strings.
import { Double, Uint, toInt, typeNameOf, uintMax } from './value.ts';
import type { Int, MapValue, Value } from './value.ts';

type PlainKey = string | number | bigint | boolean;

/** A map with keys of type string, int, bool or uint. Filled once, then read only. */
export class HashMap implements MapValue {
  readonly kind = 'map';
  // 1 and 1u are different keys that find each other: uints have a table of their own.
  readonly #plain = new Map<PlainKey, Value>();
  #uints: Map<bigint, Value> | undefined;

  size(): number {
    return this.#plain.size + (this.#uints?.size ?? 0);
  }

  find(key: Value): Value | undefined {
    switch (typeof key) {
      case 'string':
      case 'boolean':
        return this.#plain.get(key);
      case 'number':
      case 'bigint':
        return this.#plain.get(key) ?? (key < 0 ? undefined : this.#uints?.get(BigInt(key)));
      default:
        if (key instanceof Uint)
          return this.#uints?.get(key.value) ?? this.#plain.get(toInt(key.value));
        if (key instanceof Double) {
          const whole = wholeNumber(key.value);
          return whole === undefined ? undefined : this.find(whole);
        }
        return undefined;
    }
  }

  *keys(): Iterable<Value> {
    yield* this.#plain.keys();
    if (this.#uints !== undefined) for (const key of this.#uints.keys()) yield new Uint(key);
  }

  /** Adds or replaces; false when `key` cannot be a key of a map. */
  set(key: Value, value: Value): boolean {
    if (key instanceof Uint) {
      this.#uints ??= new Map();
      this.#uints.set(key.value, value);
      return true;
    }
    if (!isPlainKey(key)) return false;
    this.#plain.set(key, value);
    return true;
  }

  /** Whether exactly this key is there, not one of another numeric type. */
  has(key: Value): boolean {
    if (key instanceof Uint) return this.#uints?.has(key.value) ?? false;
    return isPlainKey(key) && this.#plain.has(key);
  }

  delete(key: Value): void {
    if (key instanceof Uint) this.#uints?.delete(key.value);
    else if (isPlainKey(key)) this.#plain.delete(key);
  }
}

function isPlainKey(key: Value): key is PlainKey {
  return typeof key !== 'object';
}

/** The int that equals a double, if there is one. */
function wholeNumber(value: number): Int | undefined {
  if (!Number.isInteger(value)) return undefined;
  if (Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  const exact = BigInt(value);
  return exact > -(2n ** 63n) && exact <= uintMax ? toInt(exact) : undefined;
}

/** A key as error texts show it. */
export function keyText(key: Value): string {
  switch (typeof key) {
    case 'string':
      return key;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(key);
    default:
      if (key === null) return 'null';
      return key instanceof Double || key instanceof Uint ? String(key.value) : typeNameOf(key);
  }
}
