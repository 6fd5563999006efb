// The store of one resource in one served version, from what it is made of. Built-in kinds and
// resources that come at run time are made alike.
import type { ResourceInfo } from '../api/type-info.ts';
import type { Keyspace } from '../storage-etcd/keys.ts';
import { createResourceStore } from './resource-store.ts';
import type { ResourceStore } from './resource-store.ts';
import type { StoreParts } from './store-parts.ts';

/** One record twice where the served version is the stored one. */
export interface ServedResource {
  readonly served: ResourceInfo;
  readonly stored: ResourceInfo;
}

/** `strategy`, `rules` and `view` are those of the stored version. */
export interface StoreDeps extends Omit<
  StoreParts,
  'resource' | 'storedAs' | 'isStorageVersion' | 'keyOf'
> {
  readonly keyspace: Keyspace;
}

export function storeOf({ served, stored }: ServedResource, deps: StoreDeps): ResourceStore {
  const { keyspace, ...parts } = deps;
  return createResourceStore({
    ...parts,
    resource: served,
    storedAs: stored,
    isStorageVersion: stored === served,
    keyOf: ({ namespace, name }) => keyspace.key(stored.storagePrefix, namespace, name),
  });
}
