// Wakes watchers at the end of a turn, so that changes that arrive together are delivered together.
// After a wake that kept the loop busy the next one waits about as long, except for those that
// others decide by: under load each watcher gets several events with one write.
import { limits } from '../base/limits.ts';
import type { Bucket } from './watch-index.ts';

const { wakeWaitMsMax } = limits;
/** A wake that took less is not worth a pause. */
const shortMs = 2;

export class WakeQueue {
  #buckets = new Set<Bucket>();
  #isDue = false;
  /** What the log held when it last grew. */
  #logEnd = 0;
  /** No wake before this time. */
  #restsUntilMs = 0;
  readonly #onWoken: (logEnd: number) => void;

  /** `onWoken` gets the end of the log up to which the watchers that waited have taken events. */
  constructor(onWoken: (logEnd: number) => void) {
    this.#onWoken = onWoken;
  }

  add(buckets: Iterable<Bucket>, logEnd: number): void {
    for (const bucket of buckets) {
      this.#buckets.add(bucket);
      if (bucket.hasPrompt) setImmediate(() => bucket.wakePrompt());
    }
    this.#logEnd = logEnd;
    if (this.#isDue) return;
    this.#isDue = true;
    const waitMs = this.#restsUntilMs - performance.now();
    if (waitMs >= 1) setTimeout(this.#wake, waitMs);
    else setImmediate(this.#wake);
  }

  readonly #wake = (): void => {
    this.#isDue = false;
    const buckets = this.#buckets;
    this.#buckets = new Set();
    const logEnd = this.#logEnd;
    const startedMs = performance.now();
    for (const bucket of buckets) bucket.wake();
    // What the watchers wrote has been handed over by then.
    setImmediate(() => {
      const now = performance.now();
      const tookMs = now - startedMs;
      if (tookMs >= shortMs) this.#restsUntilMs = now + Math.min(tookMs, wakeWaitMsMax);
      this.#onWoken(logEnd);
    });
  };
}
