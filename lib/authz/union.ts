// Asks authorizers in order: the first that allows or denies decides; without an opinion the answer
// is no.
import type { Authorizer, Decision } from './authorizer.ts';

const nobodyAllows: Decision = { effect: 'noOpinion', reason: '' };

export function unionAuthorizer(members: readonly Authorizer[]): Authorizer {
  return {
    name: 'union',
    authorize(attributes, end) {
      return tryFrom(0, []);

      function tryFrom(start: number, reasons: readonly string[]): Decision | Promise<Decision> {
        let collected = reasons;
        for (let index = start; index < members.length; index++) {
          const decision = members[index]?.authorize(attributes, end) ?? nobodyAllows;
          if (decision instanceof Promise) {
            return decision.then((late) => settle(late, index, collected));
          }
          if (decision.effect !== 'noOpinion') return decision;
          collected = withReason(collected, decision);
        }
        return { effect: 'noOpinion', reason: collected.join(', ') };
      }
      function settle(
        decision: Decision,
        index: number,
        reasons: readonly string[],
      ): Decision | Promise<Decision> {
        if (decision.effect !== 'noOpinion') return decision;
        return tryFrom(index + 1, withReason(reasons, decision));
      }
    },
  };
}

const withReason = (reasons: readonly string[], decision: Decision): readonly string[] =>
  decision.reason === '' ? reasons : [...reasons, decision.reason];
