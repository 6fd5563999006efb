// A clock for tests: time passes when the test says so.
import type { Clock } from '../clock.ts';

/** A clock that stands still until it is told otherwise. */
export class ManualClock implements Clock {
  #nowMs = 0;
  readonly #timers = new Set<{ readonly atMs: number; readonly run: () => void }>();

  nowMs(): number {
    return this.#nowMs;
  }
  monotonicMs(): number {
    return this.#nowMs;
  }
  after(delayMs: number, run: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }
  /** What is left of each timer, in the order in which they were set. */
  get waitsMs(): number[] {
    return [...this.#timers].map(({ atMs }) => atMs - this.#nowMs);
  }
  pass(ms: number): void {
    this.#nowMs += ms;
    for (const timer of this.#timers) {
      if (timer.atMs > this.#nowMs) continue;
      this.#timers.delete(timer);
      timer.run();
    }
  }
}
