// Finds among many configurations those that may be for a request, by what it does and where: rules
// are looked at once for each of the few things that requests do, selectors of namespaces once for
// each state of a namespace, so that a write which none concerns costs a few lookups.
import type { ResourceInfo } from '../../api/type-info.ts';
import { limits } from '../../base/limits.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { AdmissionRequest } from '../plugin.ts';
import type { ServedResources } from '../served-resources.ts';
import { fitOf } from './criteria.ts';
import type { Criteria, Fit } from './criteria.ts';
import { labelsOfStored } from './namespace.ts';
import type { StoredNamespace } from './namespace.ts';

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
  // Namespace as it is decoded, which never changes → all candidates → those for it
  readonly #byNamespace = new WeakMap<
    Readonly<ApiObject>,
    WeakMap<readonly Candidate<Entry>[], readonly Candidate<Entry>[]>
  >();

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

  /**
   * Those of `candidates` whose selectors of namespaces select this one, as it is stored, or cannot
   * be evaluated; all of them where it has no part in that.
   */
  candidatesIn(
    request: Pick<AdmissionRequest, 'operation' | 'resource' | 'subresource'>,
    namespace: StoredNamespace,
  ): readonly Candidate<Entry>[] {
    const all = this.candidates(request);
    if (all.length === 0 || namespace === 'absent' || namespace instanceof Error) return all;
    let known = this.#byNamespace.get(namespace);
    if (known === undefined) {
      known = new WeakMap<readonly Candidate<Entry>[], readonly Candidate<Entry>[]>();
      this.#byNamespace.set(namespace, known);
    }
    let found = known.get(all);
    if (found === undefined) {
      found = all.filter(({ criteria }) => mayBeIn(criteria, namespace));
      // Of many, to look at the selectors is the least work.
      if (found.length <= limits.candidatesKeptMax) known.set(all, found);
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

function mayBeIn({ namespaceSelector }: Criteria, namespace: Readonly<ApiObject>): boolean {
  try {
    return namespaceSelector.isEmpty || namespaceSelector.matches(labelsOfStored(namespace));
  } catch {
    return true; // it is refused by the one who judges
  }
}
