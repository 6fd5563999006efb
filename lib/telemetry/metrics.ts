// All metrics of one server: the table's rows registered with prom-client, and the request metrics
// over them.
import { readFileSync, readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Registry } from 'prom-client';
import { systemClock } from '../base/clock.ts';
import { metricTable } from './metric-table.ts';
import type { MetricName, MetricRow } from './metric-table.ts';
import type { InflightKind, RequestLabels, RequestMetrics } from './request-metrics.ts';
import type { WatchEventCount } from './request-metrics.ts';
import { HistogramSeries, NumberSeries, SummarySeries } from './series.ts';
import type { HistogramChild, NumberChild } from './series.ts';

type SeriesOf<R> = R extends { readonly type: 'histogram' }
  ? HistogramSeries
  : R extends { readonly type: 'summary' }
    ? SummarySeries
    : NumberSeries;
type AllSeries = { readonly [Name in MetricName]: SeriesOf<(typeof metricTable)[Name]> };

export interface Metrics {
  readonly series: AllSeries;
  readonly requests: RequestMetrics;
  /** Called before each answer: what has to be asked for. Their failures are no one's. */
  readonly beforeText: Set<() => Promise<void>>;
  /** Of both texts. */
  readonly contentType: string;
  /** The body of `/metrics`. */
  text(): Promise<MetricsText>;
  /** The body of `/metrics/slis`. */
  sliText(): Promise<MetricsText>;
}

export interface MetricsText {
  readonly contentType: string;
  readonly body: string;
}

export interface MetricsOptions {
  /** This server's release, `1.36`. */
  readonly release: string;
  /** `--show-hidden-metrics-for-version` */
  readonly showHiddenFor: string | undefined;
  /** `--disabled-metrics` */
  readonly disabled: readonly string[];
  /** From the name in the table to the one that is served. */
  readonly resolve: (name: string) => string;
}

/** @throws Error when `showHiddenFor` is not the release before this one. */
export function createMetrics(options: MetricsOptions): Metrics {
  const shown = new Registry();
  const slis = new Registry();
  const hidden = new Registry(); // hidden series are counted like the others and shown to nobody
  const current = minorOf(options.release);
  if (options.showHiddenFor !== undefined && minorOf(options.showHiddenFor) !== current - 1) {
    throw new Error(
      `only metrics hidden in the previous release, 1.${String(current - 1)}, can be shown`,
    );
  }
  const counts = { hidden: 0, disabled: 0 };
  const registered: MetricRow[] = [];
  const registryOf = (name: string, row: MetricRow): Registry => {
    if (options.disabled.includes(name)) {
      counts.disabled++;
      return hidden;
    }
    if (isHiddenNow(row, current, options.showHiddenFor !== undefined)) {
      counts.hidden++;
      return hidden;
    }
    registered.push(row);
    return row.isSli === true ? slis : shown;
  };
  const entries = Object.entries(metricTable).map(([key, row]: [string, MetricRow]) => {
    const name = options.resolve(key);
    return [key, makeSeries(name, row, registryOf(name, row))];
  });
  const series = Object.fromEntries(entries) as AllSeries; // by construction: one per row
  series.hidden_metrics_total.child().value = counts.hidden;
  series.disabled_metrics_total.child().value = counts.disabled;
  for (const { deprecatedSince, stability } of registered) {
    const version = deprecatedSince === undefined ? '' : `${deprecatedSince}.0`;
    series.registered_metrics_total.child(version, stability).value++;
  }
  collectProcess(series);
  const beforeText = new Set<() => Promise<void>>();
  const textOf = async (registry: Registry): Promise<MetricsText> => ({
    contentType: registry.contentType,
    body: await registry.metrics(),
  });
  return {
    series,
    requests: requestMetrics(series),
    beforeText,
    contentType: shown.contentType,
    async text() {
      await Promise.allSettled([...beforeText].map((ask) => ask()));
      return textOf(shown);
    },
    sliText: () => textOf(slis),
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
): NumberSeries | HistogramSeries | SummarySeries {
  const deprecated =
    row.deprecatedSince === undefined ? '' : `(Deprecated from ${row.deprecatedSince}) `;
  const shape = { name, help: `[${row.stability}] ${deprecated}${row.help}`, labels: row.labels };
  if (row.type === 'histogram') return new HistogramSeries(shape, row.buckets, registry);
  if (row.type === 'summary') {
    return new SummarySeries(shape, registry, () => systemClock.monotonicMs());
  }
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
  /** undefined: nothing is read. */
  readonly sizes: HistogramChild | undefined;
  readonly longRunning: NumberChild;
  readonly aborts: NumberChild;
  readonly watchEvents: WatchEventCount;
  /** undefined: the request names no resource, or takes no body. */
  readonly bodies: HistogramChild | undefined;
}

/** The verbs whose requests have bodies, as the metric of bodies names them. */
const bodyVerbs: ReadonlyMap<string, string> = new Map([
  ['POST', 'create'],
  ['PUT', 'update'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
  ['DELETECOLLECTION', 'deletecollection'],
]);

function requestMetrics(series: AllSeries): RequestMetrics {
  const known = new Map<string, RequestChildren>();
  const inflight = {
    mutating: series.apiserver_current_inflight_requests.child(inflightLabel.mutating),
    readOnly: series.apiserver_current_inflight_requests.child(inflightLabel.readOnly),
  };
  const terminations = series.apiserver_request_terminations_total;
  const handshakes = series.apiserver_tls_handshake_errors_total.child();
  const lists = series.apiserver_watch_list_duration_seconds;
  const ofLabels = new WeakMap<RequestLabels, RequestChildren>();
  const childrenOf = (labels: RequestLabels): RequestChildren => {
    const again = ofLabels.get(labels);
    if (again !== undefined) return again;
    const { verb, group, version, resource, subresource, scope, dryRun } = labels;
    const key = `${verb}/${group}/${version}/${resource}/${subresource}/${scope}/${dryRun}`;
    let children = known.get(key);
    if (children === undefined) {
      children = makeChildren(series, labels);
      known.set(key, children);
    }
    ofLabels.set(labels, children);
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
      if (outcome.requestBytes > 0) children.bodies?.observe(outcome.requestBytes);
      if (kind === 'longRunning') return;
      children.seconds.observe(outcome.seconds);
      const { seconds, webhookSeconds = 0 } = outcome;
      children.sliSeconds.observe(Math.max(0, seconds - webhookSeconds));
      children.sizes?.observe(outcome.responseBytes);
    },
    watchEvents: (labels) => childrenOf(labels).watchEvents,
    watchListed({ group, resource, scope, version }, seconds) {
      lists.child(group, resource, scope, version).observe(seconds);
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
  const isRead = verb === 'GET' || verb === 'LIST';
  const bodyVerb = resource === '' ? undefined : bodyVerbs.get(verb);
  const bodies = series.apiserver_request_body_size_bytes;
  return {
    totalByCode: new Map(),
    seconds: series.apiserver_request_duration_seconds.child(component, dryRun, ...usual.slice(1)),
    sliSeconds: series.apiserver_request_sli_duration_seconds.child(...usual),
    sizes: isRead ? series.apiserver_response_sizes.child(...usual) : undefined,
    longRunning: series.apiserver_longrunning_requests.child(...usual),
    aborts: series.apiserver_request_aborts_total.child(...usual.slice(1)),
    watchEvents: watchEventCount(
      series.apiserver_watch_events_total.child(group, resource, version),
      series.apiserver_watch_events_sizes.child(group, resource, version),
    ),
    bodies: bodyVerb === undefined ? undefined : bodies.child(group, resource, bodyVerb),
  };
}

const watchEventCount = (events: NumberChild, sizes: HistogramChild): WatchEventCount => ({
  add(eventCount, bytes) {
    events.value += eventCount;
    if (eventCount > 0) sizes.observe(bytes / eventCount, eventCount);
  },
});

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

const loopSampleMs = 10;

/** What the operating system knows of the process, read at each scrape. */
function collectProcess(series: AllSeries): void {
  const loopDelay = monitorEventLoopDelay({ resolution: loopSampleMs });
  loopDelay.enable();
  series.process_start_time_seconds.child().value = Date.now() / 1000 - process.uptime();
  series.apiserver_event_loop_delay_seconds.collect.add(() => {
    for (const quantile of ['0.5', '0.99'] as const) {
      // What is measured is the time between two samples.
      const seconds = loopDelay.percentile(Number(quantile) * 100) / 1e9 - loopSampleMs / 1000;
      series.apiserver_event_loop_delay_seconds.child(quantile).value = Math.max(0, seconds);
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
    const limits = readFileSync('/proc/self/limits', 'utf8');
    series.process_max_fds.child().value = limitIn(limits, 'open files');
    series.process_virtual_memory_max_bytes.child().value = limitIn(limits, 'address space');
    const { received, sent } = octetsIn(readFileSync('/proc/self/net/netstat', 'utf8'));
    series.process_network_receive_bytes_total.child().value = received;
    series.process_network_transmit_bytes_total.child().value = sent;
    const pages = readFileSync('/proc/self/statm', 'utf8').split(' ')[0] ?? '0';
    series.process_virtual_memory_bytes.child().value = Number(pages) * 4096;
  } catch {
    // /proc may be hidden in a sandbox: these rows then stay 0
  }
}

/** The soft limit; without one the largest number that the system has. */
function limitIn(limits: string, name: string): number {
  const limit = new RegExp(`^Max ${name}\\s+(\\S+)`, 'm').exec(limits)?.[1] ?? '0';
  return limit === 'unlimited' ? 2 ** 64 : Number(limit);
}

/** Of IP, in a file of two lines a protocol: names, then their values. */
function octetsIn(netstat: string): { readonly received: number; readonly sent: number } {
  const [names = [], values = []] = netstat
    .split('\n')
    .filter((line) => line.startsWith('IpExt:'))
    .map((line) => line.split(' '));
  const valueOf = (name: string): number => Number(values[names.indexOf(name)] ?? 0);
  return { received: valueOf('InOctets'), sent: valueOf('OutOctets') };
}
