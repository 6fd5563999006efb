// Which of the policies that are in force are for a request.
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { Candidate } from '../match/match-index.ts';
import type { MatchedAs } from '../match/rules.ts';
import type { AdmissionRequest } from '../plugin.ts';
import type { BoundPolicies, BoundPolicy } from './bindings.ts';
import { matchedWay } from './matched.ts';
import type { Selected } from './matched.ts';
import { ConfigurationError } from './params.ts';

/** Of all sets, in their order. */
export function candidatesOf(
  sets: readonly BoundPolicies[],
  request: AdmissionRequest,
): readonly Candidate<BoundPolicy>[] {
  let found: readonly Candidate<BoundPolicy>[] = none;
  for (const set of sets) {
    const more = set.candidates(request);
    if (more.length > 0) found = found.length === 0 ? more : [...found, ...more];
  }
  return found;
}

/** Whether policies may be for a request; sets that are still being made may hold some. */
export const mayMatch = (
  sets: MaybePromise<readonly BoundPolicies[]>,
  request: AdmissionRequest,
): boolean => sets instanceof Promise || candidatesOf(sets, request).length > 0;

const none: readonly Candidate<BoundPolicy>[] = [];

export interface Matched extends BoundPolicy {
  /** In which version; the error: it could not be told whether the policy is for the request. */
  readonly as: MatchedAs | undefined | ConfigurationError;
}

/** Those whose rules and selectors select the request. */
export function matchedOf(
  candidates: readonly Candidate<BoundPolicy>[],
  selected: Selected,
): readonly Matched[] {
  const matched: Matched[] = [];
  for (const candidate of candidates) {
    const way = wayOrError(candidate, selected);
    if (way === undefined) continue;
    const { policy, bindings } = candidate.entry;
    matched.push({ policy, bindings, as: way instanceof Error ? way : way.as });
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
