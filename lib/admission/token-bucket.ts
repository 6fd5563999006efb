// How often something may happen: so many times a second on the average, and so many at once.
import type { Clock } from '../base/clock.ts';

export interface Rate {
  readonly perSecond: number;
  /** At once, after a pause. */
  readonly burst: number;
}

export class TokenBucket {
  readonly #rate: Rate;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #left: number;
  #atMs: number;

  constructor(rate: Rate, clock: Pick<Clock, 'monotonicMs'>) {
    this.#rate = rate;
    this.#clock = clock;
    this.#left = rate.burst;
    this.#atMs = clock.monotonicMs();
  }

  /** Whether it may happen now; then it counts as done. */
  take(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const { perSecond, burst } = this.#rate;
    this.#left = Math.min(burst, this.#left + ((nowMs - this.#atMs) / 1000) * perSecond);
    this.#atMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
