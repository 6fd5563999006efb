// Deep equality of decoded values. Unset members, null, and empty lists and maps are the same:
// the forms of an absent value that encodings tell apart and users do not.
import type { JsonObject, JsonValue } from './type-info.ts';

type Value = JsonValue | undefined;

const isObject = (value: Value): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function isUnset(value: Value): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  if (typeof value !== 'object') return false;
  for (const key of Object.keys(value)) if (!isUnset(value[key])) return false;
  return true;
}

const isNumber = (value: Value): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

const isSameNumber = (left: Value, right: Value): boolean =>
  isNumber(left) && isNumber(right) && String(left) === String(right);

export function sameJson(left: Value, right: Value): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return (
      left.length === right.length && left.every((element, at) => sameJson(element, right[at]))
    );
  }
  if (isObject(left) && isObject(right)) {
    for (const key of Object.keys(left)) {
      if (!sameJson(left[key], Object.hasOwn(right, key) ? right[key] : undefined)) return false;
    }
    for (const key of Object.keys(right)) {
      if (!Object.hasOwn(left, key) && !isUnset(right[key])) return false;
    }
    return true;
  }
  if (typeof left === 'bigint' || typeof right === 'bigint') return isSameNumber(left, right);
  return isUnset(left) && isUnset(right);
}
