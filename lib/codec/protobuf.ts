// The Protobuf codec: an object's message in the envelope that names its kind, lists of messages
// that are bytes already, and watch frames. Hostile bytes are a 400: lengths, depth and text are
// checked before anything is made of them.
import { limits } from '../base/limits.ts';
import protobuf from 'protobufjs/minimal.js';
import type { JsonObject, TypeInfo } from '../api/type-info.ts';
import { badRequest } from '../base/status.ts';
import type { ApiObject, Codec, WatchEventType } from './codec.ts';
import type { ListMeta } from './frame.ts';
import { canonicalObject, normalise } from './normalise.ts';
import { asBadRequest, readMessage, readerOf, skipValue } from './protobuf-read.ts';
import { keyOf, lengthWire, varintWire, writeMessage } from './protobuf-write.ts';
import type { WireWriter } from './protobuf-write.ts';
import { bodyBounds } from './read-bounds.ts';
import type { ReadBounds } from './read-bounds.ts';

/** Kind and version in an envelope. */
export interface TypeMeta {
  readonly kind: string;
  readonly apiVersion: string;
}

/** Starts every body; clients refuse another prefix. */
export const protobufPrefix: Uint8Array = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

/** `mediaType` is the naming profile's. */
export function createProtobufCodec(mediaType: string, bounds: ReadBounds = bodyBounds): Codec {
  return {
    mediaType,
    decode(body, type, mustBe) {
      const { typeMeta, raw } = openEnvelope(body, mediaType);
      mustBe?.(typeMeta);
      const fields = readMessage(raw, type, bounds);
      if (type.hasTypeMeta) Object.assign(fields, typeMeta);
      return normalise(fields, type, { owned: true, reporting: false });
    },
    encode(object, type) {
      const { kind, apiVersion } = object;
      const message = messageBytes(object, type);
      return envelope(message, { kind: kind ?? '', apiVersion: apiVersion ?? '' });
    },
  };
}

/** Kind and version in an envelope, before its message is read. @throws StatusError 400. */
export const typeMetaOf = (body: Uint8Array, mediaType: string): JsonObject =>
  openEnvelope(body, mediaType).typeMeta;

/** Whether objects of this type have a Protobuf form: tables and custom resources have none. */
export const hasProtobufForm = (type: TypeInfo): boolean =>
  type.options['jsonOnly'] !== true &&
  type.open === undefined &&
  type.fields.every(({ number, jsonName }) => number > 0 || jsonName === '-');

const { encodeBufferKeptBytes } = limits;
let sharedWriter: WireWriter | undefined;

/**
 * What `write` wrote, in memory of its own. The writer is shared: writes are synchronous and do not
 * nest.
 */
function written(write: (writer: WireWriter) => void): Uint8Array {
  const writer = sharedWriter ?? protobuf.Writer.create();
  sharedWriter = undefined; // A write that throws leaves its writer behind.
  write(writer);
  const bytes = writer.finish();
  if (bytes.length <= encodeBufferKeptBytes) sharedWriter = writer.reset();
  return bytes;
}

/** An object's message without its envelope. */
function messageBytes(object: Readonly<ApiObject>, type: TypeInfo): Uint8Array {
  const canonical = canonicalObject(object, type);
  return written((writer) => writeMessage(writer, canonical, type));
}

const typeMetaKey = keyOf(1, lengthWire);
const rawKey = keyOf(2, lengthWire);
/** contentEncoding and contentType, both empty. */
const envelopeEnd = Buffer.from([keyOf(3, lengthWire), 0, keyOf(4, lengthWire), 0]);
const firstKey = keyOf(1, lengthWire);
const secondKey = keyOf(2, lengthWire);

/** The envelope up to a message of `length` bytes. */
function envelopeOpen(length: number, { kind, apiVersion }: TypeMeta): Uint8Array {
  const head = written((writer) => {
    writer.uint32(typeMetaKey).fork();
    writer.uint32(firstKey).string(apiVersion).uint32(secondKey).string(kind);
    writer.ldelim().uint32(rawKey).uint32(length);
  });
  return Buffer.concat([protobufPrefix, head]);
}

export const envelope = (message: Uint8Array, of: TypeMeta): Uint8Array =>
  Buffer.concat([envelopeOpen(message.length, of), message, envelopeEnd]);

const itemsKey = keyOf(2, lengthWire);

/**
 * The message of a canonical object as an element of a list: with the key and length that stand
 * before it.
 */
export function listEntry(object: Readonly<ApiObject>, type: TypeInfo): Uint8Array {
  return written((writer) => {
    writer.uint32(itemsKey).fork();
    writeMessage(writer, object, type);
    writer.ldelim();
  });
}

/** The message of a list entry: a view. */
export function messageOfEntry(entry: Uint8Array): Uint8Array {
  let at = 1;
  while ((entry[at] ?? 0) >= 0x80) at += 1;
  return entry.subarray(at + 1);
}

/** What stands before and after the entries of a list, which are `entriesBytes` long together. */
export function listEnds(
  of: TypeMeta,
  metadata: ListMeta,
  entriesBytes: number,
): { readonly open: Uint8Array; readonly close: Uint8Array } {
  const meta = written((writer) => {
    writer.uint32(firstKey).fork();
    writeListMeta(writer, metadata);
    writer.ldelim();
  });
  const head = envelopeOpen(meta.length + entriesBytes, of);
  return { open: Buffer.concat([head, meta]), close: envelopeEnd };
}

function writeListMeta(writer: WireWriter, metadata: ListMeta): void {
  writer.uint32(keyOf(1, lengthWire)).string(''); // selfLink, which nothing has any more
  writer.uint32(keyOf(2, lengthWire)).string(metadata.resourceVersion);
  writer.uint32(keyOf(3, lengthWire)).string(metadata.continue ?? '');
  if (metadata.remainingItemCount === undefined) return;
  writer.uint32(keyOf(4, varintWire)).int64(metadata.remainingItemCount);
}

const frameLengthBytes = 4;

/** One event: its length, then the event with the object, which has its own envelope. */
export function watchFrame(type: WatchEventType, object: Uint8Array): Uint8Array {
  const head = written((writer) => {
    const rawHeadBytes = 1 + varintBytes(object.length);
    writer.uint32(firstKey).string(type);
    writer.uint32(secondKey).uint32(rawHeadBytes + object.length);
    writer.uint32(firstKey).uint32(object.length);
  });
  const frame = Buffer.allocUnsafe(frameLengthBytes + head.length + object.length);
  frame.writeUInt32BE(head.length + object.length);
  frame.set(head, frameLengthBytes);
  frame.set(object, frameLengthBytes + head.length);
  return frame;
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1;
  return bytes;
}

interface Envelope {
  readonly typeMeta: JsonObject;
  readonly raw: Uint8Array;
}

/** @throws StatusError 400. */
function openEnvelope(body: Uint8Array, mediaType: string): Envelope {
  if (body.length === 0) throw badRequest('the body is empty, a Protobuf envelope is needed');
  if (protobufPrefix.some((byte, index) => body[index] !== byte)) {
    throw badRequest('the body does not start with the 4 bytes of the Protobuf envelope');
  }
  const parts = envelopeParts(body.subarray(protobufPrefix.length));
  if (parts.encoding.length > 0) {
    throw badRequest('the content of the Protobuf envelope must not be encoded');
  }
  const contentType = Buffer.from(parts.contentType).toString('utf8');
  if (contentType !== '' && contentType !== mediaType) {
    throw badRequest(`the content of the Protobuf envelope must be ${mediaType}`);
  }
  return { typeMeta: readTypeMeta(parts.typeMeta), raw: parts.raw };
}

interface EnvelopeParts {
  typeMeta: Uint8Array;
  raw: Uint8Array;
  encoding: Uint8Array;
  contentType: Uint8Array;
}
const partNames: readonly (keyof EnvelopeParts | undefined)[] = [
  undefined,
  'typeMeta',
  'raw',
  'encoding',
  'contentType',
];

/** The length-delimited fields with these numbers; the last one of a number counts. */
function delimitedFields(
  bytes: Uint8Array,
  take: (number: number, value: Uint8Array) => void,
): void {
  const reader = readerOf(bytes);
  try {
    while (reader.pos < reader.len) {
      const key = reader.tag();
      if ((key & 7) === lengthWire && key >>> 3 !== 0) take(key >>> 3, reader.bytes());
      else skipValue(reader, key);
    }
  } catch (error) {
    throw asBadRequest(error, 'the envelope');
  }
}

function envelopeParts(bytes: Uint8Array): EnvelopeParts {
  const none = Buffer.alloc(0);
  const parts: EnvelopeParts = { typeMeta: none, raw: none, encoding: none, contentType: none };
  delimitedFields(bytes, (number, value) => {
    const name = partNames[number];
    if (name !== undefined) parts[name] = value;
  });
  return parts;
}

function readTypeMeta(bytes: Uint8Array): JsonObject {
  const typeMeta: JsonObject = {};
  delimitedFields(bytes, (number, value) => {
    if (number === 1) typeMeta['apiVersion'] = Buffer.from(value).toString('utf8');
    if (number === 2) typeMeta['kind'] = Buffer.from(value).toString('utf8');
  });
  return typeMeta;
}
