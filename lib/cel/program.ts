// A compiled expression. Immutable and shareable: each evaluation has a state of its own.
import type { CelType } from './check/cel-type.ts';
import type { AuthorizationCheck, Authorizer } from './check/declarations.ts';
import type { Range } from './cost/range.ts';
import { Cancelled, Frame, PendingAuthorization } from './eval/frame.ts';
import type { Plan } from './eval/plan.ts';
import { dynamicValue } from './eval/json-value.ts';
import { CelError, isError } from './eval/value.ts';
import type { Value } from './eval/value.ts';

/** Limit of one evaluation. */
export const perCallCostLimit = 1_000_000;

export interface EvaluationOptions {
  /** Default: 1,000,000. */
  readonly costLimit?: number;
  /** Answers check(); see Evaluation.pending. */
  readonly authorizer?: Authorizer;
  /** Looked at in loops; true ends the evaluation with `operation interrupted`. */
  readonly isExpired?: () => boolean;
}

/**
 * How an evaluation ended. `pending`: the authorizer has to be asked first; ask it and evaluate again with the answer. The cost
 * is that of this evaluation alone.
 */
export type Evaluation =
  | { readonly kind: 'value'; readonly value: Value; readonly cost: number }
  | { readonly kind: 'error'; readonly message: string; readonly cost: number; readonly isCancelled: boolean }
  | { readonly kind: 'pending'; readonly check: AuthorizationCheck };

/** What variables stand for, by name. Missing ones fail the evaluation when it uses them. */
export type Bindings = Readonly<Record<string, unknown>>;

interface BoundVariable {
  readonly slot: number;
  readonly name: string;
  readonly wrap: ((bound: unknown) => Value) | undefined;
  readonly value: Value | undefined;
}

export class Program {
  readonly text: string;
  readonly resultType: CelType;
  /** The cheapest and dearest evaluation. */
  readonly estimatedCost: Range;
  readonly #plan: Plan;
  readonly #bySlot: readonly (BoundVariable | undefined)[];

  constructor(parts: {
    text: string;
    plan: Plan;
    resultType: CelType;
    estimatedCost: Range;
    variables: readonly BoundVariable[];
  }) {
    this.text = parts.text;
    this.resultType = parts.resultType;
    this.estimatedCost = parts.estimatedCost;
    this.#plan = parts.plan;
    const bySlot: BoundVariable[] = [];
    for (const variable of parts.variables) bySlot[variable.slot] = variable;
    this.#bySlot = bySlot;
  }

  /** Whether the expression uses a variable. */
  uses(name: string): boolean {
    return this.#bySlot.some((variable) => variable?.name === name);
  }

  evaluate(bindings: Bindings, options: EvaluationOptions = {}): Evaluation {
    const bySlot = this.#bySlot;
    const frame = new Frame({
      slotCount: this.#plan.slotCount,
      resolve: (slot) => resolveVariable(bySlot[slot], bindings),
      costLimit: options.costLimit ?? perCallCostLimit,
      authorizer: options.authorizer,
      isExpired: options.isExpired,
    });
    try {
      const value = this.#plan.code(frame);
      if (!isError(value)) return { kind: 'value', value, cost: frame.cost };
      return { kind: 'error', message: value.message, cost: frame.cost, isCancelled: false };
    } catch (error) {
      if (error instanceof PendingAuthorization) return { kind: 'pending', check: error.check };
      if (!(error instanceof Cancelled)) throw error;
      return { kind: 'error', message: error.message, cost: frame.cost, isCancelled: true };
    }
  }
}

function resolveVariable(variable: BoundVariable | undefined, bindings: Bindings): Value {
  if (variable === undefined) return new CelError('no such attribute');
  if (variable.value !== undefined) return variable.value;
  const bound = bindings[variable.name];
  if (bound === undefined) return new CelError(`no such attribute(s): ${variable.name}`);
  return variable.wrap === undefined ? dynamicValue(bound) : variable.wrap(bound);
}
