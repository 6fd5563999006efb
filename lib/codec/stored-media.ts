// Which encoding objects have in etcd: every one is read, the bytes say which it is. JSON is the
// stored form (stored-form.ts); Protobuf and CBOR are the plain bodies that other servers of this
// API write too. CBOR has no place for raw JSON: kinds with such fields stay JSON.
import type { ResourceInfo, TypeInfo } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { cborCodec, storedCbor } from './cbor.ts';
import { cborPrefix } from './cbor-read.ts';
import type { ApiObject } from './codec.ts';
import { decodeCanonical, jsonCodec, parseData } from './json.ts';
import { readObject, readStored } from './normalise.ts';
import { createProtobufCodec, hasProtobufForm, protobufPrefix, typeMetaOf } from './protobuf.ts';
import { holdsRaw } from './raw-fields.ts';
import { storedBounds } from './read-bounds.ts';
import { openStored, schemaGeneration } from './stored-form.ts';
import type { OpenedStored } from './stored-form.ts';

export type StoredMediaName = 'json' | 'protobuf' | 'cbor';

/** What a stored object says of itself. */
export interface StoredTypeMeta {
  readonly kind?: unknown;
  readonly apiVersion?: unknown;
}

export interface StoredMedia {
  /**
   * The object in a value of any form, in the version it was stored in.
   * @throws StatusError or whatever `typeOf` throws when it cannot be read.
   */
  read(value: Uint8Array, typeOf: (of: StoredTypeMeta) => TypeInfo): ApiObject;
  /** Bytes for etcd of an object whose stored form is `canonical`. */
  write(object: Readonly<ApiObject>, resource: ResourceInfo, canonical: Uint8Array): Uint8Array;
  /** Whether bytes are known to be what `write` gives for the object that is in them. */
  isTodays(value: Uint8Array, resource: ResourceInfo): boolean;
}

/** What a media type asks for. @throws Error with a sentence for the user. */
export function storedMediaName(
  mediaType: string,
  { naming, hasCbor }: { readonly naming: NamingProfile; readonly hasCbor: boolean },
): StoredMediaName {
  const offers = new Map<string, StoredMediaName>([
    ['application/json', 'json'],
    [naming.protobufMediaType, 'protobuf'],
    ...(hasCbor ? [[cborCodec.mediaType, 'cbor'] as const] : []),
  ]);
  const name = offers.get(mediaType);
  if (name !== undefined) return name;
  throw new Error(`"${mediaType}" must be one of ${[...offers.keys()].join(', ')}`);
}

export function createStoredMedia(name: StoredMediaName, naming: NamingProfile): StoredMedia {
  const mediaType = naming.protobufMediaType;
  const protobuf = createProtobufCodec(mediaType, storedBounds);
  const read: StoredMedia['read'] = (value, typeOf) => {
    if (startsWith(value, protobufPrefix)) {
      return protobuf.decode(value, typeOf(typeMetaOf(value, mediaType))).object;
    }
    const opened = openStored(value);
    if (opened !== undefined) {
      return decodeCanonical(opened.payload, typeOf(storedTypeMeta(opened)));
    }
    const isCbor = startsWith(value, cborPrefix);
    const data = isCbor ? storedCbor(value) : parseData(value);
    const type = typeOf(asTypeMeta(data));
    const isKept = holdsRaw(type) && !isCbor;
    if (type.open !== undefined && !isKept) return readStored(data, type);
    return (isKept ? jsonCodec.decode(value, type) : readObject(data, type)).object;
  };
  switch (name) {
    case 'json':
      return {
        read,
        write: (_object, _resource, canonical) => canonical,
        isTodays: (value, resource) =>
          openStored(value)?.header.schema === schemaGeneration(resource),
      };
    case 'cbor':
      return {
        read,
        isTodays: () => false,
        write: (object, { type }, canonical) =>
          holdsRaw(type) ? canonical : cborCodec.encode(unversioned(object), type),
      };
    case 'protobuf':
      return {
        read,
        isTodays: () => false,
        write: (object, { type }, canonical) =>
          hasProtobufForm(type) ? protobuf.encode(unversioned(object), type) : canonical,
      };
  }
}

const startsWith = (bytes: Uint8Array, prefix: Uint8Array): boolean =>
  prefix.every((byte, index) => bytes[index] === byte);

/** The members before the body. */
function storedTypeMeta({ header, payload }: OpenedStored): StoredTypeMeta {
  const members = Buffer.from(payload.subarray(0, header.bodyAt)).toString('utf8');
  return JSON.parse(`${members.slice(0, -1)}}`) as StoredTypeMeta;
}

const asTypeMeta = (data: unknown): StoredTypeMeta =>
  typeof data === 'object' && data !== null ? data : {};

/** The revision of a stored object is etcd's to say. */
function unversioned(object: Readonly<ApiObject>): ApiObject {
  if (object.metadata?.resourceVersion === undefined) return object;
  const metadata = { ...object.metadata };
  delete metadata.resourceVersion;
  return { ...object, metadata };
}
