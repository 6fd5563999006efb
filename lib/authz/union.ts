// Asks authorizers in order: the first that allows or denies decides; without an opinion the answer
// is no. What fails is noted and the next one is asked.
import type { Authorizer, Decision, ResolvedRules } from './authorizer.ts';

const nobodyAllows: Decision = { effect: 'noOpinion', reason: '' };

export function unionAuthorizer(members: readonly Authorizer[]): Authorizer {
  return {
    name: 'union',
    authorize(attributes, end) {
      return tryFrom(0, []);

      function tryFrom(start: number, asked: readonly Decision[]): Decision | Promise<Decision> {
        let silent = asked;
        for (let index = start; index < members.length; index++) {
          const decision = members[index]?.authorize(attributes, end) ?? nobodyAllows;
          if (decision instanceof Promise) {
            return decision.then((late) => settle(late, index, silent));
          }
          if (decision.effect !== 'noOpinion') return decision;
          silent = withWords(silent, decision);
        }
        return allSilent(silent);
      }
      function settle(
        decision: Decision,
        index: number,
        silent: readonly Decision[],
      ): Decision | Promise<Decision> {
        if (decision.effect !== 'noOpinion') return decision;
        return tryFrom(index + 1, withWords(silent, decision));
      }
    },
    rulesFor: (user, namespace) =>
      joined(members.flatMap((member) => member.rulesFor?.(user, namespace) ?? [])),
  };
}

/** Those that have something to say; most do not. */
const withWords = (silent: readonly Decision[], decision: Decision): readonly Decision[] =>
  decision.reason === '' && decision.error === undefined ? silent : [...silent, decision];

function allSilent(silent: readonly Decision[]): Decision {
  if (silent.length === 0) return nobodyAllows;
  const reasons = silent.flatMap(({ reason }) => (reason === '' ? [] : [reason]));
  const errors = silent.flatMap(({ error }) => error ?? []);
  const decision: Decision = { effect: 'noOpinion', reason: reasons.join('\n') };
  return errors.length === 0 ? decision : { ...decision, error: together(errors) };
}

/** Several errors as one text, each once, as Kubernetes writes them. */
function together(errors: readonly string[]): string {
  const [first = '', ...more] = new Set(errors);
  return more.length === 0 ? first : `[${[first, ...more].join(', ')}]`;
}

function joined(parts: readonly ResolvedRules[]): ResolvedRules {
  const errors = parts.flatMap(({ evaluationError }) =>
    evaluationError === '' ? [] : [evaluationError],
  );
  return {
    resourceRules: parts.flatMap(({ resourceRules }) => resourceRules),
    nonResourceRules: parts.flatMap(({ nonResourceRules }) => nonResourceRules),
    incomplete: parts.some(({ incomplete }) => incomplete),
    evaluationError: together(errors),
  };
}
