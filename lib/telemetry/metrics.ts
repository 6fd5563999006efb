// All metrics of one server: the table's rows registered with prom-client, and the request metrics
// over them.
import { readFileSync, readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Registry } from 'prom-client';
import { metricTable } from './metric-table.ts';
import type { MetricName, MetricRow } from './metric-table.ts';
import type { InflightKind, RequestLabels, RequestMetrics } from './request-metrics.ts';
import { HistogramSeries, NumberSeries } from './series.ts';
import type { HistogramChild, NumberChild } from './series.ts';

type SeriesOf<R> = R extends { readonly type: 'histogram' } ? HistogramSeries : NumberSeries;
type AllSeries = { readonly [Name in MetricName]: SeriesOf<(typeof metricTable)[Name]> };

export interface Metrics {
  readonly series: AllSeries;
  readonly requests: RequestMetrics;
  /** The body of `/metrics`. */
  text(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/**
 * @param options.release this server's release, `1.36`
 * @param options.showHiddenFor `--show-hidden-metrics-for-version`
 * @throws Error when `showHiddenFor` is not the release before this one
 */
export function createMetrics(options: {
  readonly release: string;
  readonly showHiddenFor: string | undefined;
}): Metrics {
  const shown = new Registry();
  const hidden = new Registry(); // hidden series are counted like the others and shown to nobody
  const current = minorOf(options.release);
  if (options.showHiddenFor !== undefined && minorOf(options.showHiddenFor) !== current - 1) {
    throw new Error(
      `only metrics hidden in the previous release, 1.${String(current - 1)}, can be shown`,
    );
  }
  let hiddenCount = 0;
  const entries = Object.entries(metricTable).map(([name, row]: [string, MetricRow]) => {
    const isHidden = isHiddenNow(row, current, options.showHiddenFor !== undefined);
    if (isHidden) hiddenCount++;
    return [name, makeSeries(name, row, isHidden ? hidden : shown)];
  });
  const series = Object.fromEntries(entries) as AllSeries; // by construction: one per row
  series.hidden_metrics_total.child().value = hiddenCount;
  collectProcess(series);
  return {
    series,
    requests: requestMetrics(series),
    text: async () => ({ contentType: shown.contentType, body: await shown.metrics() }),
  };
}

const minorOf = (release: string): number => Number(release.split('.')[1]);

/** Deprecated in 1.N: shown until 1.(N+2), hidden in 1.(N+3) unless asked for, then gone. */
function isHiddenNow(row: MetricRow, current: number, showHidden: boolean): boolean {
  if (row.deprecatedSince === undefined) return false;
  const age = current - minorOf(row.deprecatedSince);
  const graceReleases = row.stability === 'STABLE' ? 3 : row.stability === 'BETA' ? 1 : 0;
  return age > graceReleases || (age === graceReleases && !showHidden);
}

function makeSeries(
  name: string,
  row: MetricRow,
  registry: Registry,
): NumberSeries | HistogramSeries {
  const deprecated =
    row.deprecatedSince === undefined ? '' : `(Deprecated from ${row.deprecatedSince}) `;
  const shape = { name, help: `[${row.stability}] ${deprecated}${row.help}`, labels: row.labels };
  if (row.type === 'histogram') return new HistogramSeries(shape, row.buckets, registry);
  return new NumberSeries(shape, row.type, registry);
}

const component = 'apiserver';
const inflightLabel: Readonly<Record<Exclude<InflightKind, 'longRunning'>, string>> = {
  mutating: 'mutating',
  readOnly: 'readOnly',
};

/** Refused since there are too many, or not done in time. */
const isTermination = (code: number): boolean => code === 429 || code === 504;

interface RequestChildren {
  readonly totalByCode: Map<number, NumberChild>;
  readonly seconds: HistogramChild;
  readonly sliSeconds: HistogramChild;
  readonly sizes: HistogramChild;
  readonly longRunning: NumberChild;
  readonly aborts: NumberChild;
  readonly events: NumberChild;
  readonly eventSizes: HistogramChild;
}

function requestMetrics(series: AllSeries): RequestMetrics {
  const known = new Map<string, RequestChildren>();
  const inflight = {
    mutating: series.apiserver_current_inflight_requests.child(inflightLabel.mutating),
    readOnly: series.apiserver_current_inflight_requests.child(inflightLabel.readOnly),
  };
  const terminations = series.apiserver_request_terminations_total;
  const handshakes = series.apiserver_tls_handshake_errors_total.child();
  const childrenOf = (labels: RequestLabels): RequestChildren => {
    const { verb, group, version, resource, subresource, scope, dryRun } = labels;
    const key = `${verb}/${group}/${version}/${resource}/${subresource}/${scope}/${dryRun}`;
    let children = known.get(key);
    if (children === undefined) {
      children = makeChildren(series, labels);
      known.set(key, children);
    }
    return children;
  };
  return {
    started(kind, labels) {
      if (kind === 'longRunning') childrenOf(labels).longRunning.value++;
      else inflight[kind].value++;
    },
    finished(kind, labels, outcome) {
      const children = childrenOf(labels);
      if (kind === 'longRunning') children.longRunning.value--;
      else inflight[kind].value--;
      totalOf(series, children, labels, outcome.code).value++;
      if (isTermination(outcome.code)) {
        const { verb, group, version, resource, subresource, scope } = labels;
        const usual = [component, group, resource, scope, subresource, verb, version];
        terminations.child(String(outcome.code), ...usual).value++;
      }
      if (kind === 'longRunning') return;
      children.seconds.observe(outcome.seconds);
      children.sliSeconds.observe(outcome.seconds);
      children.sizes.observe(outcome.responseBytes);
    },
    watchEvents(labels, eventCount, bytes) {
      const children = childrenOf(labels);
      children.events.value += eventCount;
      if (eventCount > 0) children.eventSizes.observe(bytes / eventCount, eventCount);
    },
    aborted(labels) {
      childrenOf(labels).aborts.value++;
    },
    tlsHandshakeFailed() {
      handshakes.value++;
    },
  };
}

function makeChildren(series: AllSeries, labels: RequestLabels): RequestChildren {
  const { verb, group, version, resource, subresource, scope, dryRun } = labels;
  const usual = [component, group, resource, scope, subresource, verb, version] as const;
  return {
    totalByCode: new Map(),
    seconds: series.apiserver_request_duration_seconds.child(component, dryRun, ...usual.slice(1)),
    sliSeconds: series.apiserver_request_sli_duration_seconds.child(...usual),
    sizes: series.apiserver_response_sizes.child(...usual),
    longRunning: series.apiserver_longrunning_requests.child(...usual),
    aborts: series.apiserver_request_aborts_total.child(...usual.slice(1)),
    events: series.apiserver_watch_events_total.child(group, resource, version),
    eventSizes: series.apiserver_watch_events_sizes.child(group, resource, version),
  };
}

function totalOf(
  series: AllSeries,
  children: RequestChildren,
  labels: RequestLabels,
  code: number,
): NumberChild {
  let child = children.totalByCode.get(code);
  if (child === undefined) {
    const { verb, group, version, resource, subresource, scope, dryRun } = labels;
    const rest = [dryRun, group, resource, scope, subresource, verb, version];
    child = series.apiserver_request_total.child(String(code), component, ...rest);
    children.totalByCode.set(code, child);
  }
  return child;
}

/** What the operating system knows of the process, read at each scrape. */
function collectProcess(series: AllSeries): void {
  const loopDelay = monitorEventLoopDelay({ resolution: 10 });
  loopDelay.enable();
  series.process_start_time_seconds.child().value = Date.now() / 1000 - process.uptime();
  series.apiserver_event_loop_delay_seconds.collect.add(() => {
    for (const quantile of ['0.5', '0.99'] as const) {
      const delayNs = loopDelay.percentile(Number(quantile) * 100);
      series.apiserver_event_loop_delay_seconds.child(quantile).value = delayNs / 1e9;
    }
    loopDelay.reset();
  });
  // The first of its rows in the table: the others render after it.
  series.process_cpu_seconds_total.collect.add(() => {
    const { user, system } = process.cpuUsage();
    series.process_cpu_seconds_total.child().value = (user + system) / 1e6;
    series.process_resident_memory_bytes.child().value = process.memoryUsage.rss();
    if (process.platform === 'linux') collectLinux(series);
  });
}

function collectLinux(series: AllSeries): void {
  try {
    series.process_open_fds.child().value = readdirSync('/proc/self/fd').length;
    const limit = /Max open files\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    series.process_max_fds.child().value = Number(limit ?? 0);
    const pages = readFileSync('/proc/self/statm', 'utf8').split(' ')[0] ?? '0';
    series.process_virtual_memory_bytes.child().value = Number(pages) * 4096;
  } catch {
    // /proc may be hidden in a sandbox: these rows then stay 0
  }
}
