// Finds among many configurations those that may be for a request, by what it does: their rules
// are looked at once for each of the few things that requests do, so that a write which none
// concerns costs two lookups.
import type { ResourceInfo } from '../../api/type-info.ts';
import type { AdmissionRequest } from '../plugin.ts';
import type { ServedResources } from '../served-resources.ts';
import { fitOf } from './criteria.ts';
import type { Criteria, Fit } from './criteria.ts';

/** An entry whose rules fit; its selectors and the name of the object are still to be asked. */
export interface Candidate<Entry> extends Fit {
  readonly entry: Entry;
  readonly criteria: Criteria;
}

export class MatchIndex<Entry> {
  readonly entries: readonly Entry[];
  readonly #criteriaOf: (entry: Entry) => Criteria;
  readonly #served: Pick<ServedResources, 'version' | 'equivalentsOf'>;
  // resource → `operation subresource` → candidates
  #known = new WeakMap<ResourceInfo, Map<string, readonly Candidate<Entry>[]>>();
  #servedVersion: number;

  constructor(
    entries: readonly Entry[],
    criteriaOf: (entry: Entry) => Criteria,
    served: Pick<ServedResources, 'version' | 'equivalentsOf'>,
  ) {
    this.entries = entries;
    this.#criteriaOf = criteriaOf;
    this.#served = served;
    this.#servedVersion = served.version;
  }

  /** In the order of the entries; the same array until what is served changes. */
  candidates(
    request: Pick<AdmissionRequest, 'operation' | 'resource' | 'subresource'>,
  ): readonly Candidate<Entry>[] {
    if (this.entries.length === 0) return none;
    if (this.#servedVersion !== this.#served.version) {
      this.#servedVersion = this.#served.version;
      this.#known = new WeakMap();
    }
    const { operation, resource, subresource } = request;
    let ofResource = this.#known.get(resource);
    if (ofResource === undefined) {
      ofResource = new Map<string, readonly Candidate<Entry>[]>();
      this.#known.set(resource, ofResource);
    }
    const key = subresource === '' ? operation : `${operation} ${subresource}`;
    let found = ofResource.get(key);
    if (found === undefined) {
      found = this.#find(request);
      ofResource.set(key, found);
    }
    return found;
  }

  #find(
    action: Pick<AdmissionRequest, 'operation' | 'resource' | 'subresource'>,
  ): readonly Candidate<Entry>[] {
    const equivalents = this.#served.equivalentsOf(action.resource);
    const found: Candidate<Entry>[] = [];
    for (const entry of this.entries) {
      const criteria = this.#criteriaOf(entry);
      const fit = fitOf(criteria, action, equivalents);
      if (fit !== undefined) found.push({ entry, criteria, ...fit });
    }
    return found;
  }
}

const none: readonly never[] = [];
