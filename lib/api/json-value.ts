// JSON-shaped data: copies, equality and members by path. Copies are records, so that names from
// users (`__proto__`, `constructor`) are data like any other. Raw JSON never changes: it is shared,
// and equal when its text is.
import { isNameless } from '../base/nameless.ts';
import { RawJson } from './raw-json.ts';
import { newRecord } from './record.ts';
import type { JsonObject, JsonValue } from './type-info.ts';

type Value = JsonValue | undefined;

/** A deep copy that shares nothing mutable with the original. */
export function cloneJson<T extends Value>(value: T): T {
  // The result has the shape of the argument; TypeScript cannot follow that through the branches.
  if (Array.isArray(value)) return value.map((element) => cloneJson(element)) as T;
  if (!isObject(value) || value instanceof RawJson) return value;
  const copy = newRecord();
  for (const key of Object.keys(value)) copy[key] = cloneJson(value[key]);
  return copy as T;
}

/**
 * A deep copy whose objects keep their prototypes, and with them their shapes: what is read and
 * written often must not become a hash table, as objects without a prototype are.
 */
export function cloneAlike<T extends Value>(value: T): T {
  if (Array.isArray(value)) {
    const list = value.slice();
    for (let at = 0; at < list.length; at += 1) {
      const element = list[at];
      if (typeof element === 'object' && element !== null) list[at] = cloneAlike(element);
    }
    return list as T;
  }
  if (!isObject(value)) return value;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === RawJson.prototype) return value;
  const keys = Object.keys(value);
  if (isNameless(prototype) || keys.length > shapedMembersMax) {
    return cloneMembers(value, keys, prototype) as T;
  }
  // Members are set on what is an own member already: `__proto__` is a name like any other.
  const copy: JsonObject = { ...value };
  for (const key of keys) {
    const member = copy[key];
    if (typeof member === 'object' && member !== null) copy[key] = cloneAlike(member);
  }
  return copy as T;
}

/** A deep copy that shares with `twin` the members that both have in the same place. */
export function cloneBeside(value: JsonValue, twin: Value): JsonValue {
  if (!isRecord(value) || !isRecord(twin)) return cloneAlike(value);
  const copy = copyOfLevel(value);
  for (const key of Object.keys(copy)) {
    const member = copy[key];
    if (typeof member !== 'object' || member === null) continue;
    const other = ownMember(twin, key);
    if (member !== other) setMember(copy, key, cloneBeside(member, other));
  }
  return copy;
}

/** A copy of an object itself that shares what lies in it, with its prototype. */
export const copyOfLevel = (value: Readonly<JsonObject>): JsonObject =>
  isNameless(Object.getPrototypeOf(value)) ? Object.assign(newRecord(), value) : { ...value };

/** Objects of more members are hash tables anyway: spreading one takes twice the time. */
const shapedMembersMax = 64;

function cloneMembers(
  value: Readonly<JsonObject>,
  keys: readonly string[],
  prototype: unknown,
): JsonObject {
  const copy: JsonObject = isNameless(prototype) ? newRecord() : {};
  for (const key of keys) {
    const member = value[key];
    const own = typeof member === 'object' && member !== null ? cloneAlike(member) : member;
    if (key === '__proto__') setMember(copy, key, own as JsonValue);
    else copy[key] = own;
  }
  return copy;
}

/**
 * Equal exactly: the same values in lists and members, whatever the order of members; an undefined
 * member equals an absent one, and numbers are equal as numbers. json-equal.ts has the other
 * equality, up to the forms of absence.
 */
export function jsonEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    for (let at = 0; at < left.length; at += 1) if (!jsonEqual(left[at], right[at])) return false;
    return true;
  }
  if (!isObject(left) || !isObject(right)) return isSameNumber(left, right);
  // Unlike Object.keys, `in` makes no list: every write compares hundreds of objects.
  for (const key in left) {
    const member = left[key];
    const other = ownMember(right, key);
    if (member !== other && !jsonEqual(member, other)) return false;
  }
  for (const key in right) {
    if (right[key] !== undefined && !Object.hasOwn(left, key)) return false;
  }
  return true;
}

const isNumber = (value: unknown): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

/** Integers are numbers or bigints by their size alone. */
const isSameNumber = (left: unknown, right: unknown): boolean =>
  isNumber(left) && isNumber(right) && left >= right && left <= right;

/**
 * Sets the member at `path` (dotted, no list indexes) of `target` to a copy of the one in `source`,
 * or removes it.
 */
export function copyMember(target: JsonObject, source: Readonly<JsonObject>, path: string): void {
  const segments = path.split('.');
  const last = segments.pop() ?? '';
  let from: Value = source;
  for (const segment of segments) from = isObject(from) ? ownMember(from, segment) : undefined;
  const value = isObject(from) ? ownMember(from, last) : undefined;
  let into = target;
  for (const segment of segments) {
    const next = ownMember(into, segment);
    if (isObject(next)) {
      into = next;
      continue;
    }
    if (value === undefined) return;
    into = into[segment] = newRecord();
  }
  if (value === undefined) delete into[last];
  else into[last] = cloneAlike(value);
}

/** A shallow copy without the named members. */
export const without = (object: Readonly<JsonObject>, ...names: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

export const ownMember = (object: Readonly<JsonObject>, key: string): Value =>
  Object.hasOwn(object, key) ? object[key] : undefined;

/** Assignment that treats `__proto__` as any other name: schemas of users may define it. */
export function setMember(object: JsonObject, name: string, value: JsonValue): void {
  if (name !== '__proto__') object[name] = value;
  else
    Object.defineProperty(object, name, {
      value,
      enumerable: true,
      writable: true,
      configurable: true,
    });
}

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An object, where values may be raw JSON: that has no members before it is opened. */
export const isRecord = (value: unknown): value is JsonObject =>
  isObject(value) && !(value instanceof RawJson);
