// A target of users' webhooks, kept from harm and from doing any: few calls are under way at once,
// others wait in line, and once several calls in a row have failed only a probe goes out now and
// then while all others fail at once, with what the last one failed with.
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { CallError } from './call-error.ts';
import type { CallFailure } from './call-error.ts';
import type { Answer, Call, Target } from './target.ts';

const { clientBreakerFailuresMax, clientBreakerProbeMs, clientPendingCallsMax } = limits;

export interface GuardOptions {
  readonly clock: Clock;
  /** As configured, for messages. */
  readonly url: string;
  /** Calls under way at once. */
  readonly callsMax: number;
}

interface Waiting {
  readonly go: () => void;
  readonly fail: (error: Error) => void;
}

export class GuardedTarget implements Target {
  readonly #target: Target;
  readonly #options: GuardOptions;
  #underWayCount = 0;
  /** The longest waiting one first. */
  readonly #waiting = new Set<Waiting>();
  /** In a row. */
  #failureCount = 0;
  #lastFailure: CallError | undefined;
  #nextProbeMs = 0;
  #isProbing = false;

  constructor(target: Target, options: GuardOptions) {
    this.#target = target;
    this.#options = options;
  }

  async call<T>(call: Call<T>): Promise<Answer<T>> {
    const { clock, callsMax } = this.#options;
    const { timeoutMs = limits.clientCallTimeoutMs } = call;
    const startMs = clock.monotonicMs();
    const isProbe = this.#isBroken() && this.#beginProbe();
    let hasPlace = false;
    try {
      if (this.#underWayCount >= callsMax) await this.#wait(call, timeoutMs);
      else this.#underWayCount++;
      hasPlace = true;
      const leftMs = timeoutMs - (clock.monotonicMs() - startMs);
      const answer = await this.#target.call({ ...call, timeoutMs: leftMs });
      this.#failureCount = 0;
      return answer;
    } catch (error) {
      if (hasPlace && error instanceof CallError) this.#failed(error);
      throw error;
    } finally {
      if (isProbe) this.#isProbing = false;
      if (hasPlace) this.#leave();
    }
  }

  close(): void {
    this.#target.close();
  }

  #isBroken(): boolean {
    return this.#failureCount >= clientBreakerFailuresMax;
  }

  /** @throws CallError when it is not time for a probe. */
  #beginProbe(): boolean {
    const isDue = this.#options.clock.monotonicMs() >= this.#nextProbeMs;
    if (this.#lastFailure !== undefined && (this.#isProbing || !isDue)) throw this.#lastFailure;
    this.#isProbing = true;
    return true;
  }

  #failed(error: CallError): void {
    this.#failureCount++;
    this.#lastFailure = error;
    this.#nextProbeMs = this.#options.clock.monotonicMs() + clientBreakerProbeMs;
    if (!this.#isBroken()) return;
    for (const waiting of this.#waiting) waiting.fail(error);
  }

  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#underWayCount--;
    else next.go(); // It has the place now.
  }

  /** Resolves with a place. @throws CallError, or `call.signal.reason` when that fires first */
  #wait(call: Call<unknown>, timeoutMs: number): Promise<void> {
    const { clock, url } = this.#options;
    const { method = 'POST', query, signal } = call;
    const failed = (failure: CallFailure): CallError =>
      new CallError({ method, url: query === undefined ? url : `${url}?${query}` }, failure);
    if (this.#waiting.size >= clientPendingCallsMax) {
      return Promise.reject(failed({ kind: 'overloaded', pendingMax: clientPendingCallsMax }));
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
