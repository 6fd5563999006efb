// Which of the policies that are in force are for a request.
import { whenThere } from '../../base/maybe-promise.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isConfiguration, isReview } from '../match/excluded.ts';
import type { Candidate } from '../match/match-index.ts';
import { storedNamespace } from '../match/namespace.ts';
import type { MatchedAs } from '../match/rules.ts';
import type { Objects } from '../objects.ts';
import type { AdmissionRequest } from '../plugin.ts';
import type { PluginParts } from '../plugin-parts.ts';
import { policySets } from './bindings.ts';
import type { BoundPolicies, BoundPolicy, PolicyResources, PolicySets } from './bindings.ts';
import { matchedWay } from './matched.ts';
import type { Selected } from './matched.ts';
import { ConfigurationError } from './params.ts';

/** The policies of one kind, and which of them are for a request. */
export class PolicySource {
  readonly #sets: PolicySets;
  readonly #namespaces: Objects | undefined;
  readonly #isOfRules: (request: AdmissionRequest) => boolean;
  readonly #isOfReviews: (request: AdmissionRequest) => boolean;

  constructor(parts: PluginParts, resources: PolicyResources) {
    this.#sets = policySets(parts, resources);
    this.#namespaces = parts.objects('', 'namespaces');
    this.#isOfRules = isConfiguration(parts.naming);
    this.#isOfReviews = isReview(parts.naming);
  }

  /** Whether policies may be for a request; sets that are still being made may hold some. */
  mayMatch(request: AdmissionRequest): boolean {
    if (this.#isOfReviews(request)) return false;
    const sets = this.#setsFor(request);
    return sets instanceof Promise || mayConcern(sets, request);
  }

  /** Those whose rules and selectors select a request that they may be for; undefined: none. */
  select(
    request: AdmissionRequest,
    object: Readonly<ApiObject> | undefined,
    signal: AbortSignal,
  ): MaybePromise<Selection | undefined> {
    return whenThere(this.#setsFor(request), (sets) => {
      if (!mayConcern(sets, request)) return undefined;
      return whenThere(storedNamespace(request, this.#namespaces, signal), (namespace) => {
        const selected = { request, object, namespace };
        const matched = matchedOf(sets, selected);
        return matched.length === 0 ? undefined : { selected, matched };
      });
    });
  }

  #setsFor(request: AdmissionRequest): ReturnType<PolicySets['all']> {
    return this.#isOfRules(request) ? this.#sets.ofFiles() : this.#sets.all();
  }
}

export interface Selection {
  readonly selected: Selected;
  /** At least one. */
  readonly matched: readonly Matched[];
}

const mayConcern = (sets: readonly BoundPolicies[], request: AdmissionRequest): boolean =>
  sets.some((set) => set.candidates(request).length > 0);

export interface Matched extends BoundPolicy {
  /** In which version; the error: it could not be told whether the policy is for the request. */
  readonly as: MatchedAs | undefined | ConfigurationError;
}

/** Those whose rules and selectors select the request, of all sets in their order. */
function matchedOf(sets: readonly BoundPolicies[], selected: Selected): readonly Matched[] {
  const matched: Matched[] = [];
  for (const set of sets) {
    for (const candidate of set.candidatesIn(selected.request, selected.namespace)) {
      const way = wayOrError(candidate, selected);
      if (way === undefined) continue;
      const { policy, bindings } = candidate.entry;
      matched.push({ policy, bindings, as: way instanceof Error ? way : way.as });
    }
  }
  return matched;
}

function wayOrError(
  candidate: Candidate<BoundPolicy>,
  selected: Selected,
): ReturnType<typeof matchedWay> | ConfigurationError {
  try {
    return matchedWay(candidate, selected, 'policy');
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
}
