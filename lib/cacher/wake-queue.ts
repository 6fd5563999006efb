// Wakes watchers at the end of a turn, so that changes that arrive together are delivered together,
// a part of them in each turn. After a wake that kept the loop busy the next one waits, except for
// those that others decide by: under load each watcher gets several events with one write.
import { limits } from '../base/limits.ts';
import type { Bucket, Waiter } from './watch-index.ts';

const { workSliceMs, wakeWaitMsMax } = limits;
/** A wake that took less is not worth a pause. */
const shortMs = 2;
/** A pause is so many times as long as the wake: deliveries leave most of the time to others. */
const restRatio = 3;
/** Wakes between two looks at the clock. */
const wakesAtOnce = 32;

/** One wake of those that waited when it began. */
interface Round {
  readonly waiters: readonly Waiter[];
  readonly logEnd: number;
  /** Of the next to be woken. */
  at: number;
  tookMs: number;
}

export class WakeQueue {
  #buckets = new Set<Bucket>();
  /** A wake is to come, or has begun. */
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
    if (!this.#isDue) this.#schedule();
  }

  #schedule(): void {
    this.#isDue = true;
    const waitMs = this.#restsUntilMs - performance.now();
    if (waitMs >= 1) setTimeout(this.#wake, waitMs);
    else setImmediate(this.#wake);
  }

  readonly #wake = (): void => {
    const waiters: Waiter[] = [];
    for (const bucket of this.#buckets) bucket.takeWaiting(waiters);
    this.#buckets = new Set();
    this.#wakeSome({ waiters, logEnd: this.#logEnd, at: 0, tookMs: 0 });
  };

  #wakeSome(round: Round): void {
    const { waiters } = round;
    const startedMs = performance.now();
    while (round.at < waiters.length && performance.now() - startedMs < workSliceMs) {
      const stop = Math.min(waiters.length, round.at + wakesAtOnce);
      while (round.at < stop) waiters[round.at++]?.wake();
    }
    // What the watchers wrote has been handed over by then.
    setImmediate(() => {
      const now = performance.now();
      round.tookMs += now - startedMs;
      if (round.at < waiters.length) this.#wakeSome(round);
      else this.#finish(round, now);
    });
  }

  #finish({ logEnd, tookMs }: Round, now: number): void {
    if (tookMs >= shortMs) this.#restsUntilMs = now + Math.min(tookMs * restRatio, wakeWaitMsMax);
    this.#isDue = false;
    if (this.#buckets.size > 0) this.#schedule();
    this.#onWoken(logEnd);
  }
}
