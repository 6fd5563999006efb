// What the cache needs to know about the stored form of objects: functions only, for it never looks
// into a kind itself.
import type { ResourceInfo } from '../api/type-info.ts';
import type { ApiObject } from '../codec/codec.ts';
import { jsonCodec } from '../codec/json.ts';
import { decodeForeign, encodeStored, openStored, schemaGeneration } from '../codec/stored-form.ts';
import type { OpenStored } from '../codec/stored-form.ts';

export interface Transcoder {
  readonly open: OpenStored;
  /** Schema generation that this release writes for the resource (`StoredHeader.schema`). */
  schemaOf(resource: ResourceInfo): string;
  /**
   * Bytes of another generation, or not written by this product: decoded, completed and encoded to
   * the stored form of this one.
   * @throws when they cannot be read: the object is then corrupted.
   */
  decodeForeign(value: Uint8Array, resource: ResourceInfo): Uint8Array;
  /** The object of `Item.json()`. @throws when the bytes are not such an object. */
  decode(json: Uint8Array, resource: ResourceInfo): ApiObject;
}

/**
 * Over the product's own stored form. `complete` converts and defaults an object that another
 * release wrote.
 */
export function createTranscoder(
  complete: (object: ApiObject, resource: ResourceInfo) => ApiObject,
): Transcoder {
  return {
    open: openStored,
    schemaOf: schemaGeneration,
    decodeForeign: (value, resource) => {
      const object = decodeForeign(openStored(value)?.payload ?? value, resource.type);
      if (object === undefined) throw new Error('the bytes have no form that this server reads');
      return encodeStored(complete(object, resource), resource);
    },
    decode: (json, resource) => jsonCodec.decode(json, resource.type).object,
  };
}
