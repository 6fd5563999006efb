// Time as a value that tests can replace. Everything that reads the time or sleeps takes a Clock.

export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Milliseconds of a clock that never goes back; only differences have a meaning. */
  monotonicMs(): number;
  /**
   * Calls `run` once after `delayMs`; the returned function cancels it. The timer does not keep the
   * process alive.
   */
  after(delayMs: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs);
    timer.unref();
    return () => {
      clearTimeout(timer);
    };
  },
};

/** Resolves after `delayMs` of the clock, or as soon as the signal fires. */
export function pause(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) {
      resolve();
      return;
    }
    const finish = (): void => {
      cancel();
      signal.removeEventListener('abort', finish);
      resolve();
    };
    const cancel = clock.after(delayMs, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}

/** RFC 3339 in UTC with whole seconds, the form of `metadata.creationTimestamp`. */
export function formatTime(epochMs: number): string {
  const second = Math.floor(epochMs / 1_000);
  if (second !== lastSecond) {
    lastText = `${new Date(epochMs).toISOString().slice(0, 19)}Z`;
    lastSecond = second;
  }
  return lastText;
}

/** Many times of one second are asked for in a row. */
let lastSecond = NaN;
let lastText = '';
