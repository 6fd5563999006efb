// Lists of conditions over one set of variables and one budget: validations of policies, match
// conditions, audit annotations.
import { atOnce } from '../../base/steps.ts';
import type { Steps } from '../../base/steps.ts';
import { boolType, sameType, typeText } from '../model/cel-type.ts';
import type { CelType } from '../model/cel-type.ts';
import type { AuthorizationCheck } from '../model/declarations.ts';
import { CompileErrors, ProgramFailure } from '../environment.ts';
import type { Environment } from '../environment.ts';
import type { Value } from '../model/value.ts';
import type { Bindings, EvaluationOptions, Program } from '../program.ts';
import { budgetExhaustedMessage } from './budget.ts';
import type { Budget } from './budget.ts';

/** The types of which a result must be one, exactly: what is of unknown type is none of them. */
export type ResultTypes = readonly CelType[] | 'any';

/** A compiled condition, or why there is none. */
export interface CompiledCondition {
  readonly expression: string;
  readonly program: Program | undefined;
  readonly error: string | undefined;
}

const truth: ResultTypes = [boolType];

/** The condition, within this turn: for texts of the length that a test or a short list has. */
export const compileCondition = (
  environment: Environment,
  expression: string,
  types: ResultTypes = truth,
): CompiledCondition => atOnce(compileConditionSteps(environment, expression, types));

export function* compileConditionSteps(
  environment: Environment,
  expression: string,
  types: ResultTypes = truth,
): Steps<CompiledCondition> {
  const failed = (error: string): CompiledCondition => ({ expression, program: undefined, error });
  const compiled = yield* environment.compileSteps(expression);
  if (compiled instanceof CompileErrors) return failed(`compilation failed: ${compiled.toText()}`);
  const { resultType } = compiled instanceof ProgramFailure ? compiled.checked : compiled;
  if (types !== 'any' && !types.some((type) => sameType(type, resultType))) {
    const [only, ...others] = types.map(typeText);
    const wanted = others.length === 0 ? String(only) : `one of [${[only, ...others].join(' ')}]`;
    return failed(`must evaluate to ${wanted} but got ${typeText(resultType)}`);
  }
  if (compiled instanceof ProgramFailure)
    return failed(`instantiation failed: ${compiled.message}`);
  return { expression, program: compiled, error: undefined };
}

export type ConditionResult =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'error'; readonly message: string };

/**
 * `exhausted`: the budget ran out, and no result counts. `pending`: the authorizer has to be asked
 * first.
 */
export type ConditionsOutcome =
  | { readonly kind: 'results'; readonly results: readonly ConditionResult[] }
  | { readonly kind: 'exhausted'; readonly message: string }
  | { readonly kind: 'pending'; readonly check: AuthorizationCheck };

/** Costs that an evaluation causes elsewhere: variables that are computed when first used. */
export interface SharedCosts {
  /** What was spent since the last call. */
  take(): number;
}

type EvaluationScope = EvaluationOptions & { readonly sharedCosts?: SharedCosts };

/** One condition of a list; `exhausted`: the budget ran out, and the list ends. */
export function evaluateCondition(
  { expression, program, error }: CompiledCondition,
  bindings: Bindings,
  budget: Budget,
  options: EvaluationScope = {},
): ConditionResult | Exclude<ConditionsOutcome, { readonly kind: 'results' }> {
  if (program === undefined) return { kind: 'error', message: `compilation error: ${error ?? ''}` };
  const result = program.evaluate(bindings, options);
  if (result.kind === 'pending') return result;
  if (!budget.spend(result.cost + (options.sharedCosts?.take() ?? 0))) {
    return { kind: 'exhausted', message: budgetExhaustedMessage };
  }
  if (result.kind === 'value') return { kind: 'value', value: result.value };
  const message = `expression '${expression}' resulted in error: ${result.message}`;
  return { kind: 'error', message };
}

/**
 * Evaluates conditions in order. Those that failed to compile give an error each; only an empty
 * budget ends the list.
 */
export function evaluateConditions(
  conditions: readonly CompiledCondition[],
  bindings: Bindings,
  budget: Budget,
  options: EvaluationScope = {},
): ConditionsOutcome {
  const results: ConditionResult[] = [];
  for (const condition of conditions) {
    const result = evaluateCondition(condition, bindings, budget, options);
    if (result.kind === 'pending' || result.kind === 'exhausted') return result;
    results.push(result);
  }
  return { kind: 'results', results };
}
