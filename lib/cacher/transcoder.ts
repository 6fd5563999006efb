// What the cache needs to know about the stored encoding of objects: functions only, since the
// cache knows no kind.
import { storedTypeOf, toStorageVersion } from '../api/convert.ts';
import type { Defaults } from '../api/defaults.ts';
import type { Scheme } from '../api/scheme.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { ResourceInfo, TypeInfo } from '../api/type-info.ts';
import { internalError } from '../base/status.ts';
import type { ApiObject } from '../codec/codec.ts';
import { decodeOwn } from '../codec/json.ts';
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
   * completed and encoded to the stored form of this one. The header's `schema` tells the version.
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
  /** The version that `complete` leaves it in; not given: the storage version. */
  readonly versionOf?: (object: Readonly<ApiObject>, resource: ResourceInfo) => ResourceInfo;
}

/** Over the product's own stored form. */
export function createTranscoder(options: TranscoderOptions): Transcoder {
  const { media, typeOf, complete, versionOf = (_object, resource) => resource } = options;
  return {
    open: openStored,
    close: closeStored,
    schemaOf: schemaGeneration,
    decodeForeign: (value, resource) => {
      const object = media.read(value, (of) => typeOf(of, resource));
      const completed = complete(object, resource);
      return encodeStored(completed, versionOf(completed, resource));
    },
    asSent,
    decode: (json, resource) => decodeOwn(json, resource.type),
  };
}

/** For built-in kinds, stored in any version that the scheme knows. */
export const schemeTranscoder = (scheme: Scheme, media: Pick<StoredMedia, 'read'>): Transcoder =>
  createTranscoder({
    media,
    typeOf: (of, resource) => storedTypeOf(of, resource, scheme),
    complete: (object, resource) => toStorageVersion(object, resource, scheme),
  });

export interface VersionsOptions {
  readonly media: Pick<StoredMedia, 'read'>;
  readonly defaults: Pick<Defaults, 'apply'>;
  /** To the storage version; undefined: objects stay in the version that they were stored in. */
  readonly convert: ((object: Readonly<ApiObject>, toApiVersion: string) => ApiObject) | undefined;
}

/**
 * For a kind that comes at run time, stored in any of these versions, which are all it has: an
 * object is read and completed by the schema of the version that it was stored in.
 */
export function versionsTranscoder(
  versions: readonly ResourceInfo[],
  { media, defaults, convert }: VersionsOptions,
): Transcoder {
  const byName = new Map(versions.map((version) => [apiVersionOf(version.kind), version]));
  const versionOf = ({ kind, apiVersion }: StoredTypeMeta, stored: ResourceInfo): ResourceInfo => {
    const version = byName.get(String(apiVersion));
    if (version !== undefined && kind === stored.kind.kind) return version;
    const name = JSON.stringify({ apiVersion, kind });
    throw internalError(`a stored ${name} is no ${stored.kind.kind} in a version that is known`);
  };
  return createTranscoder({
    media,
    typeOf: (of, stored) => versionOf(of, stored).type,
    complete(object, stored) {
      defaults.apply(object, versionOf(object, stored).type);
      return convert === undefined ? object : convert(object, apiVersionOf(stored.kind));
    },
    versionOf,
  });
}
