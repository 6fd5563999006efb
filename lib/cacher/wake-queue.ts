// Wakes watchers at the end of a turn, so that changes that arrive together are delivered together.
// After a wake that kept the loop busy the next one waits about as long: under load each watcher
// gets several events with one write.
import type { Bucket } from './interest.ts';

/** Bounds what a wait adds to the delivery of an event. */
const waitMsMax = 20;
/** A wake that took less was nothing to save on. */
const shortMs = 2;

export class WakeQueue {
  #buckets = new Set<Bucket>();
  #isDue = false;
  /** No wake before this time. */
  #restsUntilMs = 0;

  add(buckets: Iterable<Bucket>): void {
    for (const bucket of buckets) this.#buckets.add(bucket);
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
    const startedMs = performance.now();
    for (const bucket of buckets) bucket.wake();
    // What the watchers wrote has been handed over by then.
    setImmediate(() => {
      const now = performance.now();
      const tookMs = now - startedMs;
      if (tookMs >= shortMs) this.#restsUntilMs = now + Math.min(tookMs, waitMsMax);
    });
  };
}
