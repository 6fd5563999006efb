// Long work as a generator that yields after each small step, so that its caller decides whether it
// runs at once or leaves turns of the event loop to others.
import type { MaybePromise } from './maybe-promise.ts';
import { Yielder } from './yielder.ts';

/*
 * Which of four to use where work may be long:
 * - turn.ts: between the few steps of many small works, a request each, that share one turn's time.
 * - yielder.ts: in a loop of one asynchronous function.
 * - each-in-turns.ts: over a list, where the answer comes at once unless the list is long.
 * - this file: for recursive work, and for work that some callers need within the turn.
 */

/**
 * Work that yields after each small step and returns its result. It yields how many steps of a
 * microsecond or so that was; undefined: one.
 */
export type Steps<T> = Generator<number | undefined, T, undefined>;

/** For a step that may take a millisecond: the clock is read after it. */
export const longStep = 1_000;

/** The result, within this turn. */
export function atOnce<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** The result: within this turn where the work is short, else over as many as it takes. */
export function inTurns<T>(steps: Steps<T>, yielder = new Yielder()): MaybePromise<T> {
  let step = steps.next();
  while (step.done !== true) {
    if (yielder.isDue(step.value)) return restInTurns(steps, yielder);
    step = steps.next();
  }
  return step.value;
}

async function restInTurns<T>(steps: Steps<T>, yielder: Yielder): Promise<T> {
  for (;;) {
    await yielder.yield();
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      if (yielder.isDue(step.value)) break;
    }
  }
}
