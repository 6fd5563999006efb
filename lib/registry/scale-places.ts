// What stands where a kind has the values of its scale: read without trust in its shape, as stored
// objects may be older than the place.
import { goText, goType, isInt64 } from '../api/go-text.ts';
import { isObject, ownMember, setMember } from '../api/json-value.ts';
import { newRecord } from '../api/record.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';

/** A value, or why there cannot be one; neither: nothing stands there. */
export interface Found<T> {
  readonly value?: T;
  readonly problem?: string;
}

/** As definitions write it: `.spec.replicas`. */
export const placeText = (path: readonly string[]): string => `.${path.join('.')}`;

export function integerAt(
  object: Readonly<JsonObject>,
  path: readonly string[],
): Found<number | bigint> {
  const { value, problem } = valueAt(object, path);
  if (problem !== undefined) return { problem };
  if (value === undefined) return {};
  return isInt64(value) ? { value } : { problem: wrongType(path, value, 'int64') };
}

export function textAtPlace(object: Readonly<JsonObject>, path: readonly string[]): Found<string> {
  const { value, problem } = valueAt(object, path);
  if (problem !== undefined) return { problem };
  if (value === undefined) return {};
  return typeof value === 'string' ? { value } : { problem: wrongType(path, value, 'string') };
}

/** Sets the value in `object`, with the objects on the way to it. */
export function setAtPlace(
  object: JsonObject,
  [name = '', ...rest]: readonly string[],
  value: JsonValue,
): void {
  if (rest.length === 0) {
    setMember(object, name, value);
    return;
  }
  let below = ownMember(object, name);
  if (!isObject(below)) setMember(object, name, (below = newRecord()));
  setAtPlace(below, rest, value);
}

function valueAt(object: Readonly<JsonObject>, path: readonly string[]): Found<JsonValue> {
  let value: JsonValue | undefined = object;
  for (const [index, name] of path.entries()) {
    if (value === undefined || value === null) return {};
    if (!isObject(value)) {
      return { problem: wrongType(path.slice(0, index + 1), value, 'map[string]interface{}') };
    }
    value = ownMember(value, name);
  }
  return value === undefined ? {} : { value };
}

const wrongType = (path: readonly string[], value: JsonValue, expected: string): string =>
  `${placeText(path)} accessor error: ${goText(value)} is of the type ${goType(value)}, ` +
  `expected ${expected}`;
