// What configured rules know of the resources that the server has at this moment, custom ones too:
// which are the same objects in other versions, and how to read the parameters of policies.
import type { GroupVersionKind, ResourceInfo } from '../api/type-info.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { ItemKey } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';

export interface ServedResources {
  /** Another one after each change of what is served. */
  readonly version: number;
  /** Undefined: nobody serves it. */
  ofKind(kind: GroupVersionKind): ServedResource | undefined;
  find(of: {
    readonly group: string;
    readonly version: string;
    readonly resource: string;
  }): ServedResource | undefined;
  /**
   * All served versions and groups in which requests may name the objects of `resource`, itself
   * among them, in the order in which they are served.
   */
  equivalentsOf(resource: ResourceInfo): readonly ResourceInfo[];
  /** Resolves once everything that was stored at the call is shown here. */
  proven(signal: AbortSignal): Promise<void>;
}

/** A resource in one version. */
export interface ServedResource {
  readonly resource: ResourceInfo;
  /** As memory has it, in this version, with kind and apiVersion; undefined: it is not there. */
  read(key: ItemKey, signal: AbortSignal): MaybePromise<Readonly<ApiObject> | undefined>;
  /** By namespace and name; '' stands for all namespaces, and for every label. */
  list(
    namespace: string,
    labelSelector: string,
    signal: AbortSignal,
  ): Promise<readonly Readonly<ApiObject>[]>;
}
