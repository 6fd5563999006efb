// The state of one evaluation: values of variables, the cost so far, and its limits.
import { limits } from '../../base/limits.ts';
import type { AuthorizationCheck, Authorizer, CallContext } from '../model/declarations.ts';
import { dynamicValue } from '../model/json-value.ts';
import { CelError } from '../model/value.ts';
import type { Value } from '../model/value.ts';

/** A compiled expression: computes its value and charges what it costs. */
export type Code = (frame: Frame) => Value;

/** Ends an evaluation at once, past everything that absorbs errors. */
export class Cancelled extends Error {}

/** Ends an evaluation that needs an answer of the authorizer that is not there yet. */
export class PendingAuthorization extends Error {
  readonly check: AuthorizationCheck;
  constructor(check: AuthorizationCheck) {
    super('an answer of the authorizer is not there yet');
    this.check = check;
  }
}

export const costLimitMessage = 'operation cancelled: actual cost limit exceeded';
export const memoryLimitMessage = 'operation cancelled: memory limit exceeded';
const interruptCheckFrequency = 100;
const { evaluationTextLengthMax } = limits;

/** A variable of the environment that a program uses. */
export interface BoundVariable {
  readonly slot: number;
  readonly name: string;
  /** Makes the value of what is bound. Absent: as JSON of unknown type. */
  readonly wrap: ((bound: unknown) => Value) | undefined;
  /** The value, where it is always the same. */
  readonly value: Value | undefined;
}

/** What is fixed for all evaluations of a program. */
export interface FrameLayout {
  readonly slotCount: number;
  readonly variables: readonly (BoundVariable | undefined)[];
}

/** What an evaluation may take, and whom it may ask. */
export interface Limits {
  readonly costLimit: number;
  readonly authorizer?: Authorizer | undefined;
  readonly isExpired?: (() => boolean) | undefined;
}

// Made for each evaluation, so without anything that costs to set up: fields are public for the
// generated code.
export class Frame implements CallContext {
  readonly slots: (Value | undefined)[];
  readonly layout: FrameLayout;
  readonly bindings: Readonly<Record<string, unknown>>;
  readonly costLimit: number;
  readonly limits: Limits;
  cost = 0;
  turns = 0;
  allocated = 0;

  constructor(layout: FrameLayout, bindings: Readonly<Record<string, unknown>>, limits: Limits) {
    // Most programs have one variable; a literal is the cheapest array.
    this.slots =
      layout.slotCount === 1 ? [undefined] : new Array<Value | undefined>(layout.slotCount);
    this.layout = layout;
    this.bindings = bindings;
    this.costLimit = limits.costLimit;
    this.limits = limits;
  }

  get authorizer(): Authorizer | undefined {
    return this.limits.authorizer;
  }

  /** Adds to the cost; ends the evaluation when the limit is passed. */
  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.costLimit) throw new Cancelled(costLimitMessage);
  }

  /** Two charges of one. */
  chargeTwo(): void {
    this.cost += 2;
    if (this.cost <= this.costLimit) return;
    // The first of the two may have been too much already.
    if (this.cost - 1 > this.costLimit) this.cost -= 1;
    throw new Cancelled(costLimitMessage);
  }

  afford(cost: number): void {
    if (this.cost + cost > this.costLimit) this.charge(cost);
  }

  allocate(length: number): void {
    this.allocated += length;
    if (this.allocated > evaluationTextLengthMax) throw new Cancelled(memoryLimitMessage);
  }

  /** The value of a variable, fetched when it is first used. */
  variable(slot: number): Value {
    return this.slots[slot] ?? fetchVariable(this, slot);
  }

  /** Called on each turn of a loop: looks at the deadline every now and then. */
  turn(): void {
    const { isExpired } = this.limits;
    if (isExpired === undefined || ++this.turns % interruptCheckFrequency !== 0) return;
    if (isExpired()) throw new Cancelled('operation interrupted');
  }
}

function fetchVariable(frame: Frame, slot: number): Value {
  const value = resolveVariable(frame.layout.variables[slot], frame.bindings);
  frame.slots[slot] = value;
  return value;
}

function resolveVariable(
  variable: BoundVariable | undefined,
  bindings: Readonly<Record<string, unknown>>,
): Value {
  if (variable === undefined) return new CelError('no such attribute');
  if (variable.value !== undefined) return variable.value;
  const bound = bindings[variable.name];
  if (bound === undefined) return new CelError(`no such attribute(s): ${variable.name}`);
  return variable.wrap === undefined ? dynamicValue(bound) : variable.wrap(bound);
}

export const noSuchOverloadError = new CelError('no such overload');
