// One text of metrics of the texts of several workers: samples of the same name and labels become
// one, by the rule of their row (`across` in metric-table.ts); what a worker that has ended had
// counted goes on to count, so that no counter goes back.
import { metricTable } from '../../../lib/telemetry/metric-table.ts';
import type { AcrossWorkers, MetricRow } from '../../../lib/telemetry/metric-table.ts';

interface Family {
  /** HELP and TYPE. */
  readonly head: string[];
  isSummary: boolean;
  /** Counted, not measured. */
  isCounted: boolean;
  readonly rule: AcrossWorkers;
  /** By name and labels, as they are written. */
  readonly samples: Map<string, number>;
}

/** The rules of all rows by the names that are served; sum is that of any other. */
export function acrossRules(resolve: (name: string) => string): ReadonlyMap<string, AcrossWorkers> {
  return new Map(
    Object.entries(metricTable).map(([key, row]: [string, MetricRow]) => [
      resolve(key),
      ('across' in row ? row.across : undefined) ?? 'sum',
    ]),
  );
}

export class MergedMetrics {
  readonly #rules: ReadonlyMap<string, AcrossWorkers>;
  readonly #families = new Map<string, Family>();

  constructor(rules: ReadonlyMap<string, AcrossWorkers>) {
    this.#rules = rules;
  }

  /** All samples of a worker that lives. */
  add(text: string): void {
    this.#addLines(text, (family, key, value) => put(family, key, value));
  }

  /** What a worker that has ended had counted. */
  addEnded(text: string): void {
    this.#addLines(text, (family, key, value) => {
      const isTotal = family.isCounted && family.rule === 'sum' && !isQuantile(family, key);
      if (isTotal) put(family, key, value);
    });
  }

  /** One sample, of a family that the texts name; with labels as they are written. */
  addSample(key: string, value: number): void {
    const family = this.#families.get(key.replace(/\{.*/, ''));
    if (family !== undefined) put(family, key, value);
  }

  /** Families of which nothing counts are left out. */
  get text(): string {
    const lines: string[] = [];
    for (const { head, samples } of this.#families.values()) {
      if (lines.length > 0) lines.push('');
      lines.push(...head);
      for (const [key, value] of samples) lines.push(`${key} ${textOf(value)}`);
    }
    return `${lines.join('\n')}\n`;
  }

  #addLines(text: string, take: (family: Family, key: string, value: number) => void): void {
    let family: Family | undefined;
    for (const line of text.split('\n')) {
      if (line === '') continue;
      if (line.startsWith('#')) {
        family = this.#describe(line);
        continue;
      }
      const space = line.lastIndexOf(' ');
      if (family !== undefined) take(family, line.slice(0, space), numberIn(line.slice(space + 1)));
    }
  }

  #describe(line: string): Family {
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    let family = this.#families.get(name);
    if (family === undefined) {
      const rule = this.#rules.get(name) ?? 'sum';
      family = { head: [], isSummary: false, isCounted: false, rule, samples: new Map() };
      this.#families.set(name, family);
    }
    if (family.head.length < 2 && !family.head.includes(line)) family.head.push(line);
    if (word === 'TYPE') {
      family.isSummary = rest === 'summary';
      family.isCounted = rest !== 'gauge';
    }
    return family;
  }
}

const isQuantile = ({ isSummary }: Family, key: string): boolean =>
  isSummary && /[{,]quantile="/.test(key);

/** Quantiles of parts say nothing of the whole: the slowest part is shown. */
function put(family: Family, key: string, value: number): void {
  const { samples } = family;
  const before = samples.get(key);
  const rule = isQuantile(family, key) ? 'max' : family.rule;
  if (before === undefined || Number.isNaN(before)) samples.set(key, value);
  else if (!Number.isNaN(value)) samples.set(key, joined[rule](before, value));
}

const joined: Readonly<Record<AcrossWorkers, (one: number, other: number) => number>> = {
  sum: (one, other) => one + other,
  max: (one, other) => Math.max(one, other),
  min: (one, other) => Math.min(one, other),
};

/** As prom-client writes them. */
function numberIn(text: string): number {
  if (text === 'Nan') return NaN;
  return Number(text.replace('Inf', 'Infinity'));
}

function textOf(value: number): string {
  if (Number.isNaN(value)) return 'Nan';
  return Number.isFinite(value) ? String(value) : value < 0 ? '-Inf' : '+Inf';
}
