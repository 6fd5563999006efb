// (group, version, resource) to its store. A map never changes: a new one replaces it as a whole.
import type { ResourceStore } from './resource-store.ts';

export class ResourceMap {
  readonly #stores: ReadonlyMap<string, ResourceStore>;
  readonly all: readonly ResourceStore[];

  constructor(stores: readonly ResourceStore[]) {
    this.all = stores;
    this.#stores = new Map(stores.map((store) => [keyOf(store.resource), store]));
  }

  find(of: {
    readonly group: string;
    readonly version: string;
    readonly resource: string;
  }): ResourceStore | undefined {
    return this.#stores.get(keyOf(of));
  }
}

/** The one place that holds the current map; readers take `current` once per request. */
export class ResourceMapHolder {
  #current = new ResourceMap([]);

  get current(): ResourceMap {
    return this.#current;
  }

  swap(next: ResourceMap): void {
    this.#current = next;
  }
}

const keyOf = (of: { group: string; version: string; resource: string }): string =>
  `${of.group}/${of.version}/${of.resource}`;
