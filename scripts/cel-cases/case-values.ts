// Values of case files: bindings with their markers in, typed results out, and the comparison of
// the two.
import type { CelType } from '../../lib/cel/model/cel-type.ts';
import { HashMap } from '../../lib/cel/model/map-value.ts';
import { formatDouble } from '../../lib/cel/model/number-text.ts';
import {
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
} from '../../lib/cel/model/time.ts';
import {
  ArrayList,
  Double,
  Duration,
  OptionalValue,
  Timestamp,
  TypeValue,
  Uint,
  isList,
  isMap,
  listItems,
  toInt,
} from '../../lib/cel/model/value.ts';
import type { Value } from '../../lib/cel/model/value.ts';
import { dynamicValue } from '../../lib/cel/model/json-value.ts';

export type Json =
  null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonRecord = { readonly [key: string]: Json };

/** A member that is a text; empty where it is none. */
export const textOf = (json: Json | undefined): string => (typeof json === 'string' ? json : '');

export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value of a marker such as `{"$int": "…"}`; undefined: it is none. */
function marked(value: JsonRecord): Value | undefined {
  const [[key, text] = []] = Object.entries(value);
  if (typeof text !== 'string') return undefined;
  switch (key) {
    case '$int':
      return toInt(BigInt(text));
    case '$uint':
      return new Uint(BigInt(text));
    case '$double':
      return new Double(doubleOf(text));
    case '$bytes':
      return Buffer.from(text, 'base64');
    case '$timestamp':
      return parseTimestamp(text);
    case '$duration':
      return parseDuration(text);
    default:
      return undefined;
  }
}

function doubleOf(text: string): number {
  if (text === '+Inf') return Infinity;
  return text === '-Inf' ? -Infinity : Number(text);
}

/** JSON of an object: markers become what JSON parsing of the original would give. */
export function plainJson(value: Json): unknown {
  if (Array.isArray(value)) return value.map(plainJson);
  if (!isRecord(value)) return value;
  const special = marked(value);
  if (special instanceof Double) return special.value;
  if (special !== undefined) return special;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainJson(inner)]));
}

/** A binding as a value of its declared type. */
export function bindingValue(value: Json, type: CelType): Value {
  if (Array.isArray(value)) {
    const element = type.params[0];
    return new ArrayList(value.map((item: Json) => bindingValue(item, element ?? type)));
  }
  if (isRecord(value)) {
    const special = marked(value);
    if (special !== undefined) return special;
    const map = new HashMap();
    for (const [key, inner] of Object.entries(value)) {
      map.set(keyOf(key, type.params[0]), bindingValue(inner, type.params[1] ?? type));
    }
    return map;
  }
  if (typeof value === 'number' && type.kind === 'uint') return new Uint(BigInt(value));
  if (typeof value === 'number' && type.kind === 'double') return new Double(value);
  return dynamicValue(value);
}

function keyOf(key: string, type: CelType | undefined): Value {
  switch (type?.kind) {
    case 'int':
      return toInt(BigInt(key));
    case 'uint':
      return new Uint(BigInt(key));
    case 'bool':
      return key === 'true';
    default:
      return key;
  }
}

interface TypedValue {
  readonly type: string;
  readonly value: Json;
}

/** A result in the form of the case files. */
export function typedValue(value: Value): TypedValue {
  if (value === null) return { type: 'null_type', value: null };
  switch (typeof value) {
    case 'boolean':
      return { type: 'bool', value };
    case 'number':
    case 'bigint':
      return { type: 'int', value: String(value) };
    case 'string':
      return { type: 'string', value };
    default:
      return objectValue(value);
  }
}

function objectValue(value: Exclude<Value, null | boolean | number | bigint | string>): TypedValue {
  if (value instanceof Uint8Array)
    return { type: 'bytes', value: Buffer.from(value).toString('base64') };
  if (value instanceof Uint) return { type: 'uint', value: String(value.value) };
  if (value instanceof Double) return { type: 'double', value: formatDouble(value.value) };
  if (value instanceof Timestamp) return { type: 'timestamp', value: formatTimestamp(value) };
  if (value instanceof Duration) return { type: 'duration', value: formatDuration(value) };
  if (value instanceof TypeValue) return { type: 'type', value: value.name };
  if (value instanceof OptionalValue) {
    return {
      type: 'optional_type',
      value: value.value === undefined ? null : asJson(typedValue(value.value)),
    };
  }
  if (isList(value)) {
    return { type: 'list', value: listItems(value).map((item) => asJson(typedValue(item))) };
  }
  if (isMap(value)) {
    const pairs = [...value.keys()].map((key) => [
      asJson(typedValue(key)),
      asJson(typedValue(value.find(key) ?? null)),
    ]);
    return { type: 'map', value: pairs };
  }
  if (value.kind === 'opaque') return { type: value.typeName, value: value.toText() };
  return { type: 'error', value: value.kind };
}

const asJson = (value: TypedValue): Json => ({ type: value.type, value: value.value });

/** Whether two typed values are the same; pairs of maps in any order, doubles as numbers. */
export function sameTyped(left: Json, right: Json): boolean {
  if (!isRecord(left) || !isRecord(right) || left['type'] !== right['type']) return false;
  const [a, b] = [left['value'] ?? null, right['value'] ?? null];
  switch (left['type']) {
    case 'double':
      return Object.is(doubleOf(textOf(a)), doubleOf(textOf(b)));
    case 'timestamp':
      return sameTime(textOf(a), textOf(b));
    case 'duration':
      return parseDuration(textOf(a))?.nanos === parseDuration(textOf(b))?.nanos;
    case 'list':
      return sameItems(a, b);
    case 'map':
      return samePairs(a, b);
    case 'optional_type':
      return a === null || b === null ? a === b : sameTyped(a, b);
    default:
      return a === b;
  }
}

function sameTime(left: string, right: string): boolean {
  const [a, b] = [parseTimestamp(left), parseTimestamp(right)];
  return a !== undefined && a.seconds === b?.seconds && a.nanos === b.nanos;
}

function sameItems(left: Json, right: Json): boolean {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
  const others: readonly Json[] = right;
  return left.every((item: Json, index) => sameTyped(item, others[index] ?? null));
}

function samePairs(left: Json, right: Json): boolean {
  if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
  const rest = [...(right as readonly Json[])];
  return left.every((pair: Json) => {
    const found = rest.findIndex(
      (other) =>
        Array.isArray(pair) &&
        Array.isArray(other) &&
        sameTyped(pair[0] as Json, other[0] as Json) &&
        sameTyped(pair[1] as Json, other[1] as Json),
    );
    if (found < 0) return false;
    rest.splice(found, 1);
    return true;
  });
}
