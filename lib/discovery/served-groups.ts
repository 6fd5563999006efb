// What is served, in the order of documents: resources that have a store, with the subresources
// that the store has. What documents list, works.
import type { ResourceInfo } from '../api/type-info.ts';
import { compareVersions } from '../api/version-order.ts';
import type { ProxyEntry } from '../registry/proxy-entry.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { DiscoveryGroup, DiscoveryVersion } from './discovery.ts';

type GroupVersion = Pick<ProxyEntry, 'group' | 'version'>;
export type ServedStore = Pick<ResourceStore, 'resource' | 'subresources'>;

/**
 * Follows what is served. `known` groups and versions come first and in the order given, the others
 * after them: groups by name, versions by `compareVersions`. A change costs what the groups have
 * that it concerns; the others are the very same, so that what was made of them can be kept.
 */
export class ServedGroups {
  readonly #known: readonly DiscoveryGroup[];
  readonly #ranks: ReadonlyMap<string, number>;
  readonly #recordOf = servedRecords();
  readonly #stores = new Map<string, Set<ServedStore>>();
  readonly #made = new Map<string, DiscoveryGroup>();
  /** In discovery order. */
  readonly #names: string[] = [];
  #groups: readonly DiscoveryGroup[] | undefined;

  constructor(known: readonly DiscoveryGroup[]) {
    this.#known = known;
    this.#ranks = new Map(known.map(({ group }, rank) => [group, rank]));
  }

  /** The same list until something changes. */
  get groups(): readonly DiscoveryGroup[] {
    return (this.#groups ??= this.#names.map((name) => this.#groupOf(name)));
  }

  /** `now` is served in place of `former`. */
  change(former: readonly ServedStore[], now: readonly ServedStore[]): void {
    for (const store of former) this.#remove(store);
    for (const store of now) this.#add(store);
    this.#groups = undefined;
  }

  #add(store: ServedStore): void {
    const { group, published } = store.resource;
    if (published?.isListed === false) return;
    let own = this.#stores.get(group);
    if (own === undefined) {
      own = new Set();
      this.#stores.set(group, own);
      this.#names.splice(this.#placeOf(group), 0, group);
    }
    own.add(store);
    this.#made.delete(group);
  }

  #remove(store: ServedStore): void {
    const { group } = store.resource;
    const own = this.#stores.get(group);
    if (own?.delete(store) !== true) return;
    this.#made.delete(group);
    if (own.size > 0) return;
    this.#stores.delete(group);
    this.#names.splice(this.#placeOf(group), 1);
  }

  /** Where a group is in the order, or would be. */
  #placeOf(group: string): number {
    let [low, high] = [0, this.#names.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#compare(this.#names[middle] ?? '', group) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compare(one: string, other: string): number {
    const rankOf = (group: string): number => this.#ranks.get(group) ?? this.#ranks.size;
    return rankOf(one) - rankOf(other) || compareText(one, other);
  }

  #groupOf(name: string): DiscoveryGroup {
    let group = this.#made.get(name);
    if (group === undefined) {
      const stores = [...(this.#stores.get(name) ?? [])];
      group = groupOf(name, stores, this.#known, this.#recordOf);
      this.#made.set(name, group);
    }
    return group;
  }
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
  if (proxies.length === 0) return groups;
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
