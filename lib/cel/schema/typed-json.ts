// JSON of a declared type as values: wrapped on access, never converted as a whole. Lists of sets
// and of keyed items compare and add by their rules.
import { goType } from '../../api/go-text.ts';
import { jsonEqual } from '../../api/json-value.ts';
import type { JsonValue, TypeInfo, ValueInfo } from '../../api/type-info.ts';
import { elementOf } from '../../api/value-info.ts';
import { dynamicValue } from '../model/json-value.ts';
import { CelError, Double, toInt } from '../model/value.ts';
import type { MapValue, RecordField, RecordShape, Value } from '../model/value.ts';
import { isError, isMap, readField, typeNameOf } from '../model/value.ts';
import { equalValues, noSuchOverload } from '../model/equality.ts';
import { escapeName, isReservedWord } from './escaping.ts';
import { membersOf } from './members.ts';
import { formOf } from './value-form.ts';
import type { ScalarForm } from './value-form.ts';
import { bytesValue, dateTimeValue, dateValue, durationValue } from '../model/text-formats.ts';
import { TypedList, KeyedList, SetList } from './typed-lists.ts';

/** Makes a value of JSON. */
export type Wrap = (raw: unknown) => Value;

type JsonObject = Readonly<Record<string, unknown>>;

const wraps = new WeakMap<ValueInfo, Wrap>();

/** The wrapping of a value; made once. */
export function wrapFor(value: ValueInfo): Wrap {
  const known = wraps.get(value);
  if (known !== undefined) return known;
  const inner = wrapNonNull(value);
  const isNullable = value.nullable === true || value.schema === undefined;
  const wrap: Wrap = (raw) => {
    if (raw !== null && raw !== undefined) return inner(raw);
    if (isNullable) return null;
    return new CelError('invalid data, got null for schema with nullable=false');
  };
  wraps.set(value, wrap);
  return wrap;
}

function wrapNonNull(value: ValueInfo): Wrap {
  const form = formOf(value);
  switch (form.kind) {
    case 'scalar':
      return scalarWraps[form.form];
    case 'object':
      return wrapWith({ isObject: true, fields: fieldsOf(form.type), values: undefined });
    case 'map': {
      const values = elementOf(form.of);
      return wrapWith({
        isObject: false,
        fields: new Map(),
        values: values && wrapFor(values),
      });
    }
    case 'list':
      return listWrap(form.of);
    case 'opaque':
      return value.schema?.preservesUnknownFields === true
        ? (raw) => new UnknownValue(raw)
        : () => wrongType(value.schema?.type ?? '');
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
  new CelError(`invalid data, expected ${wanted}, got ${goType(raw as JsonValue)}`);

const wrongType = (type: string): CelError =>
  new CelError(
    'invalid type, expected object, array, number, integer, boolean or string, or no type with ' +
      `x-int-or-string or x-preserve-unknown-fields is true, got ${type}`,
  );

function parsed(name: string, parse: (text: string) => Value | undefined): Wrap {
  return (raw) => {
    if (typeof raw !== 'string') return wrongData('string', raw);
    return parse(raw) ?? new CelError(`Invalid ${name} ${raw}`);
  };
}

const scalarWraps: Readonly<Record<ScalarForm, Wrap>> = {
  any: dynamicValue,
  boolean: (raw) => (typeof raw === 'boolean' ? raw : wrongData('bool', raw)),
  bytes: parsed('byte formatted string', bytesValue),
  date: parsed('date formatted string', dateValue),
  dateTime: parsed('date-time formatted string', dateTimeValue),
  double: (raw) => (isNumber(raw) ? new Double(Number(raw)) : wrongData('float', raw)),
  duration: parsed('duration', durationValue),
  integer,
  intOrString,
  string: (raw) => (typeof raw === 'string' ? raw : wrongData('string', raw)),
};

function wrapWith(shape: ObjectShape): Wrap {
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
  readonly value: ValueInfo;
  wrap: Wrap;
  constructor(name: string, identifier: string, value: ValueInfo) {
    this.value = value;
    this.name = name;
    this.identifier = identifier;
    this.isInherited = name in Object.prototype;
    this.wrap = (raw) => {
      this.wrap = wrapNonNull(value);
      return this.wrap(raw);
    };
  }
}

function fieldsOf(type: TypeInfo): ReadonlyMap<string, TypedField> {
  const fields = new Map<string, TypedField>();
  for (const { name, value } of membersOf(type)) {
    const identifier = escapeName(name) ?? name;
    const field = new TypedField(name, identifier, value);
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
    const wrap = field === undefined ? values : wrapFor(field.value);
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

function listWrap(list: ValueInfo): Wrap {
  const element = elementOf(list);
  if (element === undefined) {
    return () => new CelError('invalid array type, expected Items with a non-empty Schema');
  }
  const wrapItem = wrapFor(element);
  return (raw) => {
    if (!Array.isArray(raw)) {
      return new CelError(
        'invalid data, expected an array for the provided schema with type=array',
      );
    }
    switch (list.listType) {
      case 'set':
        return new SetList(raw, wrapItem);
      case 'map':
        return new KeyedList(raw, wrapItem, list.listMapKeys);
      default:
        return new TypedList(raw, wrapItem);
    }
  };
}
