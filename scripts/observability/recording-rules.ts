// The recording rules: burn rates of the objectives, availability, and what dashboards ask for
// often. Names are those of the rules that are usual for Kubernetes.
import { all, apiserver, bound, failed, goodWithin, requestClasses } from './promql.ts';
import { sliBuckets, slow, verbs } from './promql.ts';
import type { RequestClass } from './promql.ts';

export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface RuleGroup {
  readonly name: string;
  /** Default: that of the server. */
  readonly interval?: string;
  readonly rules: readonly RecordingRule[];
}

const windows = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'] as const;
const total = 'apiserver_request_total';
const sli = 'apiserver_request_sli_duration_seconds';

/** One rule for reads and one for writes. */
const forEach = (record: string, expr: (of: RequestClass) => string): readonly RecordingRule[] =>
  requestClasses.map((of) => ({ record, expr: expr(of), labels: { verb: of } }));

const burnRates = windows.flatMap((window) =>
  forEach(
    `apiserver_request:burnrate${window}`,
    (of) =>
      `(\n  ${slow(of, window)}\n  + (${failed(of, window)} or 0 * ${all(of, window)})\n)\n/ ` +
      all(of, window),
  ),
);

const shares = [
  ...forEach(
    'cluster:apiserver_request_errors:ratio_rate5m',
    (of) => `(${failed(of, '5m')} or 0 * ${all(of, '5m')})\n/ ${all(of, '5m')}`,
  ),
  ...forEach(
    'cluster:apiserver_request_slow:ratio_rate5m',
    (of) => `${slow(of, '5m')}\n/ ${all(of, '5m')}`,
  ),
];

const quantiles = requestClasses.flatMap((of) =>
  (['0.99', '0.9', '0.5'] as const).map((quantile) => ({
    record: `cluster_quantile:${sli}:histogram_quantile`,
    expr: `histogram_quantile(${quantile}, ${sliBuckets(of, '5m', 'cluster, resource')}) > 0`,
    labels: { verb: of, quantile },
  })),
);

/** Of 30 days: the mean of the hours, since a range of a month over raw series is too much. */
const month = (expr: string): string => `avg_over_time(${expr}[30d]) * 24 * 30`;
const bucketHours = `cluster_verb_scope_le:${sli}_bucket:increase1h`;
const bucketMonth = `cluster_verb_scope_le:${sli}_bucket:increase30d`;
const countMonth = `cluster_verb_scope:${sli}_count:increase30d`;
const codeMonth = 'code:apiserver_request_total:increase30d';

/** Requests of 30 days that were in time. */
const goodOfMonth = (of: RequestClass): string =>
  goodWithin[of]
    .map(([scope, seconds]) => `${bucketMonth}{${verbs[of]},${scope},${bound(seconds)}}`)
    .join('\n    or ');
const badOfMonth = (of: RequestClass): string =>
  `sum by (cluster) (${countMonth}{${verbs[of]}})\n` +
  `  - sum by (cluster) (\n    ${goodOfMonth(of)}\n  )\n` +
  `  + (sum by (cluster) (${codeMonth}{verb="${of}",code=~"5.."})\n` +
  `    or 0 * sum by (cluster) (${codeMonth}{verb="${of}"}))`;

const availability: readonly RecordingRule[] = [
  {
    record: 'code_verb:apiserver_request_total:increase1h',
    expr:
      'sum by (cluster, code, verb) ' +
      `(increase(${total}{${apiserver},verb!~"WATCH|CONNECT"}[1h]))`,
  },
  {
    record: 'code_verb:apiserver_request_total:increase30d',
    expr: month('code_verb:apiserver_request_total:increase1h'),
  },
  ...forEach(
    codeMonth,
    (of) => `sum by (cluster, code) (code_verb:apiserver_request_total:increase30d{${verbs[of]}})`,
  ),
  {
    record: bucketHours,
    expr: `sum by (cluster, verb, scope, le) (increase(${sli}_bucket{${apiserver}}[1h]))`,
  },
  { record: bucketMonth, expr: month(bucketHours) },
  {
    record: `cluster_verb_scope:${sli}_count:increase1h`,
    expr: `sum by (cluster, verb, scope) (${bucketHours}{le="+Inf"})`,
  },
  {
    record: countMonth,
    expr: `sum by (cluster, verb, scope) (${bucketMonth}{le="+Inf"})`,
  },
  ...forEach(
    'apiserver_request:availability30d',
    (of) => `1 - (\n  ${badOfMonth(of)}\n)\n/ sum by (cluster) (${codeMonth}{verb="${of}"})`,
  ),
];

const rates: readonly RecordingRule[] = [
  ...forEach(
    'code_resource:apiserver_request_total:rate5m',
    (of) => `sum by (cluster, code, resource) (rate(${total}{${apiserver},${verbs[of]}}[5m]))`,
  ),
  {
    record: 'instance_operation:etcd_request_duration_seconds:p99_rate5m',
    expr:
      'histogram_quantile(0.99, sum by (cluster, instance, operation, le) ' +
      `(rate(etcd_request_duration_seconds_bucket{${apiserver}}[5m])))`,
  },
  {
    record: 'instance:apiserver_consistent_read_fallbacks:ratio_rate5m',
    expr:
      'sum by (cluster, instance) ' +
      `(rate(apiserver_watch_cache_consistent_read_total{${apiserver},fallback="true"}[5m]))\n` +
      '/ sum by (cluster, instance) ' +
      `(rate(apiserver_watch_cache_consistent_read_total{${apiserver}}[5m]))`,
  },
];

export const ruleGroups: readonly RuleGroup[] = [
  { name: 'apiserver-burnrate.rules', rules: [...burnRates, ...shares] },
  { name: 'apiserver-histogram.rules', rules: quantiles },
  { name: 'apiserver-rates.rules', rules: rates },
  { name: 'apiserver-availability.rules', interval: '3m', rules: availability },
];
