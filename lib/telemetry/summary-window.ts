// Quantiles of what was observed lately, in bounded memory: values are counted in ranges that grow
// by the same factor, hour by hour; an hour that is too old is forgotten as a whole.
import { limits } from '../base/limits.ts';

/** The quantile of a range is its middle, which is wrong by no more than 1 % of the value. */
const factor = 1.02;
/** What is less than this counts as 0: nobody asks for less than a microsecond, in seconds. */
const least = 1e-6;
/** Up to 1,000 seconds; what is more counts as that. */
const rangeCount = Math.ceil(Math.log(1e9) / Math.log(factor));
const hourMs = 3_600_000;

export class SummaryWindow {
  sum = 0;
  count = 0;
  readonly #monotonicMs: () => number;
  /** By range, of each hour that counts: the hour is its number modulo their count. */
  readonly #hours = Array.from(
    { length: limits.summaryWindowHours },
    () => new Uint32Array(rangeCount + 1),
  );
  #hour: number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
    this.#hour = this.#hourNow();
  }

  /** @param value in seconds, not negative */
  observe(value: number): void {
    this.#forget();
    const counts = this.#hours[this.#hour % this.#hours.length];
    const range = rangeOf(value);
    if (counts !== undefined) counts[range] = (counts[range] ?? 0) + 1;
    this.sum += value;
    this.count++;
  }

  /** The least value that so large a share does not exceed; NaN: nothing was observed lately. */
  quantile(share: number): number {
    this.#forget();
    const counts = Array.from({ length: rangeCount + 1 }, (_, range) =>
      this.#hours.reduce((sum, hour) => sum + (hour[range] ?? 0), 0),
    );
    const all = counts.reduce((sum, count) => sum + count, 0);
    if (all === 0) return NaN;
    let below = 0;
    const found = counts.findIndex((count) => (below += count) >= share * all);
    return found <= 0 ? 0 : least * factor ** (found - 0.5);
  }

  #hourNow(): number {
    return Math.floor(this.#monotonicMs() / hourMs);
  }

  /** Empties the hours that have begun since. */
  #forget(): void {
    const now = this.#hourNow();
    const first = Math.max(this.#hour, now - this.#hours.length);
    for (let hour = first + 1; hour <= now; hour++) this.#hours[hour % this.#hours.length]?.fill(0);
    this.#hour = now;
  }
}

const rangeOf = (value: number): number =>
  value <= least ? 0 : Math.min(rangeCount, Math.ceil(Math.log(value / least) / Math.log(factor)));
