// Lists of conditions over one set of variables and one budget: validations of policies, match
// conditions, audit annotations.
import type { CelType } from '../model/cel-type.ts';
import type { AuthorizationCheck } from '../model/declarations.ts';
import { CompileErrors, ProgramFailure } from '../environment.ts';
import type { Environment } from '../environment.ts';
import type { Value } from '../model/value.ts';
import type { ProgramCache } from '../program-cache.ts';
import type { Bindings, EvaluationOptions, Program } from '../program.ts';
import { budgetExhaustedMessage } from './budget.ts';
import type { Budget } from './budget.ts';

/** The kinds of results that an expression may have; `any`: all. */
export type ResultKinds = readonly CelType['kind'][] | 'any';

/** A compiled condition, or why there is none. */
export interface CompiledCondition {
  readonly expression: string;
  readonly program: Program | undefined;
  readonly error: string | undefined;
}

/** Compiles a condition, or takes it from the cache; its result must be of one of the kinds. */
export function compileCondition(
  environment: Environment,
  expression: string,
  kinds: ResultKinds = ['bool'],
  cache?: ProgramCache,
): CompiledCondition {
  const failed = (error: string): CompiledCondition => ({ expression, program: undefined, error });
  const compiled = cache?.compile(environment, expression) ?? environment.compile(expression);
  if (compiled instanceof CompileErrors) return failed(`compilation failed: ${compiled.toText()}`);
  const { resultType } = compiled instanceof ProgramFailure ? compiled.checked : compiled;
  if (kinds !== 'any' && !kinds.includes(resultType.kind)) {
    const [only] = kinds;
    return failed(
      kinds.length === 1 && only !== undefined
        ? `must evaluate to ${only}`
        : `must evaluate to one of [${kinds.join(' ')}]`,
    );
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

/**
 * Evaluates conditions in order. Those that failed to compile give an error each; only an empty
 * budget ends the list.
 */
export function evaluateConditions(
  conditions: readonly CompiledCondition[],
  bindings: Bindings,
  budget: Budget,
  options: EvaluationOptions & { readonly sharedCosts?: SharedCosts } = {},
): ConditionsOutcome {
  const results: ConditionResult[] = [];
  for (const { expression, program, error } of conditions) {
    if (program === undefined) {
      results.push({ kind: 'error', message: `compilation error: ${error ?? ''}` });
      continue;
    }
    const result = program.evaluate(bindings, options);
    if (result.kind === 'pending') return result;
    if (!budget.spend(result.cost + (options.sharedCosts?.take() ?? 0))) {
      return { kind: 'exhausted', message: budgetExhaustedMessage };
    }
    results.push(
      result.kind === 'value'
        ? { kind: 'value', value: result.value }
        : {
            kind: 'error',
            message: `expression '${expression}' resulted in error: ${result.message}`,
          },
    );
  }
  return { kind: 'results', results };
}
