// Values as Go's fmt prints them (`%v`, `%T`): texts of answers that clients know have them so.
import { isObject } from './json-value.ts';
import type { JsonValue } from './type-info.ts';
import { sortUtf8 } from '../base/utf8-order.ts';

const int64Bound = 2n ** 63n;

/** A number without a fraction that 64 bits hold. */
export function isInt64(value: JsonValue | undefined): value is number | bigint {
  if (typeof value === 'number' && !Number.isInteger(value)) return false;
  if (typeof value !== 'number' && typeof value !== 'bigint') return false;
  const exact = BigInt(value);
  return exact >= -int64Bound && exact < int64Bound;
}

/** The type that the value has where its schema is not known. */
export function goType(value: JsonValue): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  switch (typeof value) {
    case 'object':
      return 'map[string]interface {}';
    case 'boolean':
      return 'bool';
    case 'string':
      return 'string';
    default:
      return isInt64(value) ? 'int64' : 'float64';
  }
}

export function goText(value: JsonValue): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (isObject(value)) {
    const entries = sortUtf8(Object.keys(value)).map(
      (key) => `${key}:${goText(value[key] ?? null)}`,
    );
    return `map[${entries.join(' ')}]`;
  }
  return typeof value === 'number' ? numberText(value) : String(value);
}

/** Fractions below 0.0001 have an exponent, which has two digits at least. */
function numberText(value: number): string {
  const isSmall = value !== 0 && Math.abs(value) < 1e-4;
  const text = isSmall ? value.toExponential() : String(value);
  return text.replace(/e([+-])(\d)$/, 'e$10$2');
}
