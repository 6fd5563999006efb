// Asks authorizers in order: the first that allows or denies decides; without an opinion the answer
// is no. What fails is noted and the next one is asked.
import type { WaitEnd } from '../base/abort.ts';
import { aggregateText } from '../base/aggregate-text.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import type { Attributes, Authorizer, Decision, ResolvedRules } from './authorizer.ts';

const nobodyAllows: Decision = { effect: 'noOpinion', reason: '' };

const nobody: readonly Decision[] = [];

export function unionAuthorizer(members: readonly Authorizer[]): Authorizer {
  return {
    name: 'union',
    authorize: (attributes, end) => askFrom(members, 0, nobody, { attributes, end }),
    rulesFor: (user, namespace) =>
      joined(members.flatMap((member) => member.rulesFor?.(user, namespace) ?? [])),
  };
}

interface Question {
  readonly attributes: Attributes;
  readonly end: WaitEnd;
}

/** Members that answer at once cost no promise. */
function askFrom(
  members: readonly Authorizer[],
  start: number,
  asked: readonly Decision[],
  question: Question,
): MaybePromise<Decision> {
  let silent = asked;
  for (let index = start; index < members.length; index++) {
    const decision = members[index]?.authorize(question.attributes, question.end) ?? nobodyAllows;
    if (decision instanceof Promise) return settle(decision, members, index, silent, question);
    if (decision.effect !== 'noOpinion') return decision;
    silent = withWords(silent, decision);
  }
  return allSilent(silent);
}

async function settle(
  late: Promise<Decision>,
  members: readonly Authorizer[],
  index: number,
  silent: readonly Decision[],
  question: Question,
): Promise<Decision> {
  const decision = await late;
  if (decision.effect !== 'noOpinion') return decision;
  return askFrom(members, index + 1, withWords(silent, decision), question);
}

/** Those that have something to say; most do not. */
const withWords = (silent: readonly Decision[], decision: Decision): readonly Decision[] =>
  decision.reason === '' && decision.error === undefined ? silent : [...silent, decision];

function allSilent(silent: readonly Decision[]): Decision {
  if (silent.length === 0) return nobodyAllows;
  const reasons = silent.flatMap(({ reason }) => (reason === '' ? [] : [reason]));
  const errors = silent.flatMap(({ error }) => error ?? []);
  const decision: Decision = { effect: 'noOpinion', reason: reasons.join('\n') };
  return errors.length === 0 ? decision : { ...decision, error: aggregateText(errors) };
}

function joined(parts: readonly ResolvedRules[]): ResolvedRules {
  const errors = parts.flatMap(({ evaluationError }) =>
    evaluationError === '' ? [] : [evaluationError],
  );
  return {
    resourceRules: parts.flatMap(({ resourceRules }) => resourceRules),
    nonResourceRules: parts.flatMap(({ nonResourceRules }) => nonResourceRules),
    incomplete: parts.some(({ incomplete }) => incomplete),
    evaluationError: aggregateText(errors),
  };
}
