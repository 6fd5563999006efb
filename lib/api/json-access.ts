// Reads members of decoded objects without trusting their shape: what is absent, null or of another
// type reads as the zero value. Validators and strategies see every object through these.
import { isObject } from './json-value.ts';
import { isAbsent } from './presence.ts';
import type { JsonObject, JsonValue } from './type-info.ts';

type Value = JsonValue | undefined;
type Holder = Readonly<JsonObject> | undefined;

const memberOf = (of: Holder, name: string): Value =>
  of !== undefined && Object.hasOwn(of, name) ? of[name] : undefined;

export const asRecord = (value: Value): JsonObject | undefined =>
  isObject(value) ? value : undefined;

/** Whether the member is there: not absent, so an empty or zero one is. */
export const isSet = (of: Holder, name: string): boolean => !isAbsent(memberOf(of, name));

export const valueAt = (of: Holder, name: string): Value => memberOf(of, name) ?? undefined;

export const asText = (value: Value): string => (typeof value === 'string' ? value : '');

export const textAt = (of: Holder, name: string): string => asText(memberOf(of, name));

export const numberAt = (of: Holder, name: string): number | undefined => {
  const value = memberOf(of, name);
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : undefined;
};

export const flagAt = (of: Holder, name: string): boolean => memberOf(of, name) === true;

export const recordAt = (of: Holder, name: string): JsonObject | undefined =>
  asRecord(memberOf(of, name));

const none: readonly never[] = [];

export const listAt = (of: Holder, name: string): readonly JsonValue[] => {
  const value = memberOf(of, name);
  return Array.isArray(value) ? value : none;
};

const isRecordList = (list: readonly JsonValue[]): list is readonly JsonObject[] => {
  for (const element of list) if (asRecord(element) === undefined) return false;
  return true;
};

/** The list's elements as records; what is no record reads as an empty one. */
export const recordsAt = (of: Holder, name: string): readonly JsonObject[] => {
  const list = listAt(of, name);
  return isRecordList(list) ? list : list.map((element) => asRecord(element) ?? {});
};

const isTextList = (list: readonly JsonValue[]): list is readonly string[] => {
  for (const element of list) if (typeof element !== 'string') return false;
  return true;
};

export const textsAt = (of: Holder, name: string): readonly string[] => {
  const list = listAt(of, name);
  return isTextList(list) ? list : list.map(asText);
};

/** Keys and values of a map. */
export const entriesAt = (of: Holder, name: string): readonly (readonly [string, JsonValue])[] =>
  Object.entries(recordAt(of, name) ?? {}).map(([key, value]) => [key, value ?? null]);

/** The value at a path of names; undefined where something on the way is absent. */
export function valueIn(of: Holder, path: readonly string[]): Value {
  let value: Value = of;
  for (const name of path) value = valueAt(asRecord(value), name);
  return value;
}

/** A member of a member: `recordIn(pod, 'spec', 'securityContext')`. */
export function recordIn(of: Holder, ...path: readonly string[]): JsonObject | undefined {
  let value: JsonObject | undefined = of;
  for (const name of path) value = recordAt(value, name);
  return value;
}
