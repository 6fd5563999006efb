// Attempts at something by their result, and how long they took. Children are looked up once, so
// that a request pays for two additions.
import type { HistogramChild, HistogramSeries, NumberChild, NumberSeries } from './series.ts';

export class Attempts<Result extends string> {
  readonly #children: ReadonlyMap<
    Result,
    { readonly count: NumberChild; readonly seconds: HistogramChild }
  >;

  /** Both series have the one label `result`. */
  constructor(results: readonly Result[], count: NumberSeries, seconds: HistogramSeries) {
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
    children.seconds.observe((performance.now() - fromMs) / 1000);
  }
}
