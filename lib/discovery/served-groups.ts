// What is served, in the order of documents: resources that have a store, with the subresources
// that the store has. What documents list, works.
import type { ResourceInfo } from '../api/type-info.ts';
import { compareVersions } from '../api/version-order.ts';
import type { ProxyEntry } from '../registry/proxy-entry.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { DiscoveryGroup, DiscoveryVersion } from './discovery.ts';

type GroupVersion = Pick<ProxyEntry, 'group' | 'version'>;
export type ServedStore = Pick<ResourceStore, 'resource' | 'subresources'>;

interface Made {
  readonly stores: readonly ServedStore[];
  readonly group: DiscoveryGroup;
}

/**
 * `known` groups and versions come first and in the order given, the others after them: groups by
 * name, versions by `compareVersions`. A group whose stores are the same as the last time is the
 * very same group, so that what was made of it can be kept.
 */
export function servedGroups(
  known: readonly DiscoveryGroup[],
): (stores: readonly ServedStore[]) => readonly DiscoveryGroup[] {
  const recordOf = servedRecords();
  const ranks = new Map(known.map(({ group }, rank) => [group, rank]));
  const rankOf = (group: string): number => ranks.get(group) ?? ranks.size;
  const order = (one: string, other: string): number =>
    rankOf(one) - rankOf(other) || compareText(one, other);
  let last = new Map<string, Made>();
  return (stores) => {
    const made = new Map<string, Made>();
    for (const [group, own] of byGroup(stores)) {
      const former = last.get(group);
      const isSame =
        former?.stores.length === own.length &&
        own.every((store, index) => store === former.stores[index]);
      made.set(
        group,
        isSame ? former : { stores: own, group: groupOf(group, own, known, recordOf) },
      );
    }
    last = made;
    return [...made.values()]
      .map(({ group }) => group)
      .sort((one, other) => order(one.group, other.group));
  };
}

function byGroup(stores: readonly ServedStore[]): Map<string, ServedStore[]> {
  const groups = new Map<string, ServedStore[]>();
  for (const store of stores) {
    const { group, published } = store.resource;
    if (published?.isListed === false) continue;
    const own = groups.get(group);
    if (own === undefined) groups.set(group, [store]);
    else own.push(store);
  }
  return groups;
}

function groupOf(
  group: string,
  stores: readonly ServedStore[],
  known: readonly DiscoveryGroup[],
  recordOf: (store: ServedStore) => ResourceInfo,
): DiscoveryGroup {
  const order = known.find((one) => one.group === group)?.versions.map(({ version }) => version);
  const rankOf = (version: string): number => {
    const rank = order?.indexOf(version) ?? -1;
    return rank < 0 ? Infinity : rank;
  };
  const versions = [...new Set(stores.map(({ resource }) => resource.version))].sort(
    (one, other) =>
      rankOf(one) === rankOf(other) ? compareVersions(one, other) : rankOf(one) - rankOf(other),
  );
  return { group, versions: versions.map((version) => versionOf(version)) };

  function versionOf(version: string): DiscoveryVersion {
    const resources = stores
      .filter(({ resource }) => resource.version === version)
      .map(recordOf)
      .sort((one, other) => compareText(one.resource, other.resource));
    return { version, resources };
  }
}

/**
 * Records with the subresources that are served. A store always has the same one, and where all of
 * them are served it is the very record of the store: nobody reads a type that nobody needs.
 */
function servedRecords(): (store: ServedStore) => ResourceInfo {
  const made = new WeakMap<ServedStore, ResourceInfo>();
  return (store) => {
    const known = made.get(store);
    if (known !== undefined) return known;
    const { resource } = store;
    const subresources = [...store.subresources.values()].map(({ info }) => info);
    const isWhole =
      subresources.length === resource.subresources.length &&
      subresources.every((info, index) => info === resource.subresources[index]);
    const record = isWhole ? resource : { ...resource, subresources };
    made.set(store, record);
    return record;
  };
}

/**
 * The same with what proxies serve: group versions whose resources are theirs to tell. They stand
 * behind those that have stores, and their groups at the end.
 */
export function withProxies(
  groups: readonly DiscoveryGroup[],
  proxies: readonly GroupVersion[],
): readonly DiscoveryGroup[] {
  const listed = new Map(groups.map((of) => [of.group, of]));
  const inOrder = [...proxies].sort(
    (one, other) =>
      compareText(one.group, other.group) || compareVersions(one.version, other.version),
  );
  for (const { group, version } of inOrder) {
    const versions = listed.get(group)?.versions ?? [];
    const proxied = { version, resources: [], freshness: 'Stale' } as const;
    listed.set(group, { group, versions: [...versions, proxied] });
  }
  return [...listed.values()];
}

const compareText = (one: string, other: string): number =>
  one < other ? -1 : Number(one > other);
