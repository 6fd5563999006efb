// The CBOR codec: every body starts with the tag of CBOR itself and is one data item. Lists are put
// together from elements that are encoded once; a watch is a sequence of events.
import type { JsonValue, TypeInfo } from '../api/type-info.ts';
import type { ApiObject, Codec, WatchEventType } from './codec.ts';
import { cborPrefix, readCbor } from './cbor-read.ts';
import { CborWriter, writeListHead, writeMapHead, writeObject } from './cbor-write.ts';
import { listMetaObject } from './frame.ts';
import type { ListMeta } from './frame.ts';
import { stringify } from './json.ts';
import { canonicalObject, normalise } from './normalise.ts';
import { storedBounds } from './read-bounds.ts';
import { toData } from './walk.ts';

const mediaType = 'application/cbor';
export const cborSequence = 'application/cbor-seq';

export const cborCodec: Codec = {
  mediaType,
  decode(body, type) {
    const { value, duplicates } = readCbor(body);
    const { object, problems } = normalise(value, type, { owned: true, reporting: true });
    return { object, problems: [...duplicates, ...problems] };
  },
  encode: (object, type) =>
    written((writer) => {
      writer.raw(cborPrefix);
      writeObject(writer, canonicalObject(object, type), type);
    }),
};

/** A stored body as data. @throws StatusError 400. */
export const storedCbor = (body: Uint8Array): JsonValue =>
  toData(readCbor(body, storedBounds).value);

/** A body without a schema (a patch) as JSON. @throws StatusError 400. */
export const cborAsJson = (body: Uint8Array): Uint8Array =>
  Buffer.from(stringify(readCbor(body).value));

const sharedWriter = new CborWriter();
function written(write: (writer: CborWriter) => void): Uint8Array {
  write(sharedWriter);
  return sharedWriter.finish();
}

interface KindName {
  readonly kind: string;
  readonly apiVersion: string;
}

/** A canonical object as an element of a list: without kind and apiVersion. */
export function cborElement(object: Readonly<ApiObject>, type: TypeInfo): Uint8Array {
  const { kind: _kind, apiVersion: _apiVersion, ...members } = object;
  return written((writer) => writeObject(writer, members, type));
}

/** The element with the names of its kind before its other members. */
export function namedCborElement(element: Uint8Array, of: KindName): Uint8Array {
  return written((writer) => writeNamed(writer, element, of));
}

export function cborDocument(element: Uint8Array, of: KindName): Uint8Array {
  return written((writer) => {
    writer.raw(cborPrefix);
    writeNamed(writer, element, of);
  });
}

function writeNamed(writer: CborWriter, element: Uint8Array, of: KindName): void {
  const { count, headBytes } = mapHead(element);
  writeMapHead(writer, count + 2);
  writeKindName(writer, of);
  writer.raw(element.subarray(headBytes));
}

function writeKindName(writer: CborWriter, { kind, apiVersion }: KindName): void {
  writer.text('kind');
  writer.text(kind);
  writer.text('apiVersion');
  writer.text(apiVersion);
}

/** Of an element of ours: objects have fewer members than three bytes can count. */
function mapHead(element: Uint8Array): { readonly count: number; readonly headBytes: number } {
  const info = (element[0] ?? 0) & 31;
  if (info < 24) return { count: info, headBytes: 1 };
  if (info === 24) return { count: element[1] ?? 0, headBytes: 2 };
  return { count: ((element[1] ?? 0) << 8) | (element[2] ?? 0), headBytes: 3 };
}

/** What stands before and after the `count` elements of a list. */
export function cborListEnds(
  of: KindName,
  metadata: ListMeta,
  count: number,
): { readonly open: Uint8Array; readonly close: Uint8Array } {
  const open = written((writer) => {
    writer.raw(cborPrefix);
    writeMapHead(writer, 4);
    writeKindName(writer, of);
    writer.text('metadata');
    writeObject(writer, listMetaObject(metadata), undefined);
    writer.text('items');
    writeListHead(writer, count);
  });
  return { open, close: new Uint8Array() };
}

/** One item of the sequence that a watch is. */
export function cborEvent(type: WatchEventType, object: Uint8Array): Uint8Array {
  return written((writer) => {
    writer.raw(cborPrefix);
    writeMapHead(writer, 2);
    writer.text('type');
    writer.text(type);
    writer.text('object');
    writer.raw(object);
  });
}
