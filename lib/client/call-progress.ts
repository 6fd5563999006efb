// One call from the caller's side: the step it is in, and what ends it early: its own deadline,
// that of a step, or the caller's signal. Whoever works on the call is told.
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { CallError } from './call-error.ts';
import type { CallFailure, CallName, Step } from './call-error.ts';

/** Longest time of each step; the steps before belong to the making of a connection (dial.ts). */
const stepMaxMs: Readonly<Partial<Record<Step, number>>> = {
  send: limits.clientSendTimeoutMs,
  header: limits.clientHeaderTimeoutMs,
  body: limits.clientBodyTimeoutMs,
};

export class CallProgress {
  readonly name: CallName;
  readonly clock: Clock;
  step: Step = 'queue';
  /** `IP:PORT` of the connection, or of the one that is being made. */
  address: string | undefined;
  /** Why it ended early. */
  endedWith: Error | undefined;
  /** Called when it ends early: of the one wait that it is in, or was in last. */
  onEnd: ((reason: Error) => void) | undefined;
  readonly #startMs: number;
  readonly #endsAtMs: number;
  readonly #callerSignal: AbortSignal;
  readonly #cancelDeadline: () => void;
  #cancelStep: (() => void) | undefined;

  constructor(
    name: CallName,
    options: { readonly clock: Clock; readonly signal: AbortSignal; readonly timeoutMs: number },
  ) {
    const { clock, signal, timeoutMs } = options;
    this.name = name;
    this.clock = clock;
    this.#startMs = clock.monotonicMs();
    this.#endsAtMs = this.#startMs + timeoutMs;
    this.#callerSignal = signal;
    this.#cancelDeadline = clock.after(timeoutMs, this.#outOfTime);
    if (signal.aborted) this.endedWith = signal.reason as Error;
    else signal.addEventListener('abort', this.#left);
  }

  get leftMs(): number {
    return this.#endsAtMs - this.clock.monotonicMs();
  }

  /** From now on `step` is what the call is doing. */
  enter(step: Step): void {
    this.#cancelStep?.();
    this.#cancelStep = undefined;
    this.step = step;
    const maxMs = stepMaxMs[step];
    if (maxMs === undefined || maxMs >= this.leftMs) return;
    this.#cancelStep = this.clock.after(maxMs, this.#outOfTime);
  }

  /** The error of this call for what went wrong. */
  failed(failure: CallFailure, cause?: unknown): CallError {
    const { step, address } = this;
    const place = { step, address, ms: this.clock.monotonicMs() - this.#startMs };
    return new CallError(this.name, failure, cause === undefined ? { place } : { place, cause });
  }

  /** Waits between two attempts; rejects when the call is ended. */
  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.endedWith !== undefined) {
        reject(this.endedWith);
        return;
      }
      const cancel = this.clock.after(delayMs, resolve);
      this.onEnd = (reason) => {
        cancel();
        reject(reason);
      };
    });
  }

  /** Waits for what others need, too: it goes on when the call is ended, which rejects. */
  wait<T>(others: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.onEnd = reject;
      if (this.endedWith !== undefined) reject(this.endedWith);
      others.then(resolve, reject);
    });
  }

  /** The call is over: nothing ends it any more. */
  close(): void {
    this.#cancelDeadline();
    this.#cancelStep?.();
    this.#callerSignal.removeEventListener('abort', this.#left);
    this.onEnd = undefined;
  }

  readonly #outOfTime = (): void => this.#end(this.failed({ kind: 'timeout', step: this.step }));
  readonly #left = (): void => this.#end(this.#callerSignal.reason as Error);

  #end(reason: Error): void {
    if (this.endedWith !== undefined) return;
    this.endedWith = reason;
    this.onEnd?.(reason);
  }
}
