// Reads a map with keys of users.
import { isNameless } from '../base/nameless.ts';
import { isAbsent } from '../api/presence.ts';
import { newRecord } from '../api/record.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { fresh } from './scalar-readers.ts';
import type { ReadValue } from './scalar-readers.ts';
import type { Walk } from './walk.ts';

/**
 * Keys in ascending order, no prototype: any key is data; null stands for `zero`.
 * @throws StatusError 400 when the value is no object.
 */
export function readMap(value: JsonValue, read: ReadValue, zero: JsonValue, walk: Walk): JsonValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return walk.fail('an object', value);
  }
  const keys = Object.keys(value);
  walk.members += keys.length;
  const sorted = isAscending(keys);
  if (!sorted) keys.sort();
  const keep = sorted && isNameless(Object.getPrototypeOf(value));
  let result: JsonObject = keep ? value : newRecord();
  const at = walk.depth;
  walk.base = undefined; // Of the map, not of its entries.
  walk.depth = at + 1;
  for (const key of keys) {
    const given = value[key];
    walk.path[at] = key;
    const element = isAbsent(given) ? fresh(zero) : read(given, walk);
    if (result !== value) result[key] = element;
    else if (element !== given) {
      if (!walk.owned) result = Object.assign(newRecord(), value);
      result[key] = element;
    }
  }
  walk.depth = at;
  return result;
}

/** Keys that look like list indexes come first in any object, whatever order they are set in. */
const indexKey = /^(?:0|[1-9]\d{0,9})$/;

function isAscending(keys: readonly string[]): boolean {
  for (let index = 1; index < keys.length; index += 1) {
    const before = keys[index - 1] ?? '';
    if (before >= (keys[index] ?? '') && !indexKey.test(before)) return false;
  }
  return true;
}
