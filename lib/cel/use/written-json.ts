// What an expression has written, as JSON: what mutations make of an object. What JSON has no form
// for is an error of the expression.
import { setMember } from '../../api/json-value.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { formatDuration, formatTimestamp } from '../model/time.ts';
import {
  CelError,
  Double,
  Duration,
  OptionalValue,
  Timestamp,
  Uint,
  isList,
  isMap,
  typeNameOf,
} from '../model/value.ts';
import type { ListValue, MapValue, Value } from '../model/value.ts';
import { unescapeName } from '../schema/escaping.ts';
import { WrittenObject } from './mutation-types.ts';

/** The text is for the author of the expression. */
export class NotJson extends Error {}

/**
 * Shares what the expression took from its input: the result is not to be changed. Fields of
 * written objects that are null say nothing, and are left out. @throws NotJson
 */
export function writtenJson(value: Value): JsonValue {
  if (typeof value === 'string' || typeof value === 'number') return value;
  if (value === null || typeof value === 'boolean' || typeof value === 'bigint') return value;
  if (isMap(value)) return mapJson(value);
  if (isList(value)) return listJson(value);
  if (value instanceof Double) return finite(value.value);
  if (value instanceof Uint) {
    return value.value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value.value) : value.value;
  }
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (value instanceof OptionalValue) return writtenJson(value.value ?? null);
  if (value instanceof CelError) throw new NotJson(value.message);
  throw new NotJson(`a value of type ${typeNameOf(value)} cannot be written as JSON`);
}

function finite(value: number): number {
  if (Number.isFinite(value)) return value;
  throw new NotJson(`the number ${String(value)} cannot be written as JSON`);
}

const listJson = (list: ListValue): JsonValue => {
  const { raw } = list as Partial<Raw>;
  if (Array.isArray(raw)) return raw as readonly JsonValue[] as JsonValue;
  const size = list.size();
  const items: JsonValue[] = [];
  for (let at = 0; at < size; at += 1) items.push(writtenJson(list.get(at)));
  return items;
};

/** What wraps JSON has it. */
interface Raw {
  readonly raw: unknown;
}

function mapJson(map: MapValue): JsonValue {
  if (map.raw !== undefined) return map.raw as JsonObject;
  const isObject = map instanceof WrittenObject;
  const object: JsonObject = {};
  for (const key of map.keys()) {
    if (typeof key !== 'string') {
      throw new NotJson(`map key ${shownKey(key)} is of type ${typeNameOf(key)}, not string`);
    }
    const value = map.find(key);
    if (value === undefined || (isObject && value === null)) continue;
    setMember(object, isObject ? (unescapeName(key) ?? key) : key, writtenJson(value));
  }
  return object;
}

const shownKey = (key: Value): string =>
  typeof key === 'number' || typeof key === 'bigint' || typeof key === 'boolean'
    ? String(key)
    : typeNameOf(key);
