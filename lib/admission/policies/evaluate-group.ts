// Evaluates the conditions of one group (match conditions, validations, messages, annotations, one
// mutation) over one budget and one set of variables; waits for answers of the authorizer, and
// leaves long turns of the event loop.
import { limits } from '../../base/limits.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import { afterLongTurn } from '../../base/turn.ts';
import type { Budget } from '../../cel/use/budget.ts';
import type { Composition } from '../../cel/use/composition.ts';
import { evaluateCondition } from '../../cel/use/conditions.ts';
import type { CompiledCondition, ConditionResult, SharedCosts } from '../../cel/use/conditions.ts';
import type { Bindings, EvaluationOptions } from '../../cel/program.ts';
import type { AuthorizerAnswers } from './authorizer-answers.ts';

export interface Group {
  /** undefined: there is nothing to evaluate at this place. */
  readonly conditions: readonly (CompiledCondition | undefined)[];
  readonly variables: Pick<Composition, 'bind'>;
  /** Absent: whatever asks the authorizer fails. */
  readonly answers: AuthorizerAnswers;
  readonly mayAsk?: boolean;
  readonly budget: Budget;
}

/** One result for each condition; `exhausted`: the budget ran out, and no result counts. */
export type GroupOutcome =
  | { readonly kind: 'results'; readonly results: readonly (ConditionResult | undefined)[] }
  | { readonly kind: 'exhausted'; readonly message: string };

export function evaluateGroup(group: Group, bindings: Bindings): MaybePromise<GroupOutcome> {
  const { answers, variables, mayAsk = true } = group;
  const options = mayAsk ? answers.options : answers.unasked;
  const bound = variables.bind(bindings, options);
  const scope = { ...options, sharedCosts: bound.costs };
  return evaluateRest(group, bound.bindings, scope, []);
}

function evaluateRest(
  group: Group,
  bindings: Bindings,
  scope: EvaluationOptions & { readonly sharedCosts: SharedCosts },
  results: (ConditionResult | undefined)[],
): MaybePromise<GroupOutcome> {
  const { conditions, answers, budget } = group;
  const goOn = (): MaybePromise<GroupOutcome> => evaluateRest(group, bindings, scope, results);
  while (results.length < conditions.length) {
    const condition = conditions[results.length];
    if (condition === undefined) {
      results.push(undefined);
      continue;
    }
    const result = evaluateCondition(condition, bindings, budget, scope);
    if (result.kind === 'exhausted') return result;
    if (result.kind === 'pending') {
      const asked = answers.ask(result.check);
      if (asked instanceof Promise) return asked.then(goOn);
      continue;
    }
    results.push(result);
    if (results.length === conditions.length) break;
    const wait = afterLongTurn(limits.writeTurnMsMax);
    if (wait !== undefined) return wait.then(goOn);
  }
  return { kind: 'results', results };
}
