// Whether the match conditions of a policy let it judge a request.
import { aggregateText } from '../../base/aggregate-text.ts';
import { limits } from '../../base/limits.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { whenThere } from '../../base/maybe-promise.ts';
import { Budget } from '../../cel/use/budget.ts';
import type { Bindings } from '../../cel/program.ts';
import type { AuthorizerAnswers } from './authorizer-answers.ts';
import type { PolicyExpressions } from './compiled.ts';
import { evaluateGroup } from './evaluate-group.ts';
import type { GroupOutcome } from './evaluate-group.ts';

/** `errors`: how many conditions failed; `failed` says why, where none of the others is false. */
export interface Matching {
  readonly kind: 'match' | 'excluded' | 'failed';
  readonly message: string;
  readonly errorCount: number;
}

const matches: Matching = { kind: 'match', message: '', errorCount: 0 };

/** One that is false decides, also where others fail. `bindings`: namespaceObject is null. */
export function matchConditions(
  { matchConditions: conditions, variables }: PolicyExpressions,
  bindings: Bindings,
  answers: AuthorizerAnswers,
): MaybePromise<Matching> {
  if (conditions.length === 0) return matches;
  const budget = new Budget(limits.matchConditionsCostMax);
  return whenThere(evaluateGroup({ conditions, variables, answers, budget }, bindings), matchingOf);
}

function matchingOf(outcome: GroupOutcome): Matching {
  if (outcome.kind === 'exhausted') {
    return { kind: 'failed', message: outcome.message, errorCount: 0 };
  }
  const errors: string[] = [];
  for (const result of outcome.results) {
    if (result?.kind === 'error') errors.push(result.message);
    if (result?.kind === 'value' && result.value === false) {
      return { kind: 'excluded', message: '', errorCount: errors.length };
    }
  }
  if (errors.length === 0) return matches;
  return { kind: 'failed', message: aggregateText(errors), errorCount: errors.length };
}
