// The dashboards about what clients ask for and get: an overview, and caches with watches.
import { chosen, chosenCluster, perSecond, quantile } from './dashboard.ts';
import type { Dashboard } from './dashboard.ts';

const sli = 'apiserver_request_sli_duration_seconds';
const total = `apiserver_request_total{${chosen}}`;
const totalOf = (code: string): string => `apiserver_request_total{${chosen},code=~"${code}"}`;
const topTen = (expr: string): string => `topk(10, ${expr})`;
const sumPerSecond = (metric: string): string =>
  `sum(rate(${metric}{${chosen}}[$__rate_interval]))`;
const ended = `${chosen},verb!~"WATCH|CONNECT"`;

export const overview: Dashboard = {
  uid: 'svc-apiserver-overview',
  title: 'API server / Overview',
  description: 'What clients ask for, how often it fails and how long it takes.',
  jobsBy: 'apiserver_ready',
  sections: [
    {
      title: 'At a glance',
      panels: [
        {
          title: 'Replicas ready',
          description: 'How many replicas would pass /readyz.',
          unit: 'short',
          shape: 'number',
          queries: [{ expr: `sum(apiserver_ready{${chosen}})`, legend: 'ready' }],
        },
        {
          title: 'Availability, 30 days',
          description:
            'Share of requests that succeeded in time: 1 s for writes and single objects, 5 ' +
            's for lists of a namespace, ' +
            '30 s for lists of a cluster. The objective is 99.9 %.',
          unit: 'percentunit',
          shape: 'number',
          queries: [
            { expr: `apiserver_request:availability30d{${chosenCluster}}`, legend: '{{verb}}' },
          ],
        },
        {
          title: 'Error budget, burn rate',
          description:
            'Share of requests of the last hour that failed or were slow. Above 0.1 % the ' +
            'budget does not last.',
          unit: 'percentunit',
          shape: 'number',
          queries: [{ expr: `apiserver_request:burnrate1h{${chosenCluster}}`, legend: '{{verb}}' }],
        },
        {
          title: 'Requests',
          description: 'Requests answered, with watches that ended.',
          unit: 'reqps',
          shape: 'number',
          queries: [{ expr: `sum(rate(${total}[$__rate_interval]))`, legend: 'all' }],
        },
        {
          title: 'Open watches',
          description: 'Watches and other streams that are open now.',
          unit: 'short',
          shape: 'number',
          queries: [{ expr: `sum(apiserver_longrunning_requests{${chosen}})`, legend: 'open' }],
        },
        {
          title: 'Objects',
          description: 'Objects stored, of all resources.',
          unit: 'short',
          shape: 'number',
          queries: [
            {
              expr:
                'sum(max by (cluster, group, resource) ' +
                `(apiserver_resource_objects{${chosen}}))`,
              legend: 'stored',
            },
          ],
        },
        {
          title: 'Alerts that fire',
          description: 'docs/alerts.md says of each what to do.',
          unit: 'short',
          shape: 'table',
          emptyWhen: 'all is well',
          queries: [
            {
              expr:
                'sum by (alertname, severity, instance) ' +
                `(ALERTS{alertstate="firing",alertname=~"Apiserver.*|Etcd.*",${chosenCluster}})`,
              legend: '{{alertname}}',
            },
          ],
        },
        {
          title: 'Failed and slow requests',
          description:
            'Shares of the last five minutes, by reads and writes: what the burn rates are ' +
            'made of.',
          unit: 'percentunit',
          queries: [
            {
              expr: `cluster:apiserver_request_errors:ratio_rate5m{${chosenCluster}}`,
              legend: 'failed {{verb}}',
            },
            {
              expr: `cluster:apiserver_request_slow:ratio_rate5m{${chosenCluster}}`,
              legend: 'slow {{verb}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Rate',
      panels: [
        {
          title: 'Requests by verb',
          description: 'Watches count when they end.',
          unit: 'reqps',
          shape: 'stacked',
          queries: [{ expr: perSecond(total, 'verb'), legend: '{{verb}}' }],
        },
        {
          title: 'Requests by resource',
          description: 'The ten resources that are asked for most.',
          unit: 'reqps',
          shape: 'stacked',
          queries: [
            {
              expr: topTen(
                perSecond(`apiserver_request_total{${chosen},resource!=""}`, 'group, resource'),
              ),
              legend: '{{resource}} {{group}}',
            },
          ],
        },
        {
          title: 'Requests by replica',
          description: 'Whether the balancer spreads them.',
          unit: 'reqps',
          queries: [{ expr: perSecond(total, 'instance'), legend: '{{instance}}' }],
        },
        {
          title: 'Requests in flight',
          description: 'Being served now, streams left out.',
          unit: 'short',
          queries: [
            {
              expr:
                'sum by (instance, request_kind) ' +
                `(apiserver_current_inflight_requests{${chosen}})`,
              legend: '{{instance}} {{request_kind}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Errors',
      panels: [
        {
          title: 'Answers by code',
          description: '0: the client left before its answer.',
          unit: 'reqps',
          queries: [{ expr: perSecond(total, 'code'), legend: '{{code}}' }],
        },
        {
          title: 'Failures of the server (5xx)',
          description: 'By what was asked for.',
          unit: 'reqps',
          emptyWhen: 'no request has failed by the fault of the server',
          queries: [
            {
              expr: perSecond(totalOf('5..'), 'verb, resource, code'),
              legend: '{{verb}} {{resource}} {{code}}',
            },
          ],
        },
        {
          title: 'Refusals (4xx)',
          description: 'By what was asked for: not found, conflict, invalid, not allowed.',
          unit: 'reqps',
          emptyWhen: 'every request could be granted',
          queries: [
            {
              expr: `topk(15, ${perSecond(totalOf('4..'), 'verb, resource, code')})`,
              legend: '{{verb}} {{resource}} {{code}}',
            },
          ],
        },
        {
          title: 'Ended by the server',
          description: 'Requests that the server refused or ended in self-defence: 429 and 504.',
          unit: 'reqps',
          emptyWhen: 'nothing was too much',
          queries: [
            {
              expr: perSecond(
                `apiserver_request_terminations_total{${chosen}}`,
                'verb, resource, code',
              ),
              legend: '{{verb}} {{resource}} {{code}}',
            },
          ],
        },
        {
          title: 'Left by their clients',
          description: 'Requests whose client went before the answer was complete.',
          unit: 'reqps',
          queries: [
            {
              expr: perSecond(`apiserver_request_aborts_total{${chosen}}`, 'verb'),
              legend: '{{verb}}',
            },
          ],
        },
        {
          title: 'Deprecated APIs in use',
          description: 'Since the start of each replica, by the release that removes them.',
          unit: 'short',
          shape: 'table',
          emptyWhen: 'nobody asks for a deprecated API',
          queries: [
            {
              expr:
                'max by (group, version, resource, removed_release) ' +
                `(apiserver_requested_deprecated_apis{${chosen}})`,
              legend: '{{group}}/{{version}} {{resource}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Duration',
      panels: [
        {
          title: 'Time by verb, p99',
          description: 'Without the time of webhooks: what the objective is about.',
          unit: 's',
          queries: [{ expr: quantile(0.99, sli, ended, 'verb'), legend: '{{verb}}' }],
        },
        {
          title: 'Time by resource, p99',
          description: 'Without the time of webhooks, by reads and writes; the ten slowest.',
          unit: 's',
          queries: [
            {
              expr:
                'topk(10, ' +
                `cluster_quantile:${sli}:histogram_quantile{${chosenCluster},quantile="0.99"})`,
              legend: '{{verb}} {{resource}}',
            },
          ],
        },
        {
          title: 'Time as clients see it',
          description: 'From the first byte of a request to the end of its answer, with webhooks.',
          unit: 's',
          queries: [0.5, 0.9, 0.99].map((share) => ({
            expr: quantile(share, 'apiserver_request_duration_seconds', ended),
            legend: `p${String(share * 100)}`,
          })),
        },
        {
          title: 'Time by replica, p99',
          description: 'One that is slower than the others is worth a look.',
          unit: 's',
          queries: [{ expr: quantile(0.99, sli, ended, 'instance'), legend: '{{instance}}' }],
        },
        {
          title: 'Size of answers, p99',
          description: 'Of gets and lists, by resource; the ten largest.',
          unit: 'bytes',
          queries: [
            {
              expr:
                'topk(10, ' +
                `${quantile(0.99, 'apiserver_response_sizes', chosen, 'verb, resource')})`,
              legend: '{{verb}} {{resource}}',
            },
          ],
        },
        {
          title: 'Size of bodies, p99',
          description: 'Of requests that write, by resource; the ten largest.',
          unit: 'bytes',
          queries: [
            {
              expr: topTen(
                quantile(0.99, 'apiserver_request_body_size_bytes', chosen, 'verb, resource'),
              ),
              legend: '{{verb}} {{resource}}',
            },
          ],
        },
      ],
    },
  ],
};

const perResource = (metric: string): string =>
  `topk(10, ${perSecond(`${metric}{${chosen}}`, 'group, resource')})`;
const resourceLegend = '{{resource}} {{group}}';

export const caches: Dashboard = {
  uid: 'svc-apiserver-caches',
  title: 'API server / Caches and watches',
  description: 'What lies in memory, how current it is, and what is told to watchers.',
  jobsBy: 'apiserver_ready',
  sections: [
    {
      title: 'Memory',
      panels: [
        {
          title: 'Memory of the cache',
          description:
            'Current state, log of events, remembered encodings and objects. State is never ' +
            'dropped; the log and what is ' +
            'remembered get what is left.',
          unit: 'bytes',
          queries: [
            {
              expr: `sum by (instance, kind) (apiserver_cache_memory_bytes{${chosen}})`,
              legend: '{{instance}} {{kind}}',
            },
            {
              expr: `max(apiserver_cache_memory_limit_bytes{${chosen}})`,
              legend: 'limit of a replica',
            },
          ],
        },
        {
          title: 'Objects by resource',
          description: 'The ten most frequent.',
          unit: 'short',
          queries: [
            {
              expr: `topk(10, max by (group, resource) (apiserver_resource_objects{${chosen}}))`,
              legend: resourceLegend,
            },
          ],
        },
        {
          title: 'Bytes by resource',
          description: 'Of stored objects; the ten largest.',
          unit: 'bytes',
          queries: [
            {
              expr:
                'topk(10, max by (group, resource) ' +
                `(apiserver_resource_size_estimate_bytes{${chosen}}))`,
              legend: resourceLegend,
            },
          ],
        },
        {
          title: 'Objects that cannot be read',
          description: 'More than 0: the log names each key.',
          unit: 'short',
          queries: [
            {
              expr: `max by (instance) (apiserver_storage_unreadable_objects{${chosen}})`,
              legend: '{{instance}}',
            },
          ],
        },
      ],
    },
    {
      title: 'How current memory is',
      panels: [
        {
          title: 'Revision',
          description:
            'Of the last event that each replica has: lines that part mean that one is behind.',
          unit: 'none',
          queries: [
            {
              expr: `max by (instance) (apiserver_watch_cache_resource_version{${chosen}})`,
              legend: '{{instance}}',
            },
          ],
        },
        {
          title: 'Consistent reads',
          description: 'fallback true: memory could not be proven current, and etcd answered.',
          unit: 'reqps',
          queries: [
            {
              expr: perSecond(
                `apiserver_watch_cache_consistent_read_total{${chosen}}`,
                'instance, fallback',
              ),
              legend: '{{instance}} fallback {{fallback}}',
            },
          ],
        },
        {
          title: 'Reads from etcd instead of memory',
          description: 'Share of consistent reads, by replica.',
          unit: 'percentunit',
          queries: [
            {
              expr:
                'instance:apiserver_consistent_read_fallbacks:ratio_rate5m' +
                `{instance=~"$instance",${chosenCluster}}`,
              legend: '{{instance}}',
            },
          ],
        },
        {
          title: 'Time that reads wait for memory, p99',
          description: 'Until memory has the revision that a read asks for.',
          unit: 's',
          queries: [
            {
              expr: quantile(0.99, 'apiserver_watch_cache_read_wait_seconds', chosen, 'instance'),
              legend: '{{instance}}',
            },
          ],
        },
        {
          title: 'Times that memory was filled',
          description:
            'Once at the start; again after a restore, or when the stream was away for too long.',
          unit: 'short',
          queries: [
            {
              expr: `max by (instance) (apiserver_watch_cache_initializations_total{${chosen}})`,
              legend: '{{instance}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Lists',
      panels: [
        {
          title: 'Lists by who answered',
          description: 'memory: now; snapshot: memory as it was; storage: etcd.',
          unit: 'reqps',
          queries: [
            {
              expr: perSecond(`apiserver_cache_list_total{${chosen}}`, 'index'),
              legend: '{{index}}',
            },
            {
              expr: sumPerSecond('apiserver_storage_list_total'),
              legend: 'storage',
            },
          ],
        },
        {
          title: 'Objects looked at, and returned',
          description: 'Many looked at for few returned: a selector without an index.',
          unit: 'ops',
          queries: [
            {
              expr: sumPerSecond('apiserver_cache_list_fetched_objects_total'),
              legend: 'looked at',
            },
            {
              expr: sumPerSecond('apiserver_cache_list_returned_objects_total'),
              legend: 'returned',
            },
          ],
        },
      ],
    },
    {
      title: 'Watches',
      panels: [
        {
          title: 'Open watches by resource',
          description: 'The ten with most watches.',
          unit: 'short',
          queries: [
            {
              expr:
                'topk(10, sum by (group, resource) ' +
                `(apiserver_longrunning_requests{${chosen},verb="WATCH"}))`,
              legend: resourceLegend,
            },
          ],
        },
        {
          title: 'Open watches by replica',
          description: 'Whether the balancer spreads them; long watches stay where they began.',
          unit: 'short',
          queries: [
            {
              expr: `sum by (instance) (apiserver_longrunning_requests{${chosen},verb="WATCH"})`,
              legend: '{{instance}}',
            },
          ],
        },
        {
          title: 'Events from etcd',
          description: 'Into the memory of each replica, by resource.',
          unit: 'ops',
          queries: [
            {
              expr: perResource('apiserver_watch_cache_events_received_total'),
              legend: resourceLegend,
            },
          ],
        },
        {
          title: 'Events to watchers',
          description: 'Written, by resource: events of etcd times watchers.',
          unit: 'ops',
          queries: [{ expr: perResource('apiserver_watch_events_total'), legend: resourceLegend }],
        },
        {
          title: 'Bytes to watchers',
          description: 'Written, by resource.',
          unit: 'Bps',
          queries: [
            { expr: perResource('apiserver_watch_events_sizes_sum'), legend: resourceLegend },
          ],
        },
        {
          title: 'First events',
          description:
            'Synthetic events that watches began with: many of them mean that clients begin anew.',
          unit: 'ops',
          queries: [{ expr: perResource('apiserver_init_events_total'), legend: resourceLegend }],
        },
        {
          title: 'Time until a watch is up to date, p99',
          description: 'For watches that ask for the state first.',
          unit: 's',
          emptyWhen: 'no client asks for the state by its watch (`sendInitialEvents`)',
          queries: [
            {
              expr: quantile(0.99, 'apiserver_watch_list_duration_seconds', chosen, 'resource'),
              legend: '{{resource}}',
            },
          ],
        },
        {
          title: 'Watches ended by the log',
          description: 'The client was slower than the log is long, and got 410.',
          unit: 'ops',
          emptyWhen: 'every client keeps up',
          queries: [
            { expr: perResource('apiserver_terminated_watchers_total'), legend: resourceLegend },
          ],
        },
      ],
    },
  ],
};
