// A target of users' webhooks, kept from harm and from doing any: so many calls are under way at
// once, others wait in line, and while its circuit is open all but a probe fail at once, with what
// the last one failed with.
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { CallError, SkippedCallError } from './call-error.ts';
import type { CallFailure } from './call-error.ts';
import { CircuitBreaker } from './circuit-breaker.ts';
import type { BreakerRule } from './circuit-breaker.ts';
import type { Answer, Call, Target } from './target.ts';

export interface GuardOptions {
  readonly clock: Clock;
  /** As configured, for messages. */
  readonly url: string;
  /** Calls under way at once. */
  readonly callsMax: number;
  /** Calls that may wait for those; more fail at once. */
  readonly pendingMax: number;
  /** undefined: it is called however often it fails. */
  readonly breaker: BreakerRule | undefined;
  readonly observer?: GuardObserver;
}

export interface GuardObserver {
  /** A call goes out, after so long in the line. */
  begun(waitedMs: number): void;
  /** The circuit is open now, with what the last call failed with, or closed. */
  circuit(last: CallError | undefined): void;
}

interface Waiting {
  readonly go: () => void;
  readonly fail: (error: Error) => void;
}

export class GuardedTarget implements Target {
  readonly #target: Target;
  readonly #options: GuardOptions;
  readonly #breaker: CircuitBreaker | undefined;
  #underWayCount = 0;
  /** The longest waiting one first. */
  readonly #waiting = new Set<Waiting>();

  constructor(target: Target, options: GuardOptions) {
    this.#target = target;
    this.#options = options;
    const { breaker, clock } = options;
    this.#breaker = breaker && new CircuitBreaker(breaker, clock);
  }

  get underWayCount(): number {
    return this.#underWayCount;
  }

  get isOpen(): boolean {
    return this.#breaker?.isOpen ?? false;
  }

  async call<T>(call: Call<T>): Promise<Answer<T>> {
    const { clock, callsMax, observer } = this.#options;
    const { timeoutMs = limits.clientCallTimeoutMs } = call;
    this.#breaker?.begin();
    const startMs = clock.monotonicMs();
    if (this.#underWayCount >= callsMax) await this.#wait(call, timeoutMs);
    else this.#underWayCount++;
    try {
      const waitedMs = clock.monotonicMs() - startMs;
      observer?.begun(waitedMs);
      const answer = await this.#target.call({ ...call, timeoutMs: timeoutMs - waitedMs });
      this.#succeeded();
      return answer;
    } catch (error) {
      if (error instanceof CallError) this.#failed(error);
      throw error;
    } finally {
      this.#leave();
    }
  }

  close(): void {
    this.#target.close();
  }

  #succeeded(): void {
    const wasOpen = this.isOpen;
    this.#breaker?.succeeded();
    if (wasOpen) this.#options.observer?.circuit(undefined);
  }

  #failed(error: CallError): void {
    const wasOpen = this.isOpen;
    if (this.#breaker?.failed(error) !== true) return;
    if (!wasOpen) this.#options.observer?.circuit(error);
    for (const waiting of this.#waiting) waiting.fail(new SkippedCallError(error));
  }

  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#underWayCount--;
    else next.go(); // It has the place now.
  }

  /** Resolves with a place. @throws CallError, or `call.signal.reason` when that fires first */
  #wait(call: Call<unknown>, timeoutMs: number): Promise<void> {
    const { clock, url, pendingMax } = this.#options;
    const { method = 'POST', query, signal } = call;
    const failed = (failure: CallFailure): CallError =>
      new CallError({ method, url: query === undefined ? url : `${url}?${query}` }, failure);
    if (this.#waiting.size >= pendingMax) {
      return Promise.reject(failed({ kind: 'overloaded', pendingMax }));
    }
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    return new Promise((resolve, reject) => {
      const end = (): void => {
        this.#waiting.delete(waiting);
        cancel();
        signal.removeEventListener('abort', onAbort);
      };
      const waiting: Waiting = {
        go() {
          end();
          resolve();
        },
        fail(error) {
          end();
          reject(error);
        },
      };
      const onAbort = (): void => waiting.fail(signal.reason as Error);
      const cancel = clock.after(timeoutMs, () => {
        waiting.fail(failed({ kind: 'timeout', step: 'queue' }));
      });
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(waiting);
    });
  }
}
