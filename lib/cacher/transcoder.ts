// What the cache needs to know about the stored encoding of objects: functions only, since the
// cache knows no kind.
import { storedTypeOf, toStorageVersion } from '../api/convert.ts';
import type { Scheme } from '../api/scheme.ts';
import type { ResourceInfo, TypeInfo } from '../api/type-info.ts';
import type { ApiObject } from '../codec/codec.ts';
import { decodeCanonical } from '../codec/json.ts';
import { asSent, closeStored, encodeStored, openStored } from '../codec/stored-form.ts';
import { schemaGeneration } from '../codec/stored-form.ts';
import type { CloseStored, OpenedStored, OpenStored } from '../codec/stored-form.ts';
import type { StoredMedia, StoredTypeMeta } from '../codec/stored-media.ts';

export interface Transcoder {
  readonly open: OpenStored;
  /** The value that `open` opens as that. */
  readonly close: CloseStored;
  /** Schema generation that this release writes for the resource (`StoredHeader.schema`). */
  schemaOf(resource: ResourceInfo): string;
  /**
   * Bytes of another generation, version or encoding, or not written by this product: decoded,
   * completed and encoded to the stored form of this one.
   * @throws when they cannot be read: the object is then corrupted.
   */
  decodeForeign(value: Uint8Array, resource: ResourceInfo): OpenedStored;
  /** The stored form whose raw JSON is spelt as answers show it. */
  asSent(opened: OpenedStored, resource: ResourceInfo): OpenedStored;
  /** The object of `Item.json()`. @throws when the bytes are not such an object. */
  decode(json: Uint8Array, resource: ResourceInfo): ApiObject;
}

export interface TranscoderOptions {
  /** Reads values of every encoding. */
  readonly media: Pick<StoredMedia, 'read'>;
  /** The type that a stored object says it has. @throws when that is not a version of the kind. */
  readonly typeOf: (of: StoredTypeMeta, resource: ResourceInfo) => TypeInfo;
  /** Converts to the storage version and defaults an object that another release wrote. */
  readonly complete: (object: ApiObject, resource: ResourceInfo) => ApiObject;
}

/** Over the product's own stored form. */
export function createTranscoder({ media, typeOf, complete }: TranscoderOptions): Transcoder {
  return {
    open: openStored,
    close: closeStored,
    schemaOf: schemaGeneration,
    decodeForeign: (value, resource) => {
      const object = media.read(value, (of) => typeOf(of, resource));
      return encodeStored(complete(object, resource), resource);
    },
    asSent,
    decode: (json, resource) => decodeCanonical(json, resource.type),
  };
}

/** For built-in kinds, stored in any version that the scheme knows. */
export const schemeTranscoder = (scheme: Scheme, media: Pick<StoredMedia, 'read'>): Transcoder =>
  createTranscoder({
    media,
    typeOf: (of, resource) => storedTypeOf(of, resource, scheme),
    complete: (object, resource) => toStorageVersion(object, resource, scheme),
  });
