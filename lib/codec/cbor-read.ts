// CBOR to JSON-shaped data: definite and indefinite lengths, byte strings as text, the tags that
// JSON has an answer to. Lengths, depth and the number of values are bounded while reading.
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { limits } from '../base/limits.ts';
import { badRequest, requestEntityTooLarge } from '../base/status.ts';
import type { StatusError } from '../base/status.ts';
import type { FieldProblem } from './codec.ts';
import { bodyBounds } from './read-bounds.ts';
import type { ReadBounds } from './read-bounds.ts';
import { utf8Text } from './utf8-text.ts';
import { pathText, tooDeep } from './walk.ts';
import type { PathSegment } from './walk.ts';

export interface ReadCbor {
  readonly value: JsonValue;
  readonly duplicates: readonly FieldProblem[];
}

/** The tag 55799, which says that CBOR follows. */
export const cborPrefix: Uint8Array = Buffer.from([0xd9, 0xd9, 0xf7]);

/** @throws StatusError 400 or 413 when the bytes are not one item that JSON could hold. */
export function readCbor(body: Uint8Array, bounds: ReadBounds = bodyBounds): ReadCbor {
  if (body.length === 0) throw badRequest('the body is empty, a CBOR data item is needed');
  const reader: Reader = {
    bytes: Buffer.from(body.buffer, body.byteOffset, body.byteLength),
    // Like all tags the prefix would count as a level.
    at: cborPrefix.every((byte, index) => body[index] === byte) ? cborPrefix.length : 0,
    depth: 0,
    values: 0,
    bounds,
    path: [],
    duplicates: [],
  };
  const value = readItem(reader);
  if (reader.at < body.length) throw malformed(reader, 'more bytes follow the data item');
  return { value, duplicates: reader.duplicates };
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
  depth: number;
  values: number;
  readonly bounds: ReadBounds;
  readonly path: PathSegment[];
  readonly duplicates: FieldProblem[];
}

const major = { unsigned: 0, negative: 1, bytes: 2, text: 3, list: 4, map: 5, tag: 6, simple: 7 };
const indefinite = 31;
const breakByte = 0xff;

function malformed(reader: Reader, why: string): StatusError {
  const path = pathText(reader.path);
  const where = path === '' ? '' : ` at ${path}`;
  return badRequest(`the body is not valid CBOR: byte ${String(reader.at)}${where}: ${why}`);
}

function takeByte(reader: Reader): number {
  const byte = reader.bytes[reader.at];
  if (byte === undefined) throw malformed(reader, 'it ends too early');
  reader.at += 1;
  return byte;
}

/** Moves past `length` bytes; returns where they began. */
function take(reader: Reader, length: number): number {
  const from = reader.at;
  if (length > reader.bytes.length - from) throw malformed(reader, 'it ends too early');
  reader.at = from + length;
  return from;
}

/** The number that a head's low five bits stand for, or that follows them. */
function argument(reader: Reader, info: number): number | bigint {
  if (info < 24) return info;
  switch (info) {
    case 24:
      return takeByte(reader);
    case 25:
      return reader.bytes.readUInt16BE(take(reader, 2));
    case 26:
      return reader.bytes.readUInt32BE(take(reader, 4));
    case 27: {
      const value = reader.bytes.readBigUInt64BE(take(reader, 8));
      return value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
    }
    default:
      throw malformed(reader, 'a head of a form that is reserved');
  }
}

function lengthOf(reader: Reader, info: number): number {
  const length = argument(reader, info);
  // Every byte and every element takes one at least.
  if (typeof length === 'bigint' || length > reader.bytes.length - reader.at) {
    throw malformed(reader, 'a length beyond the end of the body');
  }
  return length;
}

function readItem(reader: Reader): JsonValue {
  const head = takeByte(reader);
  const info = head & 31;
  reader.values += 1;
  if (reader.values > reader.bounds.valuesMax) throw tooMany(reader);
  switch (head >> 5) {
    case major.unsigned:
      return argument(reader, info);
    case major.negative: {
      const value = argument(reader, info);
      return typeof value === 'bigint' || value === Number.MAX_SAFE_INTEGER
        ? -1n - BigInt(value)
        : -1 - value;
    }
    case major.bytes:
    case major.text:
      return textOf(reader, stringBytes(reader, head >> 5, info));
    case major.list:
      return nested(reader, info, readList);
    case major.map:
      return nested(reader, info, readMap);
    case major.tag:
      return readTagged(reader, argument(reader, info));
    default:
      return readSimple(reader, info);
  }
}

const tooMany = ({ bounds }: Reader): StatusError =>
  requestEntityTooLarge(`a body may hold ${String(bounds.valuesMax)} values`);

function nested(
  reader: Reader,
  info: number,
  read: (reader: Reader, count: number) => JsonValue,
): JsonValue {
  reader.depth += 1;
  if (reader.depth > reader.bounds.depthMax) throw tooDeep();
  const value = read(reader, info === indefinite ? Infinity : lengthOf(reader, info));
  reader.depth -= 1;
  return value;
}

/** Whether an element follows; takes the break that ends an indefinite length. */
function hasNext(reader: Reader, index: number, count: number): boolean {
  if (count !== Infinity) return index < count;
  if (reader.bytes[reader.at] !== breakByte) return true;
  reader.at += 1;
  return false;
}

function readList(reader: Reader, count: number): JsonValue {
  const list: JsonValue[] = [];
  while (hasNext(reader, list.length, count)) {
    reader.path.push(list.length);
    list.push(readItem(reader));
    reader.path.pop();
  }
  return list;
}

function readMap(reader: Reader, count: number): JsonValue {
  const object: JsonObject = {};
  for (let index = 0; hasNext(reader, index, count); index += 1) {
    const key = readKey(reader);
    reader.path.push(key);
    if (Object.hasOwn(object, key)) reportDuplicate(reader);
    setOwn(object, key, readItem(reader));
    reader.path.pop();
  }
  return object;
}

function setOwn(object: JsonObject, key: string, value: JsonValue): void {
  if (key !== '__proto__') object[key] = value;
  else {
    const data = { value, enumerable: true, writable: true, configurable: true };
    Object.defineProperty(object, key, data);
  }
}

function reportDuplicate(reader: Reader): void {
  if (reader.duplicates.length >= limits.fieldProblemsMax) return;
  reader.duplicates.push({ kind: 'duplicate', path: pathText(reader.path) });
}

function readKey(reader: Reader): string {
  const head = takeByte(reader);
  const type = head >> 5;
  if (type !== major.bytes && type !== major.text) throw malformed(reader, 'a key that is no text');
  return textOf(reader, stringBytes(reader, type, head & 31));
}

/** The bytes of a string, whose chunks are of its own type and of definite length. */
function stringBytes(reader: Reader, type: number, info: number): Buffer {
  if (info !== indefinite) {
    const length = lengthOf(reader, info);
    const from = take(reader, length);
    return reader.bytes.subarray(from, from + length);
  }
  const chunks: Buffer[] = [];
  while (hasNext(reader, 0, Infinity)) {
    const head = takeByte(reader);
    if (head >> 5 !== type || (head & 31) === indefinite) {
      throw malformed(reader, 'a string made of something else');
    }
    chunks.push(stringBytes(reader, type, head & 31));
  }
  return Buffer.concat(chunks);
}

function textOf(reader: Reader, bytes: Buffer): string {
  const text = utf8Text(bytes);
  if (text === undefined) throw malformed(reader, 'a string that is not valid UTF-8');
  return text;
}

const tag = {
  timeText: 0,
  timeSeconds: 1,
  positiveBignum: 2,
  negativeBignum: 3,
  base64Url: 21,
  base64: 22,
  base16: 23,
};
const encodings = new Map<number | bigint, 'base64url' | 'base64' | 'hex'>([
  [tag.base64Url, 'base64url'],
  [tag.base64, 'base64'],
  [tag.base16, 'hex'],
]);

/**
 * Bytes that are to be shown encoded, and times; other tags, that of CBOR itself too, say nothing
 * to JSON.
 */
function readTagged(reader: Reader, number: number | bigint): JsonValue {
  const encoding = encodings.get(number);
  if (encoding !== undefined) {
    const head = takeByte(reader);
    if (head >> 5 !== major.bytes) throw malformed(reader, 'a tag for bytes before something else');
    const text = stringBytes(reader, major.bytes, head & 31).toString(encoding);
    return encoding === 'hex' ? text.toUpperCase() : text;
  }
  if (number === tag.positiveBignum || number === tag.negativeBignum) {
    throw malformed(reader, 'an integer beyond 64 bits');
  }
  reader.depth += 1; // Tags nest, too.
  if (reader.depth > reader.bounds.depthMax) throw tooDeep();
  const value = readItem(reader);
  reader.depth -= 1;
  return number === tag.timeSeconds ? timeOf(reader, value) : value;
}

function timeOf(reader: Reader, seconds: JsonValue): string {
  const date = new Date(typeof seconds === 'number' ? seconds * 1000 : NaN);
  const year = date.getUTCFullYear();
  if (!(year >= 1 && year <= 9999)) throw malformed(reader, 'a time outside the years 1 to 9999');
  return date.toISOString();
}

function readSimple(reader: Reader, info: number): JsonValue {
  switch (info) {
    case 20:
      return false;
    case 21:
      return true;
    case 22:
    case 23: // undefined
      return null;
    case 25:
      return finite(reader, halfFloat(reader.bytes.readUInt16BE(take(reader, 2))));
    case 26:
      return finite(reader, reader.bytes.readFloatBE(take(reader, 4)));
    case 27:
      return finite(reader, reader.bytes.readDoubleBE(take(reader, 8)));
    default:
      throw malformed(reader, 'a simple value that JSON does not have');
  }
}

function finite(reader: Reader, value: number): number {
  if (Number.isFinite(value)) return value;
  throw malformed(reader, 'a number that is not finite');
}

function halfFloat(bits: number): number {
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  const sign = bits >> 15 === 1 ? -1 : 1;
  if (exponent === 0) return sign * 2 ** -24 * fraction;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * 2 ** (exponent - 25) * (1024 + fraction);
}
