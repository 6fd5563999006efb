// JSON of a declared schema as values: wrapped on access, never converted as a whole. Lists of sets
// and of keyed items compare and add by their rules.
import { jsonEqual } from '../../api/json-value.ts';
import { CelError, Double, toInt } from '../model/value.ts';
import type { MapValue, RecordField, RecordShape, Value } from '../model/value.ts';
import { isError, isMap, readField, typeNameOf } from '../model/value.ts';
import { equalValues, noSuchOverload } from '../model/equality.ts';
import { escapeName, isReservedWord } from './escaping.ts';
import { withTypeAndObjectMeta } from './structural.ts';
import type { StructuralSchema } from './structural.ts';
import { bytesValue, dateTimeValue, dateValue, durationValue } from '../model/text-formats.ts';
import { TypedList, KeyedList, SetList } from './typed-lists.ts';

/** Makes a value of JSON. */
export type Wrap = (raw: unknown) => Value;

type JsonObject = Readonly<Record<string, unknown>>;

const wraps = new WeakMap<StructuralSchema, Wrap>();

/** The wrapping of a schema; made once. */
export function wrapFor(schema: StructuralSchema): Wrap {
  const known = wraps.get(schema);
  if (known !== undefined) return known;
  const inner = wrapNonNull(schema);
  const wrap: Wrap = (raw) => (raw === null || raw === undefined ? nullOf(schema) : inner(raw));
  wraps.set(schema, wrap);
  return wrap;
}

function nullOf(schema: StructuralSchema): Value {
  return schema.nullable
    ? null
    : new CelError('invalid data, got null for schema with nullable=false');
}

function wrapNonNull(schema: StructuralSchema): Wrap {
  if (schema.isIntOrString) return intOrString;
  switch (schema.type) {
    case 'object':
      return objectWrap(schema);
    case 'array':
      return arrayWrap(schema);
    case 'string':
      return textWrap(schema.format);
    case 'number':
      return (raw) => (isNumber(raw) ? new Double(Number(raw)) : wrongData('float', raw));
    case 'integer':
      return integer;
    case 'boolean':
      return (raw) => (typeof raw === 'boolean' ? raw : wrongData('bool', raw));
    default:
      return schema.preservesUnknownFields
        ? (raw) => new UnknownValue(raw)
        : () => wrongType(schema.type);
  }
}

const isNumber = (raw: unknown): raw is number | bigint =>
  typeof raw === 'number' || typeof raw === 'bigint';

const integer: Wrap = (raw) => {
  if (typeof raw === 'number' && Number.isInteger(raw)) return raw + 0;
  return typeof raw === 'bigint' ? toInt(raw) : wrongData('int', raw);
};

const intOrString: Wrap = (raw) => {
  if (typeof raw === 'string') return raw;
  if (isNumber(raw)) return integer(raw);
  return new CelError('invalid data, expected XIntOrString value to be either a string or integer');
};

const wrongData = (wanted: string, raw: unknown): CelError =>
  new CelError(`invalid data, expected ${wanted}, got ${goTypeOf(raw)}`);

// Error texts name the reference implementation's own types.
function goTypeOf(raw: unknown): string {
  switch (typeof raw) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'bool';
    case 'bigint':
      return 'int64';
    case 'number':
      return Number.isInteger(raw) ? 'int64' : 'float64';
    default:
      return Array.isArray(raw) ? '[]interface {}' : 'map[string]interface {}';
  }
}

const wrongType = (type: string): CelError =>
  new CelError(
    'invalid type, expected object, array, number, integer, boolean or string, or no type with ' +
      `x-int-or-string or x-preserve-unknown-fields is true, got ${type}`,
  );

function textWrap(format: string): Wrap {
  const parsed =
    (name: string, parse: (text: string) => Value | undefined): Wrap =>
    (raw) => {
      if (typeof raw !== 'string') return wrongData('string', raw);
      return parse(raw) ?? new CelError(`Invalid ${name} ${raw}`);
    };
  switch (format) {
    case 'duration':
      return parsed('duration', durationValue);
    case 'date':
      return parsed('date formatted string', dateValue);
    case 'date-time':
      return parsed('date-time formatted string', dateTimeValue);
    case 'byte':
      return parsed('byte formatted string', bytesValue);
    default:
      return (raw) => (typeof raw === 'string' ? raw : wrongData('string', raw));
  }
}

function objectWrap(schema: StructuralSchema): Wrap {
  const node = schema.isEmbeddedResource ? withTypeAndObjectMeta(schema) : schema;
  const { properties, additionalProperties } = node;
  const isObject = properties !== undefined;
  const shape: ObjectShape = {
    isObject,
    fields: fieldsOf(node),
    values:
      isObject || additionalProperties === undefined ? undefined : wrapFor(additionalProperties),
  };
  return (raw) => {
    if (typeof raw !== 'object' || Array.isArray(raw)) {
      return new CelError('invalid data, expected a map for the provided schema with type=object');
    }
    return new TypedObject(raw as JsonObject, shape);
  };
}

interface ObjectShape extends RecordShape {
  /** Declared fields; otherwise a map. */
  readonly isObject: boolean;
  readonly fields: ReadonlyMap<string, TypedField>;
  /** Wrapping of the values of a map. */
  readonly values: Wrap | undefined;
}

/** A declared field. Schemas may be deep: the wrapping is made when it is first needed. */
class TypedField implements RecordField {
  readonly name: string;
  readonly identifier: string;
  readonly isInherited: boolean;
  readonly schema: StructuralSchema;
  wrap: Wrap;
  constructor(name: string, identifier: string, schema: StructuralSchema) {
    this.schema = schema;
    this.name = name;
    this.identifier = identifier;
    this.isInherited = name in Object.prototype;
    this.wrap = (raw) => {
      this.wrap = wrapNonNull(schema);
      return this.wrap(raw);
    };
  }
}

function fieldsOf(schema: StructuralSchema): ReadonlyMap<string, TypedField> {
  const fields = new Map<string, TypedField>();
  for (const [name, property] of schema.properties ?? []) {
    const identifier = escapeName(name) ?? name;
    const field = new TypedField(name, identifier, property);
    fields.set(identifier, field);
    if (identifier === `__${name}__` && isReservedWord(name)) fields.set(name, field);
  }
  return fields;
}

/** An object with declared fields, or a map from texts. Null fields of objects count as absent. */
class TypedObject implements MapValue {
  readonly kind = 'map';
  readonly isTyped = true;
  readonly raw: JsonObject;
  readonly shape: ObjectShape;

  constructor(raw: JsonObject, shape: ObjectShape) {
    this.raw = raw;
    this.shape = shape;
  }

  size(): number {
    return Object.keys(this.raw).length;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string') return noSuchOverload(key);
    const { isObject, fields, values } = this.shape;
    if (!isObject) {
      if (values === undefined || !Object.hasOwn(this.raw, key)) return undefined;
      return values(this.raw[key]);
    }
    const field = fields.get(key);
    return field === undefined ? undefined : readField(this.raw, field);
  }

  *keys(): Iterable<Value> {
    const { isObject, fields } = this.shape;
    for (const key of Object.keys(this.raw)) {
      const identifier = isObject ? (escapeName(key) ?? key) : key;
      if (!isObject || fields.has(identifier)) yield identifier;
    }
  }

  equals(other: Value): Value {
    if (!isMap(other)) return noSuchOverload(other);
    if (this.size() !== other.size()) return false;
    for (const key of Object.keys(this.raw)) {
      const equal = this.#equalEntry(key, other);
      if (equal !== true) return equal;
    }
    return true;
  }

  #equalEntry(key: string, other: MapValue): Value {
    const { isObject, fields, values } = this.shape;
    const field = isObject ? fields.get(escapeName(key) ?? key) : undefined;
    const wrap = field === undefined ? values : wrapFor(field.schema);
    if (wrap === undefined) {
      // Unknown fields are compared as JSON.
      if (!(other instanceof TypedObject)) return false;
      return !Object.hasOwn(other.raw, key) || jsonEqual(this.raw[key], other.raw[key]);
    }
    const theirs = other.find(field?.identifier ?? key);
    if (theirs === undefined) return false;
    return isError(theirs) ? theirs : equalValues(wrap(this.raw[key]), theirs);
  }
}

/** A value of no known type: it can only be compared. */
class UnknownValue {
  readonly kind = 'opaque';
  readonly typeName = 'unknownPreserved';
  readonly raw: unknown;
  constructor(raw: unknown) {
    this.raw = raw;
  }
  equals(other: { readonly kind: 'opaque' }): boolean {
    return other instanceof UnknownValue && jsonEqual(this.raw, other.raw);
  }
  toText(): string {
    return typeNameOf(JSON.stringify(this.raw));
  }
}

function arrayWrap(schema: StructuralSchema): Wrap {
  const { items } = schema;
  if (items === undefined) {
    return () => new CelError('invalid array type, expected Items with a non-empty Schema');
  }
  const wrapItem = wrapFor(items);
  return (raw) => {
    if (!Array.isArray(raw)) {
      return new CelError(
        'invalid data, expected an array for the provided schema with type=array',
      );
    }
    switch (schema.listType) {
      case 'set':
        return new SetList(raw, wrapItem);
      case 'map':
        return new KeyedList(raw, wrapItem, schema.listMapKeys);
      default:
        return new TypedList(raw, wrapItem);
    }
  };
}
