// (group, version, resource) to its store. Resources come and go by owner: the built-in ones, those
// of a definition, those of an API service.
import type { ResourceStore } from './resource-store.ts';

/** How requests name a resource. */
export interface ResourceName {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

export interface ResourceMap {
  find(of: ResourceName): ResourceStore | undefined;
  /** A list of its own for each state of the map. */
  readonly all: readonly ResourceStore[];
  /** Another one after each change. */
  readonly version: number;
}

/**
 * What is served now. A change is one turn of the loop and costs what its owner has: readers see
 * all of it or nothing, and take what they need in one turn.
 */
export class ResourceMapHolder implements ResourceMap {
  readonly #stores = new Map<string, ResourceStore>();
  /** Keys in `#stores` by owner. */
  readonly #owned = new Map<string, readonly string[]>();
  #all: readonly ResourceStore[] | undefined;
  #version = 0;

  /** For those who only read. */
  get current(): ResourceMap {
    return this;
  }

  find(of: ResourceName): ResourceStore | undefined {
    return this.#stores.get(keyOf(of));
  }

  get all(): readonly ResourceStore[] {
    return (this.#all ??= [...this.#stores.values()]);
  }

  get version(): number {
    return this.#version;
  }

  /**
   * Serves these stores in place of the owner's former ones; none: the owner is gone. What another
   * owner serves stays with it: a definition cannot take the place of a built-in resource.
   */
  set(owner: string, stores: readonly ResourceStore[]): void {
    for (const key of this.#owned.get(owner) ?? []) this.#stores.delete(key);
    const keys: string[] = [];
    for (const store of stores) {
      const key = keyOf(store.resource);
      if (this.#stores.has(key)) continue;
      this.#stores.set(key, store);
      keys.push(key);
    }
    if (keys.length === 0) this.#owned.delete(owner);
    else this.#owned.set(owner, keys);
    this.#all = undefined;
    this.#version += 1;
  }
}

/** The owner of what every server of this release serves. */
export const builtInOwner = 'built-in';

const keyOf = ({ group, version, resource }: ResourceName): string =>
  `${group}/${version}/${resource}`;
