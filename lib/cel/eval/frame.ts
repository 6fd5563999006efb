// The state of one evaluation: values of variables, the cost so far, and its limits.
import type { AuthorizationCheck, Authorizer, CallContext } from '../check/declarations.ts';
import { CelError } from './value.ts';
import type { Value } from './value.ts';

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
const interruptCheckFrequency = 100;

export class Frame implements CallContext {
  readonly slots: (Value | undefined)[];
  readonly #resolve: (slot: number) => Value;
  readonly #isExpired: (() => boolean) | undefined;
  readonly authorizer: Authorizer | undefined;
  readonly costLimit: number;
  cost = 0;
  #turns = 0;

  constructor(options: {
    slotCount: number;
    resolve: (slot: number) => Value;
    costLimit: number;
    authorizer: Authorizer | undefined;
    isExpired: (() => boolean) | undefined;
  }) {
    this.slots = new Array<Value | undefined>(options.slotCount);
    this.#resolve = options.resolve;
    this.costLimit = options.costLimit;
    this.authorizer = options.authorizer;
    this.#isExpired = options.isExpired;
  }

  /** Adds to the cost; ends the evaluation when the limit is passed. */
  charge(cost: number): void {
    this.cost += cost;
    if (this.cost > this.costLimit) throw new Cancelled(costLimitMessage);
  }

  /** The value of a variable, fetched when it is first used. */
  variable(slot: number): Value {
    return this.slots[slot] ?? this.#fetch(slot);
  }

  #fetch(slot: number): Value {
    const value = this.#resolve(slot);
    this.slots[slot] = value;
    return value;
  }

  /** Called on each turn of a loop: looks at the deadline every now and then. */
  turn(): void {
    if (this.#isExpired === undefined || ++this.#turns % interruptCheckFrequency !== 0) return;
    if (this.#isExpired()) throw new Cancelled('operation interrupted');
  }
}

export const noSuchOverloadError = new CelError('no such overload');
