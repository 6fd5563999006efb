// How documents of OpenAPI are made without holding up anybody: in turns of a few milliseconds.
import { inTurns } from '../base/steps.ts';
import type { Steps } from '../base/steps.ts';
import { limits } from '../base/limits.ts';
import type { MaybePromise } from '../base/maybe-promise.ts';
import { nextTurn, turnMs } from '../base/turn.ts';
import { Yielder } from '../base/yielder.ts';

export const inShortTurns = <Result>(steps: Steps<Result>): MaybePromise<Result> =>
  inTurns(steps, new Yielder(limits.openapiTurnMsMax));

/** Lets the others have a turn where this one was long. */
export async function passTurnOn(): Promise<void> {
  if (turnMs() >= limits.openapiTurnMsMax) await nextTurn();
}
