// Of everything that is known, what is served: resources that have a store, with the subresources
// that the store has. What documents list, works.
import type { ResourceInfo } from '../api/type-info.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { DiscoveryGroup } from './discovery.ts';

/** In the order given; versions and groups of which nothing is served are left out. */
export function servedGroups(
  groups: readonly DiscoveryGroup[],
  storeOf: (resource: ResourceInfo) => Pick<ResourceStore, 'subresources'> | undefined,
): DiscoveryGroup[] {
  return groups
    .map(({ group, versions }) => ({
      group,
      versions: versions
        .map((version) => ({
          ...version,
          resources: version.resources.flatMap((resource) => {
            const store = storeOf(resource);
            if (store === undefined) return [];
            const subresources = [...store.subresources.values()].map(({ info }) => info);
            return [{ ...resource, subresources }];
          }),
        }))
        .filter(({ resources }) => resources.length > 0),
    }))
    .filter(({ versions }) => versions.length > 0);
}
