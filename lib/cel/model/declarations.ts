// What an environment declares: functions with their overloads, and objects with their fields.
import type { CelType } from './cel-type.ts';
import type { Macro } from './macro.ts';
import type { CelError, Value } from './value.ts';
import type { CostNode, CallEstimate } from './cost-node.ts';

/** What a function may ask of the evaluation it runs in. */
export interface CallContext {
  /** The authorizer of this evaluation, if it has one. */
  readonly authorizer: Authorizer | undefined;
  /**
   * Called before work whose cost is charged afterwards; ends the evaluation that cannot pay for
   * it.
   */
  afford(cost: number): void;
  /** Called before texts are made that are longer than their cost tells. */
  allocate(length: number): void;
}

/** A question to the authorizer. Selectors are given as written. */
export interface AuthorizationCheck {
  readonly resourceRequest: boolean;
  readonly verb: string;
  readonly apiGroup: string;
  readonly apiVersion: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
  readonly fieldSelector: string | undefined;
  readonly labelSelector: string | undefined;
  /** The service account that asks; undefined: the user of the request. */
  readonly serviceAccount: { readonly namespace: string; readonly name: string } | undefined;
}

export interface AuthorizationDecision {
  readonly decision: 'allow' | 'deny' | 'noOpinion';
  readonly reason: string;
  /** The error of the authorizer; empty: it answered. */
  readonly error: string;
}

export interface Authorizer {
  /** The answer, or undefined when it is not known yet: the evaluation then ends as pending. */
  decide(check: AuthorizationCheck): AuthorizationDecision | undefined;
}

/** A function's code. Never called with an error value. */
export type Implementation = (args: readonly Value[], context: CallContext) => Value;

/**
 * The cost of one call that happened. Arguments may be error values. `overload` is absent when
 * several fitted.
 */
export type RuntimeCost = (
  args: readonly Value[],
  result: Value,
  overload: string | undefined,
) => number;

/** The cost and size of a call from the sizes of its arguments; undefined: no opinion. */
export type CostEstimate = (
  target: CostNode | undefined,
  args: readonly CostNode[],
) => CallEstimate | undefined;

export interface Overload {
  readonly id: string;
  readonly isMember: boolean;
  /** With the receiver first, for methods. */
  readonly args: readonly CelType[];
  readonly result: CelType;
  readonly typeParams: readonly string[];
  /** The code copes with any types, and is the same for all overloads of the function. */
  readonly guardsItself?: boolean;
  readonly call: Implementation;
  /** Absent: 1. */
  readonly runtimeCost?: RuntimeCost | undefined;
  /** Absent: 1 beside the arguments. */
  readonly estimate?: CostEstimate | undefined;
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /**
   * The cost of a call whatever its overload; goes before the default of 1, after the overload's
   * own.
   */
  readonly runtimeCost?: RuntimeCost | undefined;
  /** Gets error values too, instead of passing the first of them on. */
  readonly acceptsErrors?: boolean;
  /**
   * Compiles a constant argument once: returns code for calls that have this constant at `index`,
   * or the error.
   */
  readonly precompile?: {
    readonly index: number;
    readonly prepare: (constant: Value) => Implementation | CelError;
  };
}

/** A field of an object type. */
export interface FieldDeclaration {
  readonly name: string;
  readonly type: CelType;
}

/** Objects with declared fields, by name. */
export interface ObjectTypes {
  has(typeName: string): boolean;
  field(typeName: string, field: string): FieldDeclaration | undefined;
  /**
   * Makes an object from field values; undefined: objects of this type cannot be written in an
   * expression.
   */
  create?: ((typeName: string, fields: ReadonlyMap<string, Value>) => Value) | undefined;
}

export const noObjectTypes: ObjectTypes = { has: () => false, field: () => undefined };

/** A set of declarations that came with one release. */
export interface Library {
  readonly name: string;
  /** First compatibility version that has it, as minor of 1.x. */
  readonly since: number;
  /** First compatibility version that no longer has it. */
  readonly until?: number;
  readonly functions?: readonly FunctionDeclaration[];
  readonly macros?: readonly Macro[];
  /** Names of types that are values of their own, such as `net.IP`. */
  readonly types?: readonly CelType[];
}
