// A compiled expression. Immutable and shareable: each evaluation has a state of its own.
import { limits } from '../base/limits.ts';
import type { CelType } from './model/cel-type.ts';
import type { AuthorizationCheck, Authorizer } from './model/declarations.ts';
import type { Range } from './model/range.ts';
import { Cancelled, Frame, PendingAuthorization, memoryLimitMessage } from './eval/frame.ts';
import type { BoundVariable, Code, FrameLayout } from './eval/frame.ts';
import type { Plan } from './eval/plan.ts';
import { CelError } from './model/value.ts';
import type { Value } from './model/value.ts';

const { expressionCostMax } = limits;

export interface EvaluationOptions {
  /** Default: 1,000,000. */
  readonly costLimit?: number;
  /** Answers check(); see Evaluation.pending. */
  readonly authorizer?: Authorizer;
  /** Looked at in loops; true ends the evaluation with `operation interrupted`. */
  readonly isExpired?: () => boolean;
}

/**
 * How an evaluation ended. `pending`: the authorizer has to be asked first; ask it and evaluate
 * again with the answer. The cost is that of this evaluation alone.
 */
export type Evaluation =
  | { readonly kind: 'value'; readonly value: Value; readonly cost: number }
  | {
      readonly kind: 'error';
      readonly message: string;
      readonly cost: number;
      readonly isCancelled: boolean;
    }
  | { readonly kind: 'pending'; readonly check: AuthorizationCheck };

/** What variables stand for, by name. Missing ones fail the evaluation when it uses them. */
export type Bindings = Readonly<Record<string, unknown>>;

const defaultOptions = {
  costLimit: expressionCostMax,
  authorizer: undefined,
  isExpired: undefined,
};

/** Closures and constants of a node of the tree, as measured over many rules. */
const nodeBytes = 512;

export class Program {
  readonly text: string;
  /** Memory that the program keeps, estimated. */
  readonly bytes: number;
  readonly resultType: CelType;
  /** The cheapest and dearest evaluation. */
  readonly estimatedCost: Range;
  readonly #code: Code;
  readonly #layout: FrameLayout;

  constructor(parts: {
    text: string;
    nodeCount: number;
    plan: Plan;
    resultType: CelType;
    estimatedCost: Range;
    variables: readonly BoundVariable[];
  }) {
    this.text = parts.text;
    this.bytes = 2 * parts.text.length + nodeBytes * parts.nodeCount;
    this.resultType = parts.resultType;
    this.estimatedCost = parts.estimatedCost;
    this.#code = parts.plan.code;
    const variables: BoundVariable[] = [];
    for (const variable of parts.variables) variables[variable.slot] = variable;
    this.#layout = { slotCount: parts.plan.slotCount, variables };
  }

  /** Whether the expression uses a variable. */
  uses(name: string): boolean {
    return this.#layout.variables.some((variable) => variable?.name === name);
  }

  evaluate(bindings: Bindings, options?: EvaluationOptions): Evaluation {
    const limits = options === undefined ? defaultOptions : { ...defaultOptions, ...options };
    const frame = new Frame(this.#layout, bindings, limits);
    try {
      const value = this.#code(frame);
      if (!(value instanceof CelError)) return { kind: 'value', value, cost: frame.cost };
      return { kind: 'error', message: value.message, cost: frame.cost, isCancelled: false };
    } catch (error) {
      return ended(error, frame.cost);
    }
  }
}

function ended(error: unknown, cost: number): Evaluation {
  if (error instanceof PendingAuthorization) return { kind: 'pending', check: error.check };
  // The engine of JavaScript itself gives up on data that nests too deeply.
  const cancelled = { kind: 'error', cost, isCancelled: true } as const;
  if (error instanceof RangeError) return { ...cancelled, message: memoryLimitMessage };
  if (error instanceof Cancelled) return { ...cancelled, message: error.message };
  throw error;
}
