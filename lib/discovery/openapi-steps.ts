// Long work as steps: between two of them everybody else may get a turn of the event loop.
import { limits } from '../base/limits.ts';
import { nextTurn, turnMs } from '../base/turn.ts';

/** Yields where it may be interrupted. */
export type Steps<Result> = Generator<undefined, Result, undefined>;

/** A step takes microseconds, and reading the clock as much. */
const stepsPerLook = 32;

/** Takes the steps, in turns of a few milliseconds. */
export async function inTurns<Result>(steps: Steps<Result>): Promise<Result> {
  for (let count = 1; ; count++) {
    const { done, value } = steps.next();
    if (done === true) return value;
    if (count % stepsPerLook === 0) await passTurnOn();
  }
}

/** Lets the others have a turn where this one was long. */
export async function passTurnOn(): Promise<void> {
  if (turnMs() >= limits.openapiTurnMsMax) await nextTurn();
}
