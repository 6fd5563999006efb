// Alerts about what clients get: the objectives, failures, refusals, watches.
import { comes, grows, seen, stays } from './alert.ts';
import type { AlertGroup, SeriesCourse } from './alert.ts';
import { apiserver, errorBudget, happened } from './promql.ts';

const burns = (factor: number, long: string, short: string): string =>
  `(apiserver_request:burnrate${long} > ${String(factor)} * ${String(errorBudget)}\n` +
  `  and apiserver_request:burnrate${short} > ${String(factor)} * ${String(errorBudget)})`;

/** Single objects read by one replica: all in time, so many a minute of them with a failure. */
function reads(perMinute: number, failedPerMinute: number): SeriesCourse {
  const of = 'job="apiserver",instance="a",resource="pods",scope="resource",verb="GET"';
  const sli = 'apiserver_request_sli_duration_seconds';
  const all = grows(perMinute);
  return {
    [`apiserver_request_total{${of},code="200"}`]: grows(perMinute - failedPerMinute),
    [`apiserver_request_total{${of},code="500"}`]: grows(failedPerMinute),
    [`${sli}_count{${of}}`]: all,
    [`${sli}_bucket{${of},le="1"}`]: all,
    [`${sli}_bucket{${of},le="+Inf"}`]: all,
  };
}

/** The same for four days, a value each ten minutes. */
const longReads = (failed: number): SeriesCourse =>
  Object.fromEntries(
    Object.entries(reads(10_000, failed)).map(([series, values]) => [
      series,
      values.replace('x90', 'x600'),
    ]),
  );

const perInstance = 'cluster, instance';
const requests = `apiserver_request_total{${apiserver}`;
const terminations = `apiserver_request_terminations_total{${apiserver}}`;

export const requestAlerts: AlertGroup = {
  name: 'apiserver-requests.alerts',
  title: 'Requests',
  rows: [
    {
      name: 'ApiserverErrorBudgetBurnsFast',
      severity: 'critical',
      expr: `${burns(14.4, '1h', '5m')}\nor ${burns(6, '6h', '30m')}`,
      for: '2m',
      summary:
        'So many {{ $labels.verb }} requests fail or are slow that the budget of a month ' +
        'ends within days.',
      means:
        'The objective is that 99.9 % of requests of 30 days succeed and are in time: 1 s ' +
        'for writes and for reads of one ' +
        'object, 5 s for lists of a namespace, 30 s for lists of a cluster, without the time ' +
        'of webhooks. At this rate the ' +
        'budget of 30 days is gone within two days (14.4 times) or five (6 times).',
      look: [
        'Dashboard "Overview": do requests fail (errors) or are they slow, of which ' +
          'resources and on which replicas?',
        'One replica alone: its log, its event loop and its memory ("Process"). All of them: ' +
          'etcd ("etcd"), webhooks ("Controllers and admission").',
      ],
      act: [
        'One bad replica: restart it; the balancer leaves it meanwhile.',
        'etcd slow or failing: [ApiserverEtcdSlow](#apiserveretcdslow), ' +
          '[ApiserverEtcdFailing](#apiserveretcdfailing).',
        'After an upgrade or a change of flags: take it back.',
      ],
      shown: {
        at: '80m',
        fires: reads(1000, 20),
        labels: { verb: 'read' },
        quiet: reads(10_000, 10),
      },
    },
    {
      name: 'ApiserverErrorBudgetBurnsSlowly',
      severity: 'warning',
      expr: `${burns(3, '1d', '2h')}\nor ${burns(1, '3d', '6h')}`,
      for: '1h',
      summary:
        'More {{ $labels.verb }} requests fail or are slow than the objective of a month allows.',
      means:
        'The same objective as of the alert above: at this rate the budget of 30 days does ' +
        'not last for 30 days. Nobody has ' +
        'to get up at night for it.',
      look: ['Dashboard "Overview", over three days: since when, which resources, which codes?'],
      act: [
        'As above. If the share is one that you can live with, change the objective rather ' +
          'than silence the alert.',
      ],
      shown: {
        at: '84h',
        isLong: true,
        fires: longReads(20),
        labels: { verb: 'read' },
        quiet: longReads(5),
      },
    },
    {
      name: 'ApiserverServerErrors',
      severity: 'warning',
      expr:
        `sum by (${perInstance}) (rate(${requests},code=~"5.."}[5m]))\n` +
        `/ sum by (${perInstance}) (rate(${requests}}[5m])) > 0.05`,
      for: '10m',
      summary: 'Replica {{ $labels.instance }} answers more than 5 % of its requests with 5xx.',
      means:
        'One replica fails although the whole may be within its objective: the balancer ' +
        'spreads its failures over all clients.',
      look: [
        'Its log: a 500 has a line with the reason. `/readyz?verbose` of that replica.',
        '503 and 504: it does not hear from etcd; compare the other replicas.',
      ],
      act: ['Restart it, and take it from the balancer if that does not help.'],
      shown: { fires: reads(1000, 100), labels: { instance: 'a' }, quiet: reads(1000, 30) },
    },
    {
      name: 'ApiserverRefusesRequests',
      severity: 'warning',
      expr:
        `sum by (${perInstance}) (rate(${terminations}[5m]))\n` +
        `/ sum by (${perInstance}) (rate(${requests}}[5m])) > 0.05`,
      for: '10m',
      summary:
        'Replica {{ $labels.instance }} ends more than 5 % of requests itself, with 429 or 504.',
      means:
        'There is more to do than the replica can do in time: it refuses (429), or deadlines ' +
        'pass (504).',
      look: [
        'Dashboard "Overview", requests in flight; "Process", CPU and event loop; "etcd", latency.',
        'Who asks: dashboard "Authentication and authorization", or the audit log.',
      ],
      act: [
        'Slow down or fix the client that asks too much; add a replica; give etcd faster disks.',
      ],
      shown: {
        fires: {
          ...reads(1000, 0),
          ...seen('apiserver_request_terminations_total', 'code="504"', grows(100)),
        },
        labels: { instance: 'a' },
        quiet: {
          ...reads(1000, 0),
          ...seen('apiserver_request_terminations_total', 'code="504"', grows(1)),
        },
      },
    },
    {
      name: 'ApiserverFallbackReads',
      severity: 'warning',
      expr: 'instance:apiserver_consistent_read_fallbacks:ratio_rate5m > 0.01',
      for: '10m',
      summary:
        'Replica {{ $labels.instance }} answers consistent reads from etcd instead of memory.',
      means:
        'Memory cannot be proven current in time, so that reads go to etcd: right, but ' +
        'slower, and each costs etcd what memory ' +
        'would have given for nothing.',
      look: [
        'The versions of all etcd members: below 3.4.31, and from 3.5.0 to 3.5.12, none can ' +
          'be trusted with progress requests.',
        'Dashboard "etcd": latency and failures. Dashboard "Caches and watches": how far the ' +
          'replica is behind.',
      ],
      act: [
        'Upgrade etcd. If one replica alone does it, restart that replica, and look at its ' +
          'way to etcd.',
      ],
      shown: {
        fires: {
          ...seen('apiserver_watch_cache_consistent_read_total', 'fallback="true"', grows(10)),
          ...seen('apiserver_watch_cache_consistent_read_total', 'fallback="false"', grows(90)),
        },
        labels: { instance: 'a' },
        quiet: {
          ...seen('apiserver_watch_cache_consistent_read_total', 'fallback="true"', stays(5)),
          ...seen('apiserver_watch_cache_consistent_read_total', 'fallback="false"', grows(90)),
        },
      },
    },
    {
      name: 'ApiserverWatchesTerminated',
      severity: 'warning',
      expr:
        'sum by (cluster, instance, resource) ' +
        `(increase(apiserver_terminated_watchers_total{${apiserver}}[10m])) > 10`,
      for: '5m',
      summary:
        'Watches of {{ $labels.resource }} on {{ $labels.instance }} end, since their ' +
        'clients read too slowly.',
      means:
        'A watcher is a position in the log of events. Where the log has gone on past it, ' +
        'the watch ends with 410 and the ' +
        'client lists anew: many of them at once are a storm of lists.',
      look: [
        'Dashboard "Caches and watches": events a second, memory of the log; is the budget ' +
          'used up by current state?',
        'The clients: do they read, or does a proxy between hold them up?',
      ],
      act: [
        'Raise `--cache-memory-mb`, so that the log reaches further back; mend the slow client.',
      ],
      shown: {
        fires: {
          ...seen('apiserver_terminated_watchers_total', 'group="",resource="pods"', grows(3)),
        },
        labels: { instance: 'a', resource: 'pods' },
        quiet: {
          ...seen('apiserver_terminated_watchers_total', 'group="",resource="pods"', comes(30, 4)),
        },
      },
    },
    {
      name: 'ApiserverAuditFails',
      severity: 'critical',
      expr:
        `${happened(`apiserver_audit_error_total{${apiserver}}`, 'cluster, instance, plugin')}\n` +
        'or label_replace(sum by (cluster, instance) ' +
        `(increase(apiserver_audit_requests_rejected_total{${apiserver}}[15m])), ` +
        '"plugin", "blocking", "", "") > 0',
      for: '0m',
      summary: 'Audit events of {{ $labels.instance }} are lost ({{ $labels.plugin }}).',
      means:
        'Something was done of which the audit log knows nothing, or (plugin "blocking") ' +
        'requests were refused since their ' +
        'events could not be written.',
      look: [
        'The log of the replica names the cause: the disk of `--audit-log-path` is full or ' +
          'read-only, or the webhook does not answer.',
        'Plugin "buffered": events come faster than they are sent; "truncate": an event is ' +
          'larger than allowed.',
      ],
      act: [
        'Make room, or mend the webhook. What was lost is lost: note the time.',
        'A larger `--audit-log-batch-buffer-size` or `--audit-webhook-batch-buffer-size`, or ' +
          'a policy that records less.',
      ],
      shown: {
        fires: {
          ...seen('apiserver_audit_error_total', 'plugin="log"', comes(40, 1)),
        },
        labels: { instance: 'a', plugin: 'log' },
        quiet: {
          ...seen('apiserver_audit_error_total', 'plugin="log"', stays(7)),
          'apiserver_audit_requests_rejected_total{job="apiserver",instance="a"}': stays(0),
        },
      },
    },
  ],
};
