// JSON of unknown type as values, wrapped on access: nothing is copied or converted before an
// expression looks at it.
import { RawJson } from '../../api/raw-json.ts';
import { CelError, Double, toInt } from './value.ts';
import type { ListValue, MapValue, Value } from './value.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** A JSON object as a map with text keys. */
class JsonMap implements MapValue {
  readonly kind = 'map';
  readonly raw: JsonObject;
  #keys: readonly string[] | undefined;

  constructor(raw: JsonObject) {
    this.raw = raw;
  }

  size(): number {
    return this.#keyList().length;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.raw, key)) return undefined;
    const value = this.raw[key];
    return value === undefined ? undefined : dynamicValue(value);
  }

  keys(): Iterable<Value> {
    return this.#keyList();
  }

  #keyList(): readonly string[] {
    this.#keys ??= Object.keys(this.raw).filter((key) => this.raw[key] !== undefined);
    return this.#keys;
  }
}

/** A JSON array as a list. */
class JsonList implements ListValue {
  readonly kind = 'list';
  readonly raw: readonly unknown[];
  constructor(raw: readonly unknown[]) {
    this.raw = raw;
  }
  size(): number {
    return this.raw.length;
  }
  get(index: number): Value {
    return dynamicValue(this.raw[index] ?? null);
  }
}

/** A number of JSON: an int when it is whole, else a double. */
function jsonNumber(value: number): Value {
  if (Number.isSafeInteger(value)) return value + 0;
  return new Double(value);
}

/** Any JSON as a value; what is a value already stays one. */
export function dynamicValue(raw: unknown): Value {
  switch (typeof raw) {
    case 'string':
    case 'boolean':
      return raw;
    case 'number':
      return jsonNumber(raw);
    case 'bigint':
      return toInt(raw);
    case 'object':
      return raw === null ? null : dynamicObject(raw);
    default:
      return new CelError(`unsupported type: ${typeof raw}`);
  }
}

function dynamicObject(raw: object): Value {
  if (Array.isArray(raw)) return new JsonList(raw);
  if (raw instanceof RawJson) return dynamicValue(raw.value);
  if (isValueObject(raw)) return raw;
  return new JsonMap(raw as JsonObject);
}

// Values are instances of classes; JSON consists of plain objects.
function isValueObject(
  raw: object,
): raw is Exclude<Value, boolean | number | bigint | string | null> {
  const prototype = Object.getPrototypeOf(raw) as object | null;
  return prototype !== null && Object.getPrototypeOf(prototype) !== null;
}
