// Counters, gauges and histograms whose updates cost a few nanoseconds: a child holds plain
// numbers, labels are looked up once. They are registered with prom-client, which renders them; its
// own metrics hash their labels at every update.
import type { Registry } from 'prom-client';

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

/** One labelled number. */
export interface NumberChild {
  value: number;
}

/**
 * Counter or gauge. `collect` runs at each scrape, for values that are read rather than counted.
 */
export class NumberSeries {
  readonly #shape: SeriesShape;
  readonly #children = new Map<
    string,
    { readonly values: LabelValues; readonly child: NumberChild }
  >();
  readonly collect = new Set<() => void>();

  constructor(shape: SeriesShape, type: 'counter' | 'gauge', registry: Registry) {
    this.#shape = shape;
    if (shape.labels.length === 0) this.child();
    register(registry, shape, type, () => {
      for (const run of this.collect) run();
      return [...this.#children.values()].map(({ values, child }) => ({
        labels: labelsOf(shape, values),
        value: child.value,
      }));
    });
  }

  /**
   * The child for these values, in the order of the labels. Keep it: looking it up is the expensive
   * part.
   */
  child(...values: LabelValues): NumberChild {
    const key = values.join('\u0000');
    let entry = this.#children.get(key);
    if (entry === undefined) {
      entry = { values: checked(this.#shape, values), child: { value: 0 } };
      this.#children.set(key, entry);
    }
    return entry.child;
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
  readonly #shape: SeriesShape;
  readonly #bounds: readonly number[];
  readonly #children = new Map<
    string,
    { readonly values: LabelValues; readonly child: HistogramChild }
  >();

  constructor(shape: SeriesShape, bounds: readonly number[], registry: Registry) {
    this.#shape = shape;
    this.#bounds = bounds;
    if (shape.labels.length === 0) this.child();
    register(registry, shape, 'histogram', () =>
      [...this.#children.values()].flatMap(({ values, child }) => this.#render(values, child)),
    );
  }

  child(...values: LabelValues): HistogramChild {
    const key = values.join('\u0000');
    let entry = this.#children.get(key);
    if (entry === undefined) {
      entry = { values: checked(this.#shape, values), child: new HistogramChild(this.#bounds) };
      this.#children.set(key, entry);
    }
    return entry.child;
  }

  #render(values: LabelValues, child: HistogramChild): Rendered[] {
    const { name } = this.#shape;
    const labels = labelsOf(this.#shape, values);
    let below = 0;
    const buckets = this.#bounds.map((bound, index) => {
      below += child.counts[index] ?? 0;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: below };
    });
    return [
      ...buckets,
      { metricName: `${name}_bucket`, labels: { ...labels, le: '+Inf' }, value: child.count },
      { metricName: `${name}_sum`, labels, value: child.sum },
      { metricName: `${name}_count`, labels, value: child.count },
    ];
  }
}

/** prom-client renders anything that has a name and a `get`. */
function register(
  registry: Registry,
  shape: SeriesShape,
  type: 'counter' | 'gauge' | 'histogram',
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
