// How long the present turn of the event loop has lasted. Requests that resume together share it,
// so that their work does not add up to one long pause: one that finds the turn long yields.
let startedMs: number | undefined;

/** Since the first call in this turn. */
export function turnMs(): number {
  const now = performance.now();
  if (startedMs !== undefined) return now - startedMs;
  startedMs = now;
  setImmediate(() => {
    startedMs = undefined;
  });
  return 0;
}

/** For the steps of long work: the next one waits for the next turn where this one was long. */
export const isLongTurn = (longMs: number): boolean => turnMs() > longMs;

/**
 * Between two stages of work on what may be large: a promise of the next turn where this one was
 * long; undefined: the next stage may begin at once, and nothing waits.
 */
export const afterLongTurn = (longMs: number): Promise<void> | undefined =>
  isLongTurn(longMs) ? nextTurn() : undefined;

/** Lets everything else that waits for the event loop run first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** They wait for a turn of their own, in order. */
const waiting: (() => void)[] = [];

/**
 * For long work: lets everything else run first, and begins a turn that no other long work is given
 * a part of. Who waits is served in order, so that short work passes work that is much longer.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(giveTurn);
  });
}

function giveTurn(): void {
  startedMs = undefined;
  turnMs(); // It begins here, not at the first look at the clock.
  waiting[0]?.();
  // What was given a turn runs before the next callback, and may wait again behind the others.
  waiting.shift();
  if (waiting.length > 0) setImmediate(giveTurn);
}
