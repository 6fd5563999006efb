// From a canonical object to Protobuf fields, by closures compiled once per TypeInfo: numbers
// ascending, map keys sorted, scalars and messages without a pointer always written. Kind and
// apiVersion are the envelope's.
import { fieldSetText } from '../api/field-set-json.ts';
import { isObject } from '../api/json-value.ts';
import type protobuf from 'protobufjs/minimal.js';
import { RawJson } from '../api/raw-json.ts';
import { isAbsent } from '../api/presence.ts';
import type { FieldInfo, JsonObject, JsonValue, ScalarType, TypeInfo } from '../api/type-info.ts';
import { invariant } from '../base/invariant.ts';
import { sortUtf8 } from '../base/utf8-order.ts';
import { stringify } from './json.ts';
import { parseDuration } from './value-forms.ts';

export type WireWriter = protobuf.Writer;
/** Writes a value whose key and length are written by others. */
type WriteValue = (writer: WireWriter, value: JsonValue) => void;
/** Writes a field of a message with its key, or nothing. */
type WriteField = (writer: WireWriter, message: JsonObject) => void;

export const varintWire = 0;
export const fixed64Wire = 1;
export const lengthWire = 2;
export const keyOf = (number: number, wire: number): number => ((number << 3) | wire) >>> 0;

interface Message {
  /** In ascending order of their numbers. */
  readonly fields: readonly WriteField[];
}
const messages = new WeakMap<TypeInfo, Message>();

/** Fields of `object`, which is canonical, one after the other. */
export function writeMessage(
  writer: WireWriter,
  object: Readonly<JsonObject>,
  type: TypeInfo,
): void {
  writeFields(writer, object, messageOf(type));
}

function writeFields(writer: WireWriter, object: JsonObject, { fields }: Message): void {
  for (const write of fields) write(writer, object);
}

function messageOf(type: TypeInfo): Message {
  const known = messages.get(type);
  if (known !== undefined) return known;
  const fields: WriteField[] = [];
  const message: Message = { fields };
  messages.set(type, message); // Before its fields: types may hold themselves.
  const numbered = type.fields.filter(({ number }) => number > 0);
  for (const field of numbered.sort((one, other) => one.number - other.number)) {
    fields.push(fieldWriter(field));
  }
  return message;
}

function fieldWriter(field: FieldInfo): WriteField {
  if (field.jsonName === '') return inlineWriter(field);
  switch (field.cardinality) {
    case 'list':
      return listWriter(field);
    case 'map':
      return mapWriter(field);
    case 'single':
      return field.scalar === undefined ? messageWriter(field) : scalarFieldWriter(field);
  }
}

/** The message's fields stand in the same JSON object. */
function inlineWriter({ number, message }: FieldInfo): WriteField {
  invariant(message !== undefined, 'an inlined field is a message');
  const inner = messageOf(message);
  const key = keyOf(number, lengthWire);
  return (writer, object) => {
    writer.uint32(key).fork();
    writeFields(writer, object, inner);
    writer.ldelim();
  };
}

function scalarFieldWriter({ number, scalar, jsonName, pointer }: FieldInfo): WriteField {
  invariant(scalar !== undefined, 'the field is a scalar');
  const { wire, write, unset } = scalarWriters[scalar];
  const key = keyOf(number, wire);
  const absent = pointer ? undefined : unset;
  return (writer, object) => {
    const value = object[jsonName] ?? absent;
    if (value === undefined) return;
    writer.uint32(key);
    write(writer, value);
  };
}

function messageWriter(field: FieldInfo): WriteField {
  const { number, jsonName, pointer, message } = field;
  const write = elementWriter(field);
  const key = keyOf(number, lengthWire);
  const isOptional = pointer || message?.isNamedList === true;
  return (writer, object) => {
    const value = object[jsonName];
    if (isAbsent(value)) {
      if (isOptional) return;
      writer.uint32(key).fork();
      write(writer, null);
    } else {
      writer.uint32(key).fork();
      write(writer, value);
    }
    writer.ldelim();
  };
}

function listWriter(field: FieldInfo): WriteField {
  const { number, jsonName, scalar } = field;
  if (scalar !== undefined) {
    const { wire, write, unset } = scalarWriters[scalar];
    const key = keyOf(number, wire);
    return (writer, object) => {
      const list = object[jsonName];
      if (!Array.isArray(list)) return;
      for (const value of list) {
        writer.uint32(key);
        write(writer, value ?? unset ?? '');
      }
    };
  }
  const write = elementWriter(field);
  const key = keyOf(number, lengthWire);
  return (writer, object) => {
    const list = object[jsonName];
    if (!Array.isArray(list)) return;
    for (const value of list) {
      writer.uint32(key).fork();
      write(writer, value);
      writer.ldelim();
    }
  };
}

const entryKey = keyOf(1, lengthWire);

function mapWriter(field: FieldInfo): WriteField {
  const { number, jsonName, scalar } = field;
  const key = keyOf(number, lengthWire);
  const writeValue =
    scalar === undefined ? entryMessage(elementWriter(field)) : entryScalar(scalar);
  return (writer, object) => {
    const map = object[jsonName];
    if (typeof map !== 'object' || map === null || Array.isArray(map)) return;
    for (const name of sortUtf8(Object.keys(map))) {
      writer.uint32(key).fork().uint32(entryKey).string(name);
      writeValue(writer, map[name] ?? null);
      writer.ldelim();
    }
  };
}

function entryScalar(scalar: ScalarType): WriteValue {
  const { wire, write, unset } = scalarWriters[scalar];
  const key = keyOf(2, wire);
  return (writer, value) => {
    const given = value ?? unset;
    if (given !== undefined) write(writer.uint32(key), given);
  };
}

function entryMessage(write: WriteValue): WriteValue {
  const key = keyOf(2, lengthWire);
  return (writer, value) => {
    writer.uint32(key).fork();
    write(writer, value);
    writer.ldelim();
  };
}

/** Writes the content of one message; null is its zero value. */
function elementWriter({ message }: FieldInfo): WriteValue {
  invariant(message !== undefined, 'a field is a scalar or a message');
  if (message.special !== undefined) return specialWriter(message);
  const inner = messageOf(message);
  const [only] = message.fields;
  if (message.isNamedList && only !== undefined) {
    return (writer, value) => {
      if (value !== null) writeFields(writer, { [only.jsonName]: value }, inner);
    };
  }
  const empty: JsonObject = {};
  return (writer, value) => writeFields(writer, isObject(value) ? value : empty, inner);
}

interface ScalarWriter {
  readonly wire: number;
  readonly write: WriteValue;
  /** What a field without a pointer writes when it is unset; undefined: nothing. */
  readonly unset: JsonValue | undefined;
}

const scalarWriters: Readonly<Record<ScalarType, ScalarWriter>> = {
  string: {
    wire: lengthWire,
    write: (writer, value) => void writer.string(value as string),
    unset: '',
  },
  bool: {
    wire: varintWire,
    write: (writer, value) => void writer.bool(value === true),
    unset: false,
  },
  int32: {
    wire: varintWire,
    write: (writer, value) => void writer.int32(value as number),
    unset: 0,
  },
  int64: { wire: varintWire, write: writeInt64, unset: 0 },
  double: {
    wire: fixed64Wire,
    // As JSON, which has no other zero.
    write: (writer, value) => void writer.double(Number(value) + 0),
    unset: 0,
  },
  bytes: {
    wire: lengthWire,
    write: (writer, value) => void writer.bytes(Buffer.from(value as string, 'base64')),
    unset: undefined,
  },
};

function writeInt64(writer: WireWriter, value: JsonValue): void {
  writer.int64(typeof value === 'bigint' ? value.toString() : (value as number));
}

/** Content of a message whose JSON is not its fields. */
function specialWriter(type: TypeInfo): WriteValue {
  switch (type.special) {
    case 'time':
    case 'timestamp':
    case 'microTime':
      return writeTime;
    case 'duration':
      return (writer, value) => {
        writer.uint32(keyOf(1, varintWire));
        writeInt64(writer, parseDuration(typeof value === 'string' ? value : '0s') ?? 0n);
      };
    case 'quantity':
      return (writer, value) =>
        void writer.uint32(keyOf(1, lengthWire)).string(typeof value === 'string' ? value : '0');
    case 'intOrString':
      return writeIntOrString;
    case 'fieldsV1':
      return (writer, value) => {
        if (value === null) return;
        const text = isObject(value) ? fieldSetText(value) : stringify(value);
        writer.uint32(keyOf(1, lengthWire)).string(text);
      };
    case 'rawExtension':
    case 'json':
      return (writer, value) => {
        if (value === null) return;
        const text = value instanceof RawJson ? value.text : stringify(value);
        writer.uint32(keyOf(1, lengthWire)).string(text);
      };
    case 'schemaOrBool':
    case 'schemaOrList':
    case 'schemaOrStrings':
      return unionWriter(type);
    case undefined:
      throw new Error(`${type.id} has no special form`);
  }
}

/** null, the zero time, has no fields. */
function writeTime(writer: WireWriter, value: JsonValue): void {
  if (typeof value !== 'string') return;
  const fraction = value.length > 20 ? value.slice(20, -1) : '';
  writer.uint32(keyOf(1, varintWire)).int64(Math.floor(Date.parse(value) / 1000));
  writer.uint32(keyOf(2, varintWire)).int32(Number(fraction.padEnd(9, '0')));
}

const stringType = 1;

function writeIntOrString(writer: WireWriter, value: JsonValue): void {
  const isText = typeof value === 'string';
  writer.uint32(keyOf(1, varintWire)).int32(isText ? stringType : 0);
  writer.uint32(keyOf(2, varintWire)).int32(typeof value === 'number' ? value : 0);
  writer.uint32(keyOf(3, lengthWire)).string(isText ? value : '');
}

/** A schema, or what may stand for one: true and false, a list of schemas, a list of names. */
function unionWriter(type: TypeInfo): WriteValue {
  const schema = type.fields.find(({ message }) => message !== undefined);
  const schemaType = schema?.message;
  const other = type.fields.find((field) => field !== schema);
  invariant(schema !== undefined && schemaType !== undefined, 'a union holds a schema');
  invariant(other !== undefined, 'a union holds another form');
  const inner = messageOf(schemaType);
  const schemaKey = keyOf(schema.number, lengthWire);
  const writeSchema: WriteValue = (writer, value) => {
    if (!isObject(value)) return;
    writer.uint32(schemaKey).fork();
    writeFields(writer, value, inner);
    writer.ldelim();
  };
  if (other.scalar === 'bool') {
    const key = keyOf(other.number, varintWire);
    return (writer, value) => {
      writer.uint32(key).bool(isObject(value) || value === true);
      writeSchema(writer, value);
    };
  }
  const list = listWriter(other);
  return (writer, value) => {
    writeSchema(writer, value);
    if (Array.isArray(value)) list(writer, { [other.jsonName]: value });
  };
}
