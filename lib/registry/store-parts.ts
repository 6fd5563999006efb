// What every verb of one resource works with, and the few steps that several verbs share.
// Verbs are plain functions over this record; resource-store.ts binds them together.
import type { AdmissionChain } from '../admission/chain.ts';
import type { RulesInForce } from '../admission/in-force.ts';
import type { Defaults } from '../api/defaults.ts';
import type { GroupVersionKind, ResourceInfo, TypeInfo } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { TokenIssuer } from '../authn/service-account/token-issuer.ts';
import type { Clock } from '../base/clock.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { notFound } from '../base/status.ts';
import type { ResourceRef } from '../base/status.ts';
import type { Item, ItemKey, ResourceView } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { StoredMedia } from '../codec/stored-media.ts';
import { isSegment } from '../storage-etcd/keys.ts';
import type { Storage } from '../storage-etcd/storage.ts';
import type { Companions } from './companions.ts';
import type { Conversion } from './conversion.ts';
import type { ResourceStrategy } from '../kinds/strategy.ts';
import type { ObjectRules } from './validation.ts';
import type { WriteTurns } from './write-turns.ts';

/** The version that is in etcd, where another one is judged. */
export interface Storing {
  readonly resource: ResourceInfo;
  readonly conversion: Conversion;
}

export interface StoreLife {
  /** Others have its place, or it is gone: no watch begins. */
  readonly isOver: boolean;
  /**
   * What was just read is of something that is still there, as far as memory knows.
   * @throws StoreReplaced
   */
  requireThere(): void;
}

export interface StoreParts {
  /** The version that requests name. */
  readonly resource: ResourceInfo;
  /** The same resource in its storage version. */
  readonly storedAs: ResourceInfo;
  /**
   * Between the two. undefined: they are one, and an item that lies in another version is taken as
   * it lies; only its metadata can be written then.
   */
  readonly conversion: Conversion | undefined;
  /**
   * What writes work with where objects are judged in the version of requests: to them it is the
   * stored one. undefined: these parts.
   */
  readonly writing?: StoreParts | undefined;
  /** Of `writing`: between the judged version and the one in etcd. */
  readonly storing?: Storing | undefined;
  readonly strategy: ResourceStrategy;
  /** Gated fields, and validation besides metadata. */
  readonly rules: ObjectRules;
  readonly admission: AdmissionChain;
  /** Absent: what is written is judged by no rules of the API. */
  readonly rulesInForce?: RulesInForce | undefined;
  /** What is written beside the objects; undefined: nothing. */
  readonly companions?: Companions | undefined;
  readonly view: ResourceView;
  /** Of a store that others may take the place of, or nothing. */
  readonly life?: StoreLife;
  /** Told of each object that was stored; the writer is answered when that is done. */
  readonly onStored?: ((item: Item) => MaybePromise<void>) | undefined;
  readonly storage: Storage;
  /** The encoding that objects have in etcd. */
  readonly media: Pick<StoredMedia, 'write' | 'isTodays'>;
  readonly keyOf: (key: ItemKey) => string;
  /** One for all versions of a resource. */
  readonly turns: WriteTurns;
  readonly defaults: Pick<Defaults, 'apply'>;
  /** An object of the kind in any of its versions. @throws StatusError 500. */
  readonly convert: (
    object: Readonly<ApiObject>,
    toApiVersion: string,
    signal: AbortSignal,
  ) => MaybePromise<ApiObject>;
  /** The type of a kind that is not the resource's own; undefined: not known. */
  readonly typeOf: (kind: GroupVersionKind) => TypeInfo | undefined;
  /** Another built-in resource in its storage version; undefined: there is none. */
  readonly partsOf: (name: ResourceRef) => StoreParts | undefined;
  /** Absent: service accounts have no tokens. */
  readonly tokens?: TokenIssuer | undefined;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  /** Signs continue tokens; the same on every replica. */
  readonly continueKey: Uint8Array;
  /** Gate WatchList. */
  readonly canStreamLists: boolean;
  /** Gate AllowUnsafeMalformedObjectDeletion. */
  readonly canDeleteUnreadable: boolean;
}

/**
 * The key of a request's object; cluster-scoped resources have no namespace.
 * @throws StatusError 404 for names that no object can have.
 */
export function itemKeyOf(
  parts: StoreParts,
  path: { readonly namespace: string; readonly name: string },
): ItemKey {
  const { resource } = parts;
  const namespace = resource.namespaced ? path.namespace : '';
  if (!isSegment(path.name) || (resource.namespaced && !isSegment(namespace))) {
    throw notFound(resource, path.name);
  }
  return { namespace, name: path.name };
}

export const hasStatusSubresource = (resource: ResourceInfo): boolean =>
  resource.subresources.some((subresource) => subresource.name === 'status');
