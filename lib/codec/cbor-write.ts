// JSON-shaped data as CBOR: text and names are byte strings, as they may be any bytes elsewhere;
// fields of type bytes are tagged byte strings of what their base64 stands for.
import { RawJson } from '../api/raw-json.ts';
import { limits } from '../base/limits.ts';
import type { FieldInfo, JsonObject, JsonValue, TypeInfo } from '../api/type-info.ts';

const major = { unsigned: 0, negative: 1, bytes: 2, list: 4, map: 5, tag: 6 };
const base64Tag = 22;
const simple = { false: 0xf4, true: 0xf5, null: 0xf6, float32: 0xfa, float64: 0xfb };
const headBytesMax = 9;
const firstBytes = 1024;
const { encodeBufferKeptBytes } = limits;

/** The output buffer, which grows. */
export class CborWriter {
  #bytes = Buffer.allocUnsafeSlow(firstBytes);
  #length = 0;

  /** A copy of what was written; the writer is empty again. */
  finish(): Uint8Array {
    const bytes = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    if (this.#bytes.length > encodeBufferKeptBytes)
      this.#bytes = Buffer.allocUnsafeSlow(firstBytes);
    return bytes;
  }

  #reserve(count: number): void {
    const needed = this.#length + count;
    if (needed <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = value;
    this.#length += 1;
  }

  head(type: number, value: number): void {
    this.#reserve(headBytesMax);
    const first = type << 5;
    if (value < 24) this.byte(first | value);
    else if (value < 0x100) {
      this.byte(first | 24);
      this.byte(value);
    } else if (value < 0x1_0000) {
      this.byte(first | 25);
      this.#length = this.#bytes.writeUInt16BE(value, this.#length);
    } else if (value < 0x1_0000_0000) {
      this.byte(first | 26);
      this.#length = this.#bytes.writeUInt32BE(value, this.#length);
    } else this.#wideHead(first, BigInt(value));
  }

  #wideHead(first: number, value: bigint): void {
    this.#reserve(headBytesMax);
    this.byte(first | 27);
    this.#length = this.#bytes.writeBigUInt64BE(value, this.#length);
  }

  integer(value: bigint): void {
    if (value >= 0n) this.#wideHead(major.unsigned << 5, value);
    else this.#wideHead(major.negative << 5, -1n - value);
  }

  number(value: number): void {
    if (Number.isSafeInteger(value)) {
      if (value >= 0) this.head(major.unsigned, value);
      else this.head(major.negative, -1 - value);
      return;
    }
    this.#reserve(headBytesMax);
    if (Math.fround(value) === value) {
      this.byte(simple.float32);
      this.#length = this.#bytes.writeFloatBE(value, this.#length);
    } else {
      this.byte(simple.float64);
      this.#length = this.#bytes.writeDoubleBE(value, this.#length);
    }
  }

  text(value: string): void {
    const length = Buffer.byteLength(value);
    this.head(major.bytes, length);
    this.#reserve(length);
    this.#length += this.#bytes.write(value, this.#length, 'utf8');
  }
}

export function writeMapHead(writer: CborWriter, count: number): void {
  writer.head(major.map, count);
}

export function writeListHead(writer: CborWriter, count: number): void {
  writer.head(major.list, count);
}

/** `field` says what the value is; undefined: any JSON. */
function writeValue(writer: CborWriter, value: JsonValue, field: FieldInfo | undefined): void {
  switch (typeof value) {
    case 'string':
      if (field?.scalar === 'bytes') writeBytes(writer, value);
      else writer.text(value);
      break;
    case 'number':
      writer.number(value);
      break;
    case 'bigint':
      if (isIntegerOfCbor(value)) writer.integer(value);
      else writer.number(Number(value));
      break;
    case 'boolean':
      writer.byte(value ? simple.true : simple.false);
      break;
    default:
      writeStructure(writer, value, field);
  }
}

const isIntegerOfCbor = (value: bigint): boolean => value < 2n ** 64n && value >= -(2n ** 64n);

function writeBytes(writer: CborWriter, base64: string): void {
  const bytes = Buffer.from(base64, 'base64');
  writer.head(major.tag, base64Tag);
  writer.head(major.bytes, bytes.length);
  writer.raw(bytes);
}

function writeStructure(
  writer: CborWriter,
  value: JsonValue[] | JsonObject | null,
  field: FieldInfo | undefined,
): void {
  if (value === null) {
    writer.byte(simple.null);
    return;
  }
  if (value instanceof RawJson) {
    writeValue(writer, value.value, undefined);
    return;
  }
  if (Array.isArray(value)) {
    writeListHead(writer, value.length);
    for (const element of value) writeValue(writer, element, field);
    return;
  }
  if (field?.cardinality === 'map') writeMembers(writer, value, () => elementOf(field));
  else writeObject(writer, value, field?.message);
}

/** A map's values, and what is in them, are described by the same field. */
const elements = new WeakMap<FieldInfo, FieldInfo>();
function elementOf(field: FieldInfo): FieldInfo {
  const known = elements.get(field);
  if (known !== undefined) return known;
  const element: FieldInfo = { ...field, cardinality: 'single' };
  elements.set(field, element);
  return element;
}

/** An object of a message type, or of any shape. */
export function writeObject(
  writer: CborWriter,
  object: Readonly<JsonObject>,
  type: TypeInfo | undefined,
): void {
  const fields = type?.special === undefined ? type?.fieldByJsonName : undefined;
  writeMembers(writer, object, (name) => fields?.get(name));
}

function writeMembers(
  writer: CborWriter,
  object: Readonly<JsonObject>,
  fieldOf: (name: string) => FieldInfo | undefined,
): void {
  const names = Object.keys(object);
  writeMapHead(writer, names.length);
  for (const name of names) {
    writer.text(name);
    writeValue(writer, object[name] ?? null, fieldOf(name));
  }
}
