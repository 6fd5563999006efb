// Counters, gauges, histograms and summaries whose updates cost a few nanoseconds: a child holds
// plain numbers, labels are looked up once. They are registered with prom-client, which renders
// them; its own metrics hash their labels at every update.
import type { Registry } from 'prom-client';
import { SummaryWindow } from './summary-window.ts';

export type LabelValues = readonly string[];

interface Rendered {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

export interface SeriesShape {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
}

/** What a series holds for each set of label values that was asked for. */
class Children<Child> {
  readonly #shape: SeriesShape;
  readonly #make: () => Child;
  readonly #known = new Map<string, { readonly values: LabelValues; readonly child: Child }>();

  /** One without labels is there from the begin. */
  constructor(shape: SeriesShape, make: () => Child) {
    this.#shape = shape;
    this.#make = make;
    if (shape.labels.length === 0) this.of([]);
  }

  of(values: LabelValues): Child {
    const key = values.join('\u0000');
    let entry = this.#known.get(key);
    if (entry === undefined) {
      entry = { values: checked(this.#shape, values), child: this.#make() };
      this.#known.set(key, entry);
    }
    return entry.child;
  }

  clear(): void {
    this.#known.clear();
  }

  render(rendered: (child: Child, labels: Record<string, string>) => Rendered[]): Rendered[] {
    return [...this.#known.values()].flatMap(({ values, child }) =>
      rendered(child, labelsOf(this.#shape, values)),
    );
  }
}

/** One labelled number. */
export interface NumberChild {
  value: number;
}

/**
 * Counter or gauge. `collect` runs at each scrape, for values that are read rather than counted.
 */
export class NumberSeries {
  readonly #children: Children<NumberChild>;
  readonly collect = new Set<() => void>();

  constructor(shape: SeriesShape, type: 'counter' | 'gauge', registry: Registry) {
    this.#children = new Children(shape, () => ({ value: 0 }));
    register(registry, shape, type, () => {
      for (const run of this.collect) run();
      return this.#children.render(({ value }, labels) => [{ labels, value }]);
    });
  }

  /**
   * The child for these values, in the order of the labels. Keep it: looking it up is the expensive
   * part.
   */
  child(...values: LabelValues): NumberChild {
    return this.#children.of(values);
  }

  /** Drops all children: before a `collect` that writes the whole set. */
  clear(): void {
    this.#children.clear();
  }
}

export class HistogramChild {
  readonly counts: Float64Array;
  sum = 0;
  count = 0;
  readonly #bounds: readonly number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length);
  }

  /** `times` equal values at once. */
  observe(value: number, times = 1): void {
    const bounds = this.#bounds;
    for (let index = 0; index < bounds.length; index++) {
      if (value <= (bounds[index] ?? Infinity)) {
        this.counts[index] = (this.counts[index] ?? 0) + times;
        break;
      }
    }
    this.sum += value * times;
    this.count += times;
  }
}

export class HistogramSeries {
  readonly #children: Children<HistogramChild>;

  constructor({ name, ...shape }: SeriesShape, bounds: readonly number[], registry: Registry) {
    this.#children = new Children({ name, ...shape }, () => new HistogramChild(bounds));
    register(registry, { name, ...shape }, 'histogram', () =>
      this.#children.render((child, labels) => {
        let below = 0;
        const buckets = bounds.map((bound, index) => {
          below += child.counts[index] ?? 0;
          return { metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: below };
        });
        const last = { ...labels, le: '+Inf' };
        return [
          ...buckets,
          { metricName: `${name}_bucket`, labels: last, value: child.count },
          ...totals(name, labels, child),
        ];
      }),
    );
  }

  child(...values: LabelValues): HistogramChild {
    return this.#children.of(values);
  }
}

const quantiles = [0.5, 0.9, 0.99];

/** Quantiles of the last hours; sum and count are those of all time. */
export class SummarySeries {
  readonly #children: Children<SummaryWindow>;

  /** @param monotonicMs milliseconds of a clock that never goes back */
  constructor(shape: SeriesShape, registry: Registry, monotonicMs: () => number) {
    const { name } = shape;
    this.#children = new Children(shape, () => new SummaryWindow(monotonicMs));
    register(registry, shape, 'summary', () =>
      this.#children.render((child, labels) => [
        ...quantiles.map((quantile) => ({
          labels: { ...labels, quantile },
          value: child.quantile(quantile),
        })),
        ...totals(name, labels, child),
      ]),
    );
  }

  child(...values: LabelValues): SummaryWindow {
    return this.#children.of(values);
  }
}

const totals = (
  name: string,
  labels: Rendered['labels'],
  { sum, count }: { readonly sum: number; readonly count: number },
): Rendered[] => [
  { metricName: `${name}_sum`, labels, value: sum },
  { metricName: `${name}_count`, labels, value: count },
];

/** prom-client renders anything that has a name and a `get`. */
function register(
  registry: Registry,
  shape: SeriesShape,
  type: 'counter' | 'gauge' | 'histogram' | 'summary',
  values: () => readonly Rendered[],
): void {
  const metric = {
    name: shape.name,
    help: shape.help,
    type,
    aggregator: 'sum',
    get: () =>
      Promise.resolve({
        name: shape.name,
        help: shape.help,
        type,
        aggregator: 'sum',
        values: values(),
      }),
    reset: () => undefined,
  };
  registry.registerMetric(metric as never);
}

const labelsOf = (shape: SeriesShape, values: LabelValues): Record<string, string> =>
  Object.fromEntries(shape.labels.map((label, index) => [label, values[index] ?? '']));

function checked(shape: SeriesShape, values: LabelValues): LabelValues {
  if (values.length !== shape.labels.length) {
    throw new Error(
      `${shape.name} has labels ${shape.labels.join(', ')}, got ${String(values.length)} values`,
    );
  }
  return values;
}
