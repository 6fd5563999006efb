// What "not there" means for decoded values: three predicates, each wider than the one before, and
// which of them a field goes by. JSON's null is Go's nil everywhere.
import type { FieldInfo, JsonValue } from './type-info.ts';

type Value = JsonValue | undefined;

/** Not there: undefined, or null. Go's nil pointer. */
export const isAbsent = (value: unknown): value is null | undefined =>
  value === undefined || value === null;

/**
 * Absent, or nothing in it: a text, list or map of length 0, as Go's `len` counts. An object
 * without members is empty too: whether it is a map or a message, only its field knows.
 */
export function isEmpty(value: Value): boolean {
  if (value === undefined || value === null || value === '') return true;
  if (typeof value !== 'object') return false;
  if (Array.isArray(value)) return value.length === 0;
  for (const name in value) return name === undefined;
  return true;
}

/** Empty, or the zero value of a scalar: 0, false. What Go's `omitempty` leaves out. */
export const isZero = (value: Value): boolean =>
  value === 0 || value === false || value === 0n || isEmpty(value);

/**
 * Whether `value` leaves the field unset. Where presence is tracked, and for a message, only an
 * absent value does; for a list or map an empty one, for any other scalar its zero value.
 */
export function isUnset(field: FieldInfo, value: Value): boolean {
  if (field.cardinality !== 'single') return isEmpty(value);
  const isMessage = field.message !== undefined && field.message.special === undefined;
  return field.pointer || isMessage ? isAbsent(value) : isZero(value);
}
