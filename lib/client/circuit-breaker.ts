// Whether a target is called at all: once so many calls in a row have failed within a time, only a
// probe goes out now and then, and one success is enough to be as before.
import type { Clock } from '../base/clock.ts';
import type { CallError } from './call-error.ts';
import { SkippedCallError } from './call-error.ts';

export interface BreakerRule {
  /** Failures in a row that open it. */
  readonly failuresMax: number;
  /** Longest time from the first of them to the last. */
  readonly withinMs: number;
  /** From one probe to the next. */
  readonly probeMs: number;
  /** Whether a failure counts; one that does not is no success either. */
  readonly counts: (error: CallError) => boolean;
}

export class CircuitBreaker {
  readonly #rule: BreakerRule;
  readonly #clock: Clock;
  /** Of the failures in a row, the latest `failuresMax`, the oldest first. */
  #failedAtMs: number[] = [];
  #last: CallError | undefined;
  #nextProbeMs = 0;
  #isOpen = false;

  constructor(rule: BreakerRule, clock: Clock) {
    this.#rule = rule;
    this.#clock = clock;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Before a call. @throws SkippedCallError when it is open, and this is no time for a probe */
  begin(): void {
    if (!this.#isOpen || this.#last === undefined) return;
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#nextProbeMs) throw new SkippedCallError(this.#last);
    this.#nextProbeMs = nowMs + this.#rule.probeMs;
  }

  succeeded(): void {
    if (this.#failedAtMs.length > 0) this.#failedAtMs = [];
    this.#isOpen = false;
  }

  /** @returns whether it is open because of it */
  failed(error: CallError): boolean {
    const { failuresMax, withinMs, probeMs, counts } = this.#rule;
    if (!counts(error)) return false;
    const nowMs = this.#clock.monotonicMs();
    this.#last = error;
    this.#failedAtMs.push(nowMs);
    if (this.#failedAtMs.length > failuresMax) this.#failedAtMs.shift();
    if (this.#isOpen) return true;
    const [first = nowMs] = this.#failedAtMs;
    if (this.#failedAtMs.length < failuresMax || nowMs - first > withinMs) return false;
    this.#isOpen = true;
    this.#nextProbeMs = nowMs + probeMs;
    return true;
  }
}
