// The values an expression computes with. Scalars are JavaScript scalars where those are exact; the
// rest are small tagged objects. An error is a value too (`CelError`): `&&`, `||` and the macros
// may absorb it.

/**
 * A CEL int: a `number` when it is a safe integer, otherwise a `bigint`. Always canonical, so `===`
 * is equality.
 */
export type Int = number | bigint;

/**
 * A CEL double. Boxed, because plain numbers are ints (by far the more frequent of the two in
 * rules).
 */
export class Double {
  readonly kind = 'double';
  readonly value: number;
  constructor(value: number) {
    this.value = value;
  }
}

/** A CEL uint, 0 to 2^64-1. */
export class Uint {
  readonly kind = 'uint';
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

/** A point in time: whole seconds since the epoch (floor) and nanoseconds within the second. */
export class Timestamp {
  readonly kind = 'timestamp';
  readonly seconds: number;
  readonly nanos: number;
  /** East of UTC, in which it was written: it is shown and read so. No part of its identity. */
  readonly offsetSeconds: number;
  constructor(seconds: number, nanos: number, offsetSeconds = 0) {
    this.seconds = seconds;
    this.nanos = nanos;
    this.offsetSeconds = offsetSeconds;
  }
}

/** A signed number of nanoseconds that fits into 64 bits. */
export class Duration {
  readonly kind = 'duration';
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A type as a value: what `type(x)` returns. */
export class TypeValue {
  readonly kind = 'type';
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** `optional.of(x)`, or `optional.none()` when `value` is undefined. */
export class OptionalValue {
  readonly kind = 'optional';
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    this.value = value;
  }
}

/** A failed evaluation as a value. The text is what the author of the expression reads. */
export class CelError {
  readonly kind = 'error';
  readonly message: string;
  constructor(message: string) {
    this.message = message;
  }
}

/** A sequence. Elements may be converted on access, so keep what `get` returned. */
export interface ListValue {
  readonly kind: 'list';
  size(): number;
  /** `index` is within bounds. */
  get(index: number): Value;
  /**
   * Equality, when the list has rules of its own (sets, keyed lists). `undefined`: element by
   * element.
   */
  equals?(other: Value): Value;
  /** Concatenation, when the list has rules of its own. */
  plus?(other: Value): Value;
  /**
   * True for lists wrapped from schema-typed JSON: comparing them with another kind is an error,
   * not false.
   */
  readonly isTyped?: boolean;
}

/** A map, or an object with declared fields. */
export interface MapValue {
  readonly kind: 'map';
  size(): number;
  /** The value at `key`, or undefined. An error value when `key` cannot be a key. */
  find(key: Value): Value | undefined;
  keys(): Iterable<Value>;
  /** Equality, when the map has rules of its own. */
  equals?(other: Value): Value;
  /**
   * Of objects with declared fields over JSON: code that selects a field finds it in the shape once
   * for all of them.
   */
  readonly shape?: RecordShape;
  readonly raw?: Readonly<Record<string, unknown>>;
  /** The name that `type()` gives; absent: `map`. */
  readonly typeName?: string;
  readonly isTyped?: boolean;
}

/** The declared fields of objects that wrap JSON, by identifier. */
export interface RecordShape {
  readonly fields: ReadonlyMap<string, RecordField>;
}

export interface RecordField {
  /** The name in the JSON. */
  readonly name: string;
  /** The name is also one of every JavaScript object: only an own property counts. */
  readonly isInherited: boolean;
  wrap(raw: unknown): Value;
}

/** The value of a field; undefined when it is absent or null. */
export function readField(
  raw: Readonly<Record<string, unknown>>,
  field: RecordField,
): Value | undefined {
  if (field.isInherited && !Object.hasOwn(raw, field.name)) return undefined;
  const value = raw[field.name];
  return value === null || value === undefined ? undefined : field.wrap(value);
}

/** A value of a library's own type: a quantity, an address, an authorizer. */
export interface OpaqueValue {
  readonly kind: 'opaque';
  readonly typeName: string;
  equals(other: OpaqueValue): boolean;
  /** What `string(x)` gives where the library declares it, and what error texts show. */
  toText(): string;
  /** What `size` means for costs; absent: 1. */
  readonly costSize?: number;
}

export type ObjectValue =
  | Double
  | Uint
  | Timestamp
  | Duration
  | TypeValue
  | OptionalValue
  | CelError
  | ListValue
  | MapValue
  | OpaqueValue;

export type Value = boolean | Int | string | null | Uint8Array | ObjectValue;

export type ValueKind = 'bool' | 'int' | 'string' | 'null' | 'bytes' | ObjectValue['kind'];

export const optionalNone = new OptionalValue(undefined);

/** The kind of any value, one word for each CEL type. */
export function kindOf(value: Value): ValueKind {
  switch (typeof value) {
    case 'boolean':
      return 'bool';
    case 'number':
    case 'bigint':
      return 'int';
    case 'string':
      return 'string';
    default:
      if (value === null) return 'null';
      return value instanceof Uint8Array ? 'bytes' : value.kind;
  }
}

/**
 * Bytes have no kind: reading it gives undefined, which is cheaper than asking whether it is there.
 */
interface Tagged {
  readonly kind?: string;
}

export function isError(value: Value): value is CelError {
  return value instanceof CelError;
}

export function isList(value: Value | undefined): value is ListValue {
  return typeof value === 'object' && value !== null && (value as Tagged).kind === 'list';
}

export function isMap(value: Value | undefined): value is MapValue {
  return typeof value === 'object' && value !== null && (value as Tagged).kind === 'map';
}

export function isOpaque(value: Value | undefined): value is OpaqueValue {
  return typeof value === 'object' && value !== null && (value as Tagged).kind === 'opaque';
}

const typeNames: Readonly<Record<ValueKind, string>> = {
  bool: 'bool',
  int: 'int',
  string: 'string',
  null: 'null_type',
  bytes: 'bytes',
  double: 'double',
  uint: 'uint',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
  type: 'type',
  optional: 'optional_type',
  error: 'error',
  list: 'list',
  map: 'map',
  opaque: 'opaque',
};

/** The name of a value's type at run time, as `type(x)` shows it. */
export function typeNameOf(value: Value): string {
  const kind = kindOf(value);
  if (kind === 'opaque' && isOpaque(value)) return value.typeName;
  if (kind === 'map' && isMap(value)) return value.typeName ?? 'map';
  return typeNames[kind];
}

/** The type with its parameters at run time, as error texts show it: `map(dyn, dyn)`. */
export function typeTextOf(value: Value): string {
  const name = typeNameOf(value);
  if (name === 'map') return 'map(dyn, dyn)';
  if (name === 'list') return 'list(dyn)';
  if (name === 'optional_type') return 'optional_type(dyn)';
  return name;
}

export const intMin = -(2n ** 63n);
export const intMax = 2n ** 63n - 1n;
export const uintMax = 2n ** 64n - 1n;

/** The canonical form of an integer within 64 bits. */
export function toInt(value: bigint): Int {
  return value >= -9007199254740991n && value <= 9007199254740991n ? Number(value) : value;
}

/** Code points of a string: the CEL size of it. A lone surrogate counts as one. */
export function codePointCount(text: string): number {
  const { length } = text;
  for (let index = 0; index < length; index++) {
    if (text.charCodeAt(index) >= 0xd800) return countWithPairs(text, index);
  }
  return length;
}

function countWithPairs(text: string, from: number): number {
  let count = text.length;
  for (let index = from; index < text.length - 1; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0xd800 || unit >= 0xdc00) continue;
    const next = text.charCodeAt(index + 1);
    if (next >= 0xdc00 && next < 0xe000) {
      count--;
      index++;
    }
  }
  return count;
}

/** The size that costs are counted with: CEL's size() where a value has one, else 1. */
export function costSizeOf(value: Value): number {
  if (typeof value === 'string') return codePointCount(value);
  if (typeof value !== 'object' || value === null) return 1;
  if (value instanceof Uint8Array) return value.length;
  if (value.kind === 'list' || value.kind === 'map') return value.size();
  if (value.kind === 'opaque') return value.costSize ?? 1;
  return 1;
}

/** A list over an array that nobody changes any more. */
export class ArrayList implements ListValue {
  readonly kind = 'list';
  readonly items: readonly Value[];
  constructor(items: readonly Value[]) {
    this.items = items;
  }
  size(): number {
    return this.items.length;
  }
  get(index: number): Value {
    return this.items[index] as Value;
  }
}

/** Two lists as one, joined when an element is first looked at. */
export class ConcatList implements ListValue {
  readonly kind = 'list';
  readonly #size: number;
  #parts: readonly [ListValue, ListValue] | undefined;
  #items: readonly Value[] | undefined;
  constructor(left: ListValue, right: ListValue) {
    this.#parts = [left, right];
    this.#size = left.size() + right.size();
  }
  get items(): readonly Value[] {
    const parts = this.#parts;
    if (parts === undefined) return this.#items ?? [];
    this.#parts = undefined;
    return (this.#items = parts.flatMap((part) => listItems(part)));
  }
  size(): number {
    return this.#size;
  }
  get(index: number): Value {
    return this.items[index] as Value;
  }
}

export const emptyList = new ArrayList([]);

/** Every element of a list, converted once. */
export function listItems(list: ListValue): readonly Value[] {
  if (list instanceof ArrayList || list instanceof ConcatList) return list.items;
  const items: Value[] = [];
  const size = list.size();
  for (let index = 0; index < size; index++) items.push(list.get(index));
  return items;
}
