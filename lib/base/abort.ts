// Deadlines and waits that end with an AbortSignal. On abort a wait rejects with `signal.reason`.

/**
 * Who waits and may give up. Its AbortSignal is made when somebody asks for it: most requests are
 * answered before anybody does, and signal and listener would cost more than their wait.
 */
export interface Waiter {
  readonly signal: AbortSignal;
  /** Why it gave up. */
  readonly endedWith: Error | undefined;
  /** Called when it gives up; of the one wait that it is in, or was in last. */
  onEnd: ((reason: Error) => void) | undefined;
}
/** What ends a wait. Whoever waits at several places at once uses the signal. */
export type WaitEnd = AbortSignal | Waiter;

export const signalOf = (end: WaitEnd): AbortSignal => (isWaiter(end) ? end.signal : end);
const isWaiter = (end: WaitEnd): end is Waiter => 'onEnd' in end;

/** Resolves after `delayMs`, or rejects with `signal.reason` when the signal fires first. */
export function sleep(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason as Error);
      return;
    }
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, delayMs);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/**
 * Settles as `promise` does, or rejects with the reason when the wait is ended first. The work
 * behind `promise` goes on.
 */
export function abortable<T>(promise: Promise<T>, end: WaitEnd): Promise<T> {
  return isWaiter(end) ? untilEnded(promise, end) : untilAborted(promise, end);
}

function untilEnded<T>(promise: Promise<T>, waiter: Waiter): Promise<T> {
  if (waiter.endedWith !== undefined) return Promise.reject(waiter.endedWith);
  return new Promise((resolve, reject) => {
    waiter.onEnd = reject; // stays: once the wait is over it does nothing
    promise.then(resolve, reject);
  });
}

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
    });
  });
}
