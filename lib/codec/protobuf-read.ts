// From Protobuf fields to an object of JSON-shaped data, by closures compiled once per TypeInfo.
// Unknown fields are skipped, lengths and depth are checked, repeated messages merge; the codec
// makes the result canonical.
import { isObject } from '../api/json-value.ts';
import { newRecord } from '../api/record.ts';
import protobuf from 'protobufjs/minimal.js';
import type { FieldInfo, JsonObject, JsonValue, ScalarType, TypeInfo } from '../api/type-info.ts';
import { invariant } from '../base/invariant.ts';
import { badRequest, requestEntityTooLarge } from '../base/status.ts';
import { parseData, rawData } from './json.ts';
import type { ReadJson } from './json.ts';
import { fixed64Wire, lengthWire, varintWire } from './protobuf-write.ts';
import { omitRule } from './omit-rule.ts';
import { microsOf, numberOf, timeText } from './protobuf-times.ts';
import type { ReadBounds } from './read-bounds.ts';
import { utf8TextIn } from './utf8-text.ts';
import { formatDuration } from './value-forms.ts';
import { tooDeep } from './walk.ts';

export type WireReader = protobuf.Reader;
/** Reads one value, whose key has been read. */
type ReadValue = (reader: WireReader, depth: number, before: JsonValue | undefined) => JsonValue;

interface Slot {
  readonly name: string;
  readonly wire: number;
  readonly cardinality: FieldInfo['cardinality'];
  readonly read: ReadValue;
  /** Of a map: what an entry without a value holds. */
  readonly zero: () => JsonValue;
  /** The message whose fields belong to the object around it. */
  readonly inline: ReadonlyMap<number, Slot> | undefined;
  readonly isScalar: boolean;
  /** Whether JSON leaves the value out: Go writes every field that is no pointer. */
  readonly isUnset: (value: JsonValue) => boolean;
}
type Slots = ReadonlyMap<number, Slot>;
const messages = new WeakMap<TypeInfo, Slots>();

/** A reader over the bytes, which need not be a Buffer. */
export const readerOf = (bytes: Uint8Array): WireReader =>
  protobuf.Reader.create(
    Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
  );

/**
 * The fields of one message in the order they were met.
 * @throws StatusError 400 when the bytes are not such a message.
 */
export function readMessage(bytes: Uint8Array, type: TypeInfo, within: ReadBounds): JsonObject {
  const object: JsonObject = {};
  values = 0;
  bounds = within;
  try {
    readFields(readerOf(bytes), slotsOf(type), object, 1);
  } catch (error) {
    throw asBadRequest(error, type.name);
  }
  return object;
}

/** The library's errors say that bytes are missing or no varint; anything else is a bug. */
export function asBadRequest(error: unknown, what: string): unknown {
  const isLibrarys = error instanceof RangeError || (error as Error).constructor === Error;
  if (!isLibrarys) return error;
  return badRequest(`${what} cannot be read: the Protobuf message is cut off or malformed`);
}

/** Messages, elements and entries read so far; reading is synchronous and does not nest. */
let values = 0;
let bounds: ReadBounds = { depthMax: 0, valuesMax: 0 };

function countValue(): void {
  values += 1;
  if (values <= bounds.valuesMax) return;
  throw requestEntityTooLarge(`a body may hold ${String(bounds.valuesMax)} values`);
}

function readFields(reader: WireReader, slots: Slots, object: JsonObject, depth: number): void {
  if (depth > bounds.depthMax) throw tooDeep();
  countValue();
  while (reader.pos < reader.len) {
    const key = reader.tag();
    const slot = slots.get(key >>> 3);
    if (slot === undefined) skipValue(reader, key);
    else readField(reader, slot, key & 7, object, depth);
  }
}

function readField(
  reader: WireReader,
  slot: Slot,
  wire: number,
  object: JsonObject,
  depth: number,
): void {
  const { name } = slot;
  if (wire !== slot.wire) {
    if (wire !== lengthWire || slot.cardinality !== 'list') throw wrongWire(name);
    readPacked(reader, slot, object, depth);
    return;
  }
  if (slot.inline !== undefined) {
    const end = enter(reader);
    readFields(reader, slot.inline, object, depth + 1);
    reader.len = end;
    return;
  }
  switch (slot.cardinality) {
    case 'single': {
      const value = slot.read(reader, depth, object[name]);
      if (!slot.isUnset(value) || object[name] !== undefined) object[name] = value;
      break;
    }
    case 'list':
      if (slot.isScalar) countValue();
      listIn(object, name).push(slot.read(reader, depth, undefined));
      break;
    case 'map':
      readEntry(reader, slot, mapIn(object, name), depth);
      break;
  }
}

const wrongWire = (name: string): Error =>
  badRequest(`the Protobuf body cannot be read: ${name} is not written as its type asks`);

/** Ends the reader after the length-delimited value that follows; returns the end to restore. */
function enter(reader: WireReader): number {
  const length = reader.size();
  const end = reader.len;
  if (reader.pos + length > end) throw new RangeError('the message is cut off');
  reader.len = reader.pos + length;
  return end;
}

function readPacked(reader: WireReader, slot: Slot, object: JsonObject, depth: number): void {
  const end = enter(reader);
  const list = listIn(object, slot.name);
  while (reader.pos < reader.len) {
    countValue();
    list.push(slot.read(reader, depth, undefined));
  }
  reader.len = end;
}

function listIn(object: JsonObject, name: string): JsonValue[] {
  const known = object[name];
  if (Array.isArray(known)) return known;
  const list: JsonValue[] = [];
  object[name] = list;
  return list;
}

function mapIn(object: JsonObject, name: string): JsonObject {
  const known = object[name];
  return isObject(known) ? known : (object[name] = newRecord());
}

const entryKeyNumber = 1;
const entryValueNumber = 2;

function readEntry(reader: WireReader, slot: Slot, map: JsonObject, depth: number): void {
  const end = enter(reader);
  countValue();
  let name = '';
  let value: JsonValue | undefined;
  while (reader.pos < reader.len) {
    const key = reader.tag();
    const number = key >>> 3;
    if (number === entryKeyNumber) {
      if ((key & 7) !== lengthWire) throw wrongWire(slot.name);
      name = readString(reader);
    } else if (number === entryValueNumber) {
      value = slot.read(reader, depth + 1, value);
    } else skipValue(reader, key);
  }
  reader.len = end;
  map[name] = value ?? slot.zero();
}

/** Skips a value of any wire type; groups, which nest, without recursion. */
export function skipValue(reader: WireReader, first: number): void {
  let key = first;
  let open = 0;
  for (;;) {
    if (key >>> 3 === 0) throw new RangeError('field number 0');
    switch (key & 7) {
      case varintWire:
        reader.skip();
        break;
      case fixed64Wire:
        reader.skip(8);
        break;
      case lengthWire:
        reader.skip(reader.size());
        break;
      case 3:
        open += 1;
        break;
      case 4:
        open -= 1;
        if (open < 0) throw new RangeError('the end of a group that never began');
        break;
      case 5:
        reader.skip(4);
        break;
      default:
        throw new RangeError('no wire type');
    }
    if (open === 0) return;
    key = reader.tag();
  }
}

function slotsOf(type: TypeInfo): Slots {
  const known = messages.get(type);
  if (known !== undefined) return known;
  const slots = new Map<number, Slot>();
  messages.set(type, slots); // Before its fields: types may hold themselves.
  for (const field of type.fields) if (field.number > 0) slots.set(field.number, slotOf(field));
  return slots;
}

const noBytes = Buffer.alloc(0);

function slotOf(field: FieldInfo): Slot {
  const { jsonName: name, cardinality, scalar, message } = field;
  if (scalar !== undefined) {
    const { wire, read, zero } = scalarReaders[scalar];
    return {
      name,
      wire: cardinality === 'map' ? lengthWire : wire,
      cardinality,
      read,
      zero: () => zero,
      inline: undefined,
      isScalar: true,
      isUnset: omitRule(field),
    };
  }
  invariant(message !== undefined, 'a field is a scalar or a message');
  const read = messageReader(message);
  return {
    name,
    wire: lengthWire,
    cardinality,
    read: delimited(read),
    zero: () => read(readerOf(noBytes), 0, undefined), // A message without bytes is its zero value.
    inline: name === '' ? slotsOf(message) : undefined,
    isScalar: false,
    isUnset: () => false,
  };
}

function delimited(read: ReadValue): ReadValue {
  return (reader, depth, before) => {
    const end = enter(reader);
    const value = read(reader, depth + 1, before);
    reader.len = end;
    return value;
  };
}

/** Reads the content of a message up to the end of the reader. */
function messageReader(type: TypeInfo): ReadValue {
  if (type.special !== undefined) return specialReader(type);
  const slots = slotsOf(type);
  const [only] = type.fields;
  if (type.isNamedList && only !== undefined) {
    return (reader, depth, before) => {
      const holder: JsonObject = before === undefined ? {} : { [only.jsonName]: before };
      readFields(reader, slots, holder, depth);
      return holder[only.jsonName] ?? [];
    };
  }
  return (reader, depth, before) => {
    const object = isObject(before) ? before : {};
    readFields(reader, slots, object, depth);
    return object;
  };
}

interface ScalarReader {
  readonly wire: number;
  readonly read: ReadValue;
  readonly zero: JsonValue;
}

function readString(reader: WireReader): string {
  const end = reader.size() + reader.pos;
  const from = reader.pos;
  if (end > reader.len) throw new RangeError('the text is cut off');
  reader.pos = end;
  const text = utf8TextIn(reader.buf as Buffer, from, end); // `readerOf` gives no other.
  if (text === undefined) {
    throw badRequest('the Protobuf body cannot be read: a text is not valid UTF-8');
  }
  return text;
}

function readInt64(reader: WireReader): JsonValue {
  const { low, high } = reader.int64();
  const number = high * 0x1_0000_0000 + (low >>> 0);
  if (Number.isSafeInteger(number)) return number;
  return (BigInt(high) << 32n) | BigInt(low >>> 0);
}

const scalarReaders: Readonly<Record<ScalarType, ScalarReader>> = {
  string: { wire: lengthWire, read: readString, zero: '' },
  bool: { wire: varintWire, read: (reader) => reader.bool(), zero: false },
  int32: { wire: varintWire, read: (reader) => reader.int32(), zero: 0 },
  int64: { wire: varintWire, read: readInt64, zero: 0 },
  double: { wire: fixed64Wire, read: (reader) => reader.double(), zero: 0 },
  bytes: {
    wire: lengthWire,
    read: (reader) => (reader.bytes() as Buffer).toString('base64'),
    zero: '',
  },
};

/** Messages whose JSON is not their fields: read as the messages they are, then turned into it. */
function specialReader(type: TypeInfo): ReadValue {
  const slots = slotsOf(type);
  const toJson = formOf(type);
  return (reader, depth) => {
    if (reader.pos === reader.len && emptyIsNull.has(type.special)) return null;
    const fields: JsonObject = {};
    readFields(reader, slots, fields, depth);
    return toJson(fields);
  };
}

/** Forms whose message without bytes is null: no time, no embedded object. */
const emptyIsNull: ReadonlySet<TypeInfo['special']> = new Set([
  'time',
  'microTime',
  'timestamp',
  'rawExtension',
  'json',
  'fieldsV1',
]);

function formOf(type: TypeInfo): (fields: JsonObject) => JsonValue {
  switch (type.special) {
    case 'time':
    case 'timestamp':
      return ({ seconds }) => timeText(seconds, '');
    case 'microTime':
      return ({ seconds, nanos }) =>
        timeText(seconds, `.${String(microsOf(nanos)).padStart(6, '0')}`);
    case 'duration':
      return ({ duration }) =>
        formatDuration(typeof duration === 'bigint' ? duration : BigInt(numberOf(duration)));
    case 'quantity':
      return ({ string }) => string ?? '0';
    case 'intOrString':
      return ({ type: form, intVal, strVal }) =>
        numberOf(form) === 0 ? (intVal ?? 0) : (strVal ?? '');
    case 'rawExtension':
      return embeddedReader(type, rawData);
    case 'json':
    case 'fieldsV1':
      return embeddedReader(type, parseData);
    case 'schemaOrBool':
    case 'schemaOrList':
    case 'schemaOrStrings':
      return unionReader(type);
    case undefined:
      throw new Error(`${type.id} has no special form`);
  }
}

function embeddedReader(type: TypeInfo, read: ReadJson): (fields: JsonObject) => JsonValue {
  const name = type.fields[0]?.jsonName ?? '';
  return (fields) => {
    const bytes = fields[name];
    return typeof bytes === 'string' && bytes !== '' ? read(Buffer.from(bytes, 'base64')) : null;
  };
}

function unionReader(type: TypeInfo): (fields: JsonObject) => JsonValue {
  const schema = type.fields.find(({ message }) => message !== undefined)?.jsonName ?? '';
  const other = type.fields.find(({ jsonName }) => jsonName !== schema);
  const name = other?.jsonName ?? '';
  // An empty list leaves no trace in Protobuf.
  return (fields) => fields[schema] ?? fields[name] ?? (other?.scalar === 'bool' ? false : []);
}
