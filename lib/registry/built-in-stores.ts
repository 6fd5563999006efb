// One store for every served built-in resource and version: the record, the strategy, the shared view and storage.
// Custom resources make their stores from the same parts.
import type { ResourceInfo } from '../api/type-info.ts';
import type { Scheme } from '../api/scheme.ts';
import { applyDefaults } from '../api/defaults.ts';
import { convertObject } from '../api/convert.ts';
import type { Item, ItemKey, ResourceView } from '../cacher/resource-view.ts';
import type { Keyspace } from '../storage-etcd/keys.ts';
import type { Storage, StoredItem } from '../storage-etcd/storage.ts';
import { strategyTable } from './resources/strategies.ts';
import type { StrategyOptions } from './resources/strategies.ts';
import { createResourceStore } from './resource-store.ts';
import type { ResourceStore } from './resource-store.ts';
import type { StoreParts } from './store-parts.ts';

export interface BuiltInStoreOptions
  extends StrategyOptions,
    Pick<StoreParts, 'clock' | 'continueKey' | 'canStreamLists' | 'canDeleteUnreadable'> {
  readonly scheme: Scheme;
  readonly keyspace: Keyspace;
  readonly storage: Storage;
  /** The view of a stored resource. */
  readonly viewOf: (stored: ResourceInfo) => ResourceView;
  /** Makes the item of a stored value as that view would show it. */
  readonly itemsOf: (stored: ResourceInfo) => (key: ItemKey, value: StoredItem) => Item;
}

export function builtInStores(options: BuiltInStoreOptions): ResourceStore[] {
  const { scheme, keyspace } = options;
  const strategyOf = strategyTable(options);
  return scheme.resources
    .filter((resource) => !resource.virtual)
    .map((resource) => {
      const storedAs = scheme.storageResource(resource);
      return createResourceStore({
        resource,
        storedAs,
        isStorageVersion: storedAs === resource,
        strategy: strategyOf(storedAs),
        view: options.viewOf(storedAs),
        storage: options.storage,
        keyOf: ({ namespace, name }) => keyspace.key(storedAs.storagePrefix, namespace, name),
        readStored: options.itemsOf(storedAs),
        applyDefaults,
        convert: (object, toApiVersion) => convertObject(object, toApiVersion, scheme),
        naming: options.naming,
        clock: options.clock,
        continueKey: options.continueKey,
        canStreamLists: options.canStreamLists,
        canDeleteUnreadable: options.canDeleteUnreadable,
      });
    });
}
