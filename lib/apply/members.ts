// What a value holds by its shape: the walks of this folder ask it here.
import { isRecord } from '../api/json-value.ts';
import { parsed } from '../api/raw-json.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { openObject } from './shape.ts';
import type { ListShape, ObjectShape, Shape } from './shape.ts';

export type Value = JsonValue | undefined;

/** How a walk takes a value, or two of one field: undefined: as a whole. */
export function partsOf(
  shape: Shape,
  value: Value,
  twin?: Value,
): ObjectShape | ListShape | undefined {
  switch (shape.kind) {
    case 'leaf':
      return undefined;
    case 'open':
      return isObjectOf(value) || isObjectOf(twin) ? openObject : undefined;
    default:
      return shape;
  }
}

const isObjectOf = (value: Value): boolean => membersOf(value) !== undefined;

/**
 * The members of an object, if it is one. Not to be changed. Some walks over them are by
 * `Object.keys`, since V8 kept optimising their `for … in` for the one name that it had noted, and
 * gave up at each other (`--trace-deopt` tells which do).
 */
export function membersOf(value: Value): JsonObject | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const plain = parsed(value);
  return isRecord(plain) ? plain : undefined;
}

/** The elements of a list, if it is one. Not to be changed. */
export function elementsOf(value: Value): readonly JsonValue[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const plain = parsed(value);
  return Array.isArray(plain) ? plain : undefined;
}

/** undefined: the type has no such member. */
export const memberShape = (shape: ObjectShape, name: string): Shape | undefined =>
  shape.named.get(name) ?? shape.entries;

/** An object or list without members, and null, which stands for it. */
export function isBlank(value: Value): boolean {
  if (value === null) return true;
  const members = membersOf(value);
  if (members !== undefined) return isWithoutMembers(members);
  return elementsOf(value)?.length === 0;
}

function isWithoutMembers(members: JsonObject): boolean {
  for (const name of Object.keys(members)) if (members[name] !== undefined) return false;
  return true;
}
