// One evaluation of a validating policy: with one binding's parameter, for one request. Says what
// is violated and what is to be annotated; what follows from it is the caller's.
import { limits } from '../../base/limits.ts';
import { Budget } from '../../cel/use/budget.ts';
import type { Bindings } from '../../cel/program.ts';
import type { ConditionResult } from '../../cel/use/conditions.ts';
import type { AuthorizerAnswers } from './authorizer-answers.ts';
import { evaluateGroup } from './evaluate-group.ts';
import type { GroupOutcome } from './evaluate-group.ts';
import type { ValidatingExpressions } from './validating-expressions.ts';

export type ErrorType = 'no_error' | 'compile_error' | 'invalid_error' | 'out_of_budget';

/** Anything but `true`. */
export interface Finding {
  /** Of the validation; 0 for what concerns all of them. */
  readonly index: number;
  readonly message: string;
  readonly reason: string;
  /** `no_error`: the expression is false. Errors count as the failure policy says. */
  readonly errorType: ErrorType;
}

export interface Annotation {
  readonly key: string;
  readonly value: string;
}

export interface Evaluated {
  readonly findings: readonly Finding[];
  readonly annotations: readonly Annotation[];
  readonly annotationErrors: readonly Finding[];
  /** Cost units. */
  readonly cost: number;
}

export async function validateOne(
  compiled: ValidatingExpressions,
  bindings: Bindings,
  answers: AuthorizerAnswers,
): Promise<Evaluated> {
  const budget = new Budget(limits.policyCostMax);
  const findings = await findingsOf(compiled, bindings, answers, budget);
  const cost = limits.policyCostMax - Math.max(budget.remaining, 0);
  if (compiled.annotations.length === 0) {
    return { findings, annotations: [], annotationErrors: [], cost };
  }
  const annotating = new Budget(limits.policyCostMax);
  const { annotations: conditions, variables, annotationKeys } = compiled;
  const group = { conditions, variables, answers, budget: annotating };
  const outcome = await evaluateGroup(group, bindings);
  const spent = limits.policyCostMax - Math.max(annotating.remaining, 0);
  if (outcome.kind === 'exhausted') {
    const findingsToo = [errorOf(0, outcome.message)];
    return { findings: findingsToo, annotations: [], annotationErrors: [], cost: cost + spent };
  }
  const annotations: Annotation[] = [];
  const annotationErrors: Finding[] = [];
  for (const [index, result] of outcome.results.entries()) {
    if (result?.kind === 'error') annotationErrors.push(errorOf(index, result.message));
    const value = textOf(result);
    if (value !== '') annotations.push({ key: annotationKeys[index] ?? '', value });
  }
  return { findings, annotations, annotationErrors, cost: cost + spent };
}

async function findingsOf(
  compiled: ValidatingExpressions,
  bindings: Bindings,
  answers: AuthorizerAnswers,
  budget: Budget,
): Promise<readonly Finding[]> {
  const { validations: conditions, variables } = compiled;
  const outcome = await evaluateGroup({ conditions, variables, answers, budget }, bindings);
  if (outcome.kind === 'exhausted') return [errorOf(0, outcome.message)];
  const { results } = outcome;
  if (!needsMessages(compiled, results, budget))
    return compiled.rules.flatMap(plainFinding(results));
  const said = await evaluateGroup(
    { conditions: compiled.messages, variables, answers, mayAsk: false, budget },
    bindings,
  );
  return compiled.rules.flatMap((rule, index) => {
    const [plain] = plainFinding(results)(rule, index);
    if (plain !== undefined && plain.errorType !== 'no_error') return [plain];
    if (said.kind === 'exhausted')
      return [errorOf(index, `failed messageExpression: ${said.message}`)];
    return plain === undefined
      ? []
      : [{ ...plain, message: messageOf(said, index) ?? plain.message }];
  });
}

/** What a validation gives without its message expression; nothing: it is true. */
const plainFinding =
  (results: readonly (ConditionResult | undefined)[]) =>
  (rule: ValidatingExpressions['rules'][number], index: number): readonly Finding[] => {
    const result = results[index];
    if (result === undefined) return [];
    if (result.kind === 'error') return [errorOf(index, result.message)];
    if (result.value === true) return [];
    return [{ index, message: rule.message, reason: rule.reason, errorType: 'no_error' }];
  };

/**
 * Messages are of no use where nothing is violated, but their cost counts: only where they could
 * use up what is left of the budget they are evaluated all the same.
 */
function needsMessages(
  { messageCount, variables }: ValidatingExpressions,
  results: readonly (ConditionResult | undefined)[],
  budget: Budget,
): boolean {
  if (messageCount === 0) return false;
  if (results.some((result) => result?.kind === 'value' && result.value !== true)) return true;
  const costMost = (messageCount + variables.conditions.length) * limits.expressionCostMax;
  return costMost > budget.remaining;
}

/** undefined: the expression gives nothing to show. */
function messageOf(said: GroupOutcome, index: number): string | undefined {
  const text = textOf(said.kind === 'results' ? said.results[index] : undefined);
  const isShown =
    text !== '' && !text.includes('\n') && Buffer.byteLength(text) <= limits.ruleMessageBytesMax;
  return isShown ? text : undefined;
}

const textOf = (result: ConditionResult | undefined): string =>
  result?.kind === 'value' && typeof result.value === 'string' ? result.value.trim() : '';

function errorOf(index: number, message: string): Finding {
  return { index, message, reason: 'Invalid', errorType: errorTypeOf(message) };
}

/** As dashboards know them from the text. */
export function errorTypeOf(message: string): ErrorType {
  if (message.startsWith('compilation error')) return 'compile_error';
  return message.includes(outOfBudget) ? 'out_of_budget' : 'invalid_error';
}

const outOfBudget = 'running out of cost budget';
