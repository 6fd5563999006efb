// A write of a node, as the parts of NodeRestriction are asked about it.
import { notFound } from '../../base/status.ts';
import type { ResourceRef } from '../../base/status.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ItemKey } from '../../cacher/resource-view.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { findObject } from '../objects.ts';
import type { AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';

export interface NodeWrite {
  /** Who writes. */
  readonly node: string;
  readonly request: AdmissionRequest;
  /** undefined for DELETE. */
  readonly object: Readonly<ApiObject> | undefined;
  readonly signal: AbortSignal;
  /** @throws StatusError 403 of the object that is written. */
  readonly refuse: (text: string) => never;
}

/** @throws StatusError for what the node may not write. */
export type CheckNodeWrite = (write: NodeWrite) => MaybePromise<void>;

/** By plural name; groups have placeholders. */
export type NodeWriteRows = Readonly<
  Record<string, { readonly group: string; readonly check: CheckNodeWrite }>
>;

/** Finds an object, or says in the words of kube-apiserver's caches that there is none. */
export type FindNamed = (key: ItemKey, signal: AbortSignal) => MaybePromise<Readonly<ApiObject>>;

/** @param singular as messages name one */
export function finderOf(
  { objects, naming }: Pick<PluginParts, 'objects' | 'naming'>,
  { group, resource, singular }: ResourceRef & { readonly singular: string },
): FindNamed {
  const known = objects(group, resource);
  const ref = { group: naming.resolve(group), resource: singular };
  return (key, signal) =>
    whenThere(known && findObject(known, key, signal), (found) => {
      if (found === undefined) throw notFound(ref, key.name);
      return found;
    });
}
