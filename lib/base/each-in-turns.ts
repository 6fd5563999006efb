// Steps of long work in their order, in as many turns of the event loop as they take. Short work is
// done when the call returns: nothing waits, and no promise is made.
import type { MaybePromise } from './maybe-promise.ts';
import type { Yielder } from './yielder.ts';

/** What is done with one item; a promise is waited for before the next. */
export type TurnStep<T> = (item: T, at: number) => MaybePromise<void>;

/** `pace` undefined: all of it in this turn, as far as the steps let it. */
export function eachInTurns<T>(
  items: readonly T[],
  step: TurnStep<T>,
  pace: Yielder | undefined,
): MaybePromise<void> {
  for (let at = 0; at < items.length; at += 1) {
    const done = step(items[at] as T, at); // The index is one of the list.
    if (done !== undefined) return restInTurns(items, at + 1, step, { pace, before: done });
    if (pace?.isDue() === true) {
      return restInTurns(items, at + 1, step, { pace, before: pace.yield() });
    }
  }
  return undefined;
}

async function restInTurns<T>(
  items: readonly T[],
  from: number,
  step: TurnStep<T>,
  { pace, before }: { readonly pace: Yielder | undefined; readonly before: Promise<void> },
): Promise<void> {
  await before;
  for (let at = from; at < items.length; at += 1) {
    const done = step(items[at] as T, at); // The index is one of the list.
    if (done !== undefined) await done;
    if (pace?.isDue() === true) await pace.yield();
  }
}
