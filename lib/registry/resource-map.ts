// What serves a resource: (group, version, resource) to its store, or a whole group version to a
// proxy. Entries come and go by owner: the built-in ones, those of a definition, those of an API
// service.
import type { ProxyEntry } from './proxy-entry.ts';
import type { ResourceStore } from './resource-store.ts';

/** How requests name a resource. */
export interface ResourceName {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export type ResourceEntry = ResourceStore | ProxyEntry;

export interface ResourceMap {
  find(of: ResourceName): ResourceStore | undefined;
  /** Whether there are stores of a group, or of a version of it. */
  serves(group: string, version?: string): boolean;
  /** Of a group version that has no stores. */
  findProxy(of: Pick<ResourceName, 'group' | 'version'>): ProxyEntry | undefined;
  /** All stores; a list of its own for each state of the map. */
  readonly all: readonly ResourceStore[];
  readonly proxies: readonly ProxyEntry[];
  /** Another one after each change. */
  readonly version: number;
  /**
   * Resolves once the map shows all that was stored when it was called: what is not in it then is
   * not served. @throws StatusError 503 before what is stored was read for the first time.
   */
  proven(signal: AbortSignal): Promise<void>;
}

/** Told of each change in the turn in which it is made. */
export type OnChange = (former: readonly ResourceEntry[], now: readonly ResourceEntry[]) => void;

/** What gives entries to the map at run time, and proves that it has given all. */
export type ProveEntries = (signal: AbortSignal) => Promise<void>;

/**
 * What is served now. A change is one turn of the loop and costs what its owner has: readers see
 * all of it or nothing, and take what they need in one turn.
 */
export class ResourceMapHolder implements ResourceMap {
  readonly #stores = new Map<string, ResourceStore>();
  /** By group version. */
  readonly #proxies = new Map<string, ProxyEntry>();
  /** How many stores each group has, and each group version. */
  readonly #storeCounts = new Map<string, number>();
  readonly #owned = new Map<string, readonly ResourceEntry[]>();
  readonly #proofs: ProveEntries[] = [];
  readonly #followers = new Set<OnChange>();
  #all: readonly ResourceStore[] | undefined;
  #version = 0;

  /** For those who only read. */
  get current(): ResourceMap {
    return this;
  }

  find(of: ResourceName): ResourceStore | undefined {
    return this.#stores.get(keyOf(of));
  }

  findProxy(of: Pick<ResourceName, 'group' | 'version'>): ProxyEntry | undefined {
    return this.#proxies.size === 0 ? undefined : this.#proxies.get(groupVersionOf(of));
  }

  serves(group: string, version?: string): boolean {
    return this.#storeCounts.has(version === undefined ? group : `${group}/${version}`);
  }

  get all(): readonly ResourceStore[] {
    return (this.#all ??= [...this.#stores.values()]);
  }

  get proxies(): readonly ProxyEntry[] {
    return [...this.#proxies.values()];
  }

  get version(): number {
    return this.#version;
  }

  async proven(signal: AbortSignal): Promise<void> {
    await Promise.all(this.#proofs.map((prove) => prove(signal)));
  }

  /** Asked for each proof from now on. */
  proveBy(prove: ProveEntries): void {
    this.#proofs.push(prove);
  }

  /**
   * Serves these entries in place of the owner's former ones; none: the owner is gone. What another
   * owner serves stays with it: a definition cannot take the place of a built-in resource, nor a
   * proxy a group version that has stores, nor a store one that has a proxy.
   */
  set(owner: string, entries: readonly ResourceEntry[]): void {
    const former = this.#owned.get(owner) ?? [];
    for (const entry of former) this.#remove(entry);
    const added = entries.filter((entry) => this.#add(entry));
    if (added.length === 0) this.#owned.delete(owner);
    else this.#owned.set(owner, added);
    this.#all = undefined;
    this.#version += 1;
    for (const onChange of this.#followers) onChange(former, added);
  }

  /** From now on, until the returned function is called. */
  follow(onChange: OnChange): () => void {
    this.#followers.add(onChange);
    return () => void this.#followers.delete(onChange);
  }

  /** False: another entry has its place. */
  #add(entry: ResourceEntry): boolean {
    if ('proxy' in entry) {
      const groupVersion = groupVersionOf(entry);
      if (this.#proxies.has(groupVersion) || this.#storeCounts.has(groupVersion)) return false;
      this.#proxies.set(groupVersion, entry);
      return true;
    }
    const { resource } = entry;
    const [key, groupVersion] = [keyOf(resource), groupVersionOf(resource)];
    if (this.#proxies.has(groupVersion) || this.#stores.has(key)) return false;
    this.#stores.set(key, entry);
    this.#count(resource.group, 1);
    this.#count(groupVersion, 1);
    return true;
  }

  #count(of: string, change: number): void {
    const count = (this.#storeCounts.get(of) ?? 0) + change;
    if (count > 0) this.#storeCounts.set(of, count);
    else this.#storeCounts.delete(of);
  }

  #remove(entry: ResourceEntry): void {
    if ('proxy' in entry) {
      this.#proxies.delete(groupVersionOf(entry));
      return;
    }
    const { resource } = entry;
    this.#stores.delete(keyOf(resource));
    this.#count(resource.group, -1);
    this.#count(groupVersionOf(resource), -1);
  }
}

/** The owner of what every server of this release serves. */
export const builtInOwner = 'built-in';

const keyOf = ({ group, version, resource }: ResourceName): string =>
  `${group}/${version}/${resource}`;

const groupVersionOf = ({ group, version }: Pick<ResourceName, 'group' | 'version'>): string =>
  `${group}/${version}`;
