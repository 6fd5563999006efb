// An authorizer whose decisions are counted: what it allows and denies, nothing where it has no
// opinion.
import type { NumberChild } from '../telemetry/series.ts';
import type { Authorizer, Decision } from './authorizer.ts';
import { rulesOf } from './rules-of.ts';

export interface DecisionCounts {
  readonly allowed: NumberChild;
  readonly denied: NumberChild;
}

/** @param counts looked up with the first decision: there are no samples of what never decided. */
export function countedAuthorizer(inner: Authorizer, counts: () => DecisionCounts): Authorizer {
  let known: DecisionCounts | undefined;
  const counted = (decision: Decision): Decision => {
    if (decision.effect === 'noOpinion') return decision;
    known ??= counts();
    known[decision.effect === 'allow' ? 'allowed' : 'denied'].value++;
    return decision;
  };
  return {
    name: inner.name,
    ...rulesOf(inner),
    authorize(attributes, end) {
      const decision = inner.authorize(attributes, end);
      return decision instanceof Promise ? decision.then(counted) : counted(decision);
    },
  };
}
