// Attempts at something by their result, and how long they took. Children are looked up once, so
// that a request pays for two additions.
import type { HistogramChild, HistogramSeries, NumberChild, NumberSeries } from './series.ts';

export class Attempts<Result extends string> {
  readonly #children: ReadonlyMap<
    Result,
    { readonly count: NumberChild; readonly seconds: HistogramChild }
  >;

  /** Whatever the result. */
  readonly #allSeconds: HistogramChild;

  /** Both series have the one label `result`. */
  constructor(
    results: readonly Result[],
    count: NumberSeries,
    seconds: HistogramSeries,
    allSeconds: HistogramChild,
  ) {
    this.#allSeconds = allSeconds;
    this.#children = new Map(
      results.map((result) => [
        result,
        { count: count.child(result), seconds: seconds.child(result) },
      ]),
    );
  }

  /** `fromMs` is of `performance.now()`. */
  ended(result: Result, fromMs: number): void {
    const children = this.#children.get(result);
    if (children === undefined) return;
    children.count.value++;
    const seconds = (performance.now() - fromMs) / 1000;
    children.seconds.observe(seconds);
    this.#allSeconds.observe(seconds);
  }
}
