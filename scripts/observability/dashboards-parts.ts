// The dashboards about what a replica is made of and depends on: etcd, controllers with admission,
// who asks and may, the process.
import { chosen, chosenCluster, perSecond, quantile } from './dashboard.ts';
import type { Dashboard, Panel } from './dashboard.ts';

/** The replicas, on the dashboard where etcd's members are chosen. */
const replicas = `job="apiserver",${chosenCluster}`;

const by = (metric: string, labels: string): string => perSecond(`${metric}{${chosen}}`, labels);
const p99 = (metric: string, labels: string): string => quantile(0.99, metric, chosen, labels);
const legendOf = (labels: string): string => labels.replaceAll(/(\w+),? ?/g, '{{$1}} ').trimEnd();

/** A panel with one query, whose legend are its labels. */
const lines = (
  title: string,
  description: string,
  unit: string,
  [ask, metric, labels]: readonly [typeof by, string, string],
  more: Pick<Panel, 'emptyWhen' | 'shape'> = {},
): Panel => ({
  title,
  description,
  unit,
  queries: [{ expr: ask(metric, labels), legend: legendOf(labels) }],
  ...more,
});
const now = (metric: string, labels: string): string => `sum by (${labels}) (${metric}{${chosen}})`;
const largest = (metric: string, labels: string): string =>
  `max by (${labels}) (${metric}{${chosen}})`;

export const etcdDashboard: Dashboard = {
  uid: 'svc-apiserver-etcd',
  title: 'API server / etcd',
  description: 'etcd as the replicas see it, and as its members see themselves.',
  jobsBy: 'etcd_server_has_leader',
  sections: [
    {
      title: 'Seen from the replicas',
      panels: [
        {
          title: 'Calls',
          description: 'By operation; all replicas.',
          unit: 'reqps',
          queries: [
            {
              expr: perSecond(`etcd_requests_total{${replicas}}`, 'operation'),
              legend: '{{operation}}',
            },
          ],
        },
        {
          title: 'Time of calls, p99',
          description:
            'By replica and operation. A replica alone that is slow is far from its member.',
          unit: 's',
          queries: [
            {
              expr:
                `instance_operation:etcd_request_duration_seconds:p99_rate5m{${chosenCluster}} ` +
                '>= 0',
              legend: '{{instance}} {{operation}}',
            },
          ],
        },
        {
          title: 'Calls that fail',
          description: 'By replica and operation.',
          unit: 'reqps',
          queries: [
            {
              expr: perSecond(`etcd_request_errors_total{${replicas}}`, 'instance, operation'),
              legend: '{{instance}} {{operation}}',
            },
          ],
        },
        {
          title: 'Rounds of compaction',
          description:
            'Rounds in 30 minutes: one replica an interval compacts, the others learn of it. ' +
            'started: nothing is an interval old yet.',
          unit: 'short',
          queries: [
            {
              expr:
                'sum by (result) ' +
                `(increase(apiserver_storage_compaction_rounds_total{${replicas}}[30m]))`,
              legend: '{{result}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Members',
      panels: [
        {
          title: 'Members with a leader',
          description:
            'Fewer than there are members: one is cut off. None: nothing can be written.',
          unit: 'short',
          shape: 'number',
          queries: [{ expr: `sum(etcd_server_has_leader{${chosen}})`, legend: 'members' }],
        },
        {
          title: 'Changes of the leader, 1 h',
          description: 'Each ends writes for a moment.',
          unit: 'short',
          shape: 'number',
          queries: [
            {
              expr: `max(increase(etcd_server_leader_changes_seen_total{${chosen}}[1h]))`,
              legend: 'changes',
            },
          ],
        },
        {
          title: 'Keys',
          description: 'In the store, with those of the replicas themselves.',
          unit: 'short',
          shape: 'number',
          queries: [{ expr: `max(etcd_debugging_mvcc_keys_total{${chosen}})`, legend: 'keys' }],
        },
        {
          title: 'Database',
          description:
            'Size of the file, what of it is in use, and the quota that ends all writes. ' +
            'Much more file than use: defragment.',
          unit: 'bytes',
          queries: [
            {
              expr: `max by (instance) (etcd_mvcc_db_total_size_in_bytes{${chosen}})`,
              legend: '{{instance}} file',
            },
            {
              expr: `max by (instance) (etcd_mvcc_db_total_size_in_use_in_bytes{${chosen}})`,
              legend: '{{instance}} in use',
            },
            { expr: `min(etcd_server_quota_backend_bytes{${chosen}})`, legend: 'quota' },
          ],
        },
        lines('Time of fsync, p99', 'Of the log on disk: the pace of writes.', 's', [
          p99,
          'etcd_disk_wal_fsync_duration_seconds',
          'instance',
        ]),
        lines('Time of commits, p99', 'Of the database on disk.', 's', [
          p99,
          'etcd_disk_backend_commit_duration_seconds',
          'instance',
        ]),
        lines(
          'Round trips between members, p99',
          'From each member to its peers.',
          's',
          [p99, 'etcd_network_peer_round_trip_time_seconds', 'instance, To'],
          { emptyWhen: 'etcd has a single member' },
        ),
        {
          title: 'Proposals',
          description: 'Changes that members have agreed on and applied, and those that failed.',
          unit: 'ops',
          queries: [
            {
              expr: perSecond(`etcd_server_proposals_committed_total{${chosen}}`, 'instance'),
              legend: '{{instance}} committed',
            },
            {
              expr: perSecond(`etcd_server_proposals_applied_total{${chosen}}`, 'instance'),
              legend: '{{instance}} applied',
            },
            {
              expr: perSecond(`etcd_server_proposals_failed_total{${chosen}}`, 'instance'),
              legend: '{{instance}} failed',
            },
          ],
        },
        lines('Proposals that wait', 'More than a few: disks or network are too slow.', 'short', [
          now,
          'etcd_server_proposals_pending',
          'instance',
        ]),
        {
          title: 'Traffic with clients',
          description: 'Bytes to and from the replicas.',
          unit: 'Bps',
          queries: [
            {
              expr: perSecond(`etcd_network_client_grpc_sent_bytes_total{${chosen}}`, 'instance'),
              legend: '{{instance}} sent',
            },
            {
              expr: perSecond(
                `etcd_network_client_grpc_received_bytes_total{${chosen}}`,
                'instance',
              ),
              legend: '{{instance}} received',
            },
          ],
        },
        lines('Memory', 'Of each process.', 'bytes', [
          now,
          'process_resident_memory_bytes',
          'instance',
        ]),
        lines('CPU', 'Cores in use by each process.', 'short', [
          by,
          'process_cpu_seconds_total',
          'instance',
        ]),
      ],
    },
  ],
};

const pluginTimes = 'apiserver_admission_controller_admission_duration_seconds';
const noWebhook = 'no admission webhook is configured';
const noPolicy = 'no policy has found anything, or there is none';
const noConversion = 'no definition converts by a webhook';

export const controllers: Dashboard = {
  uid: 'svc-apiserver-controllers',
  title: 'API server / Controllers and admission',
  description: 'What the leading replica does by itself, and what becomes of writes.',
  jobsBy: 'apiserver_ready',
  sections: [
    {
      title: 'Controllers',
      panels: [
        lines('Leader', 'The replica whose line is 1 leads.', 'short', [
          largest,
          'leader_election_master_status',
          'instance, name',
        ]),
        lines('Keys that wait', 'Ready and not taken yet, by controller.', 'short', [
          now,
          'workqueue_depth',
          'name',
        ]),
        lines('Keys that became ready', 'By controller.', 'ops', [
          by,
          'workqueue_adds_total',
          'name',
        ]),
        lines('Tries after a failure', 'By controller.', 'ops', [
          by,
          'workqueue_retries_total',
          'name',
        ]),
        {
          title: 'Time before work begins, p99',
          description: 'From ready to taken, by controller, of the last half hour.',
          unit: 's',
          queries: [
            {
              expr:
                'histogram_quantile(0.99, sum by (name, le) ' +
                `(rate(workqueue_queue_duration_seconds_bucket{${chosen}}[30m])))`,
              legend: '{{name}}',
            },
          ],
        },
        {
          title: 'Time of work, p99',
          description: 'Of one run of a key, by controller, of the last half hour.',
          unit: 's',
          queries: [
            {
              expr:
                'histogram_quantile(0.99, sum by (name, le) ' +
                `(rate(workqueue_work_duration_seconds_bucket{${chosen}}[30m])))`,
              legend: '{{name}}',
            },
          ],
        },
        lines('Longest present run', 'Of all that are not over, by controller.', 's', [
          largest,
          'workqueue_longest_running_processor_seconds',
          'name',
        ]),
        lines('Unfinished work', 'How long present runs have lasted, all together.', 's', [
          now,
          'workqueue_unfinished_work_seconds',
          'name',
        ]),
      ],
    },
    {
      title: 'Admission',
      panels: [
        lines('Time of admission, p99', 'All plugins, by operation and pass.', 's', [
          p99,
          'apiserver_admission_step_admission_duration_seconds',
          'operation, type',
        ]),
        lines('Time by plugin, p99', 'Webhooks and policies are plugins, too.', 's', [
          p99,
          pluginTimes,
          'name, type',
        ]),
        {
          title: 'Refused by plugins',
          description: 'By plugin and operation.',
          unit: 'ops',
          emptyWhen: 'admission has refused nothing',
          queries: [
            {
              expr: perSecond(`${pluginTimes}_count{${chosen},rejected="true"}`, 'name, operation'),
              legend: '{{name}} {{operation}}',
            },
          ],
        },
        lines(
          'Rules in force',
          'Revision of the last change of webhooks, policies and bindings: lines that part ' +
            'mean that one replica is behind. 0: there has been none.',
          'none',
          [largest, 'apiserver_admission_configuration_revision', 'instance'],
        ),
        lines('Judged anew', 'Requests whose rules had changed meanwhile.', 'ops', [
          by,
          'apiserver_admission_configuration_retries_total',
          'instance',
        ]),
        lines('Pod security', 'Writes held against a standard, by what was decided.', 'ops', [
          by,
          'pod_security_evaluations_total',
          'decision, mode, policy_level',
        ]),
      ],
    },
    {
      title: 'Webhooks',
      panels: [
        lines(
          'Calls',
          'By webhook and code; 0: there was no answer.',
          'reqps',
          [by, 'apiserver_admission_webhook_request_total', 'name, code'],
          { emptyWhen: noWebhook },
        ),
        lines(
          'Time of calls, p99',
          'By webhook.',
          's',
          [p99, 'apiserver_admission_webhook_admission_duration_seconds', 'name, type'],
          { emptyWhen: noWebhook },
        ),
        lines(
          'Refused by webhooks',
          'Or by the failure to call them (`error_type`).',
          'ops',
          [by, 'apiserver_admission_webhook_rejection_count', 'name, error_type'],
          { emptyWhen: 'no webhook has refused anything' },
        ),
        lines(
          'Admitted without a webhook',
          'It could not be asked, and its failurePolicy is Ignore.',
          'ops',
          [by, 'apiserver_admission_webhook_fail_open_count', 'name, type'],
          { emptyWhen: 'every webhook could be asked' },
        ),
        lines(
          'Circuits',
          '1: the webhook is only tried now and then.',
          'short',
          [largest, 'apiserver_admission_webhook_circuit_open', 'instance, name'],
          { emptyWhen: noWebhook },
        ),
        lines(
          'Calls under way',
          'By webhook.',
          'short',
          [now, 'apiserver_admission_webhook_inflight', 'name'],
          { emptyWhen: noWebhook },
        ),
        lines(
          'Time before calls, p99',
          'Until others of the same webhook had ended.',
          's',
          [p99, 'apiserver_admission_webhook_queue_seconds', 'name'],
          { emptyWhen: noWebhook },
        ),
        lines(
          'Connections',
          'By webhook.',
          'short',
          [now, 'apiserver_admission_webhook_connections', 'name'],
          { emptyWhen: noWebhook },
        ),
        lines(
          'Conversions by webhooks',
          'Calls by what came of them.',
          'reqps',
          [by, 'apiserver_conversion_webhook_request_total', 'result, failure_type'],
          { emptyWhen: noConversion },
        ),
        lines(
          'Time of conversions, p99',
          'By definition.',
          's',
          [p99, 'apiserver_crd_conversion_webhook_duration_seconds', 'crd_name'],
          { emptyWhen: noConversion },
        ),
      ],
    },
    {
      title: 'Policies, quotas, rules of custom resources',
      panels: [
        lines(
          'Validating policies',
          'Violations and errors, by what followed.',
          'ops',
          [by, 'apiserver_validating_admission_policy_check_total', 'policy, enforcement_action'],
          { emptyWhen: noPolicy },
        ),
        lines(
          'Mutating policies',
          'Mutations, by what came of them.',
          'ops',
          [by, 'apiserver_mutating_admission_policy_check_total', 'policy, error_type'],
          { emptyWhen: noPolicy },
        ),
        lines(
          'Match conditions that fail',
          'Of webhooks and policies.',
          'ops',
          [by, 'apiserver_admission_match_condition_evaluation_errors_total', 'kind, name'],
          { emptyWhen: 'every match condition could be evaluated' },
        ),
        lines(
          'Transactions that charge quotas',
          'By what became of them: lost means tried again.',
          'ops',
          [by, 'apiserver_admission_quota_transactions_total', 'result'],
          { emptyWhen: 'no namespace that is written to has a quota' },
        ),
        lines('Quotas that said another usage', 'Found by a count of their objects.', 'ops', [
          by,
          'apiserver_admission_quota_recalculation_drift_total',
          'instance',
        ]),
        lines('Rules of schemas evaluated', 'Writes of custom objects with rules.', 'ops', [
          by,
          'apiserver_cel_evaluation_duration_seconds_count',
          'instance',
        ]),
      ],
    },
  ],
};

const noCalls = 'no webhook or issuer outside is asked';

export const identity: Dashboard = {
  uid: 'svc-apiserver-identity',
  title: 'API server / Authentication and authorization',
  description: 'Who asks, who may, until when certificates are good, what is recorded.',
  jobsBy: 'apiserver_ready',
  sections: [
    {
      title: 'Authentication',
      panels: [
        lines('Attempts', 'failure: credentials that nobody knows (401).', 'reqps', [
          by,
          'authentication_attempts',
          'result',
        ]),
        lines('Time, p99', 'By result.', 's', [p99, 'authentication_duration_seconds', 'result']),
        lines('Requests by user', 'As far as the name is one of a few; else "other".', 'reqps', [
          by,
          'authenticated_user_requests',
          'username',
        ]),
        lines(
          'TLS handshakes that fail',
          'Clients that do not believe the certificate, scanners.',
          'ops',
          [by, 'apiserver_tls_handshake_errors_total', 'instance'],
        ),
        {
          title: 'Tokens of service accounts',
          description:
            'valid: within the time asked for; stale: after it, in the year of grace; the ' +
            'others lie in Secrets.',
          unit: 'reqps',
          queries: [
            'serviceaccount_valid_tokens_total',
            'serviceaccount_stale_tokens_total',
            'serviceaccount_legacy_tokens_total',
            'serviceaccount_legacy_manual_token_uses_total',
            'serviceaccount_legacy_auto_token_uses_total',
            'serviceaccount_invalid_legacy_auto_token_uses_total',
          ].map((metric) => ({
            expr: `sum(rate(${metric}{${chosen}}[$__rate_interval]))`,
            legend: metric.replace(/^serviceaccount_(.*)_total$/, '$1').replaceAll('_', ' '),
          })),
        },
        lines(
          'Tokens that others are asked about',
          'Looked up in the cache of their verdicts.',
          'reqps',
          [by, 'authentication_token_cache_request_total', 'status'],
          { emptyWhen: 'no token webhook is configured' },
        ),
        lines(
          'Time to verify tokens of issuers, p99',
          'By issuer (digest) and result.',
          's',
          [
            p99,
            'apiserver_authentication_jwt_authenticator_latency_seconds',
            'jwt_issuer_hash, result',
          ],
          { emptyWhen: 'no OpenID provider is configured, or nobody came with its token' },
        ),
        lines(
          'Reloads of configurations',
          'Of the file of --authentication-config, by what became of them, of the last hour.',
          'short',
          [
            (metric, labels) => `sum by (${labels}) (increase(${metric}{${chosen}}[1h]))`,
            'apiserver_authentication_config_controller_automatic_reloads_total',
            'instance, status',
          ],
          { emptyWhen: 'the file of --authentication-config has not changed, or there is none' },
        ),
      ],
    },
    {
      title: 'Certificates',
      panels: [
        {
          title: 'Certificates in force, time left',
          description:
            'serving and etcd_client: of the replica. shared_ca, client_ca, front_proxy_ca: ' +
            'of the last certificate of each set.',
          unit: 's',
          queries: [
            {
              expr:
                'min by (instance, use) ' +
                `(apiserver_certificate_expiration_timestamp_seconds{${chosen}}) - time()`,
              legend: '{{instance}} {{use}}',
            },
          ],
        },
        {
          title: 'Certificates of clients, time left',
          description:
            'Of the certificates that requests came with in the last hour: the first of a ' +
            'hundred, and the median.',
          unit: 's',
          queries: [0.01, 0.5].map((share) => ({
            expr:
              `histogram_quantile(${String(share)}, sum by (le) ` +
              `(rate(apiserver_client_certificate_expiration_seconds_bucket{${chosen}}[1h]))) >= 0`,
            legend: share === 0.5 ? 'median' : 'first of 100',
          })),
          emptyWhen: 'no client came with a certificate',
        },
      ],
    },
    {
      title: 'Authorization',
      panels: [
        lines('Attempts', 'denied and no-opinion: 403.', 'reqps', [
          by,
          'authorization_attempts_total',
          'result',
        ]),
        lines('Time, p99', 'By result.', 's', [p99, 'authorization_duration_seconds', 'result']),
        lines(
          'Decisions by authorizer',
          'What each has decided; those without an opinion are not counted.',
          'reqps',
          [by, 'apiserver_authorization_decisions_total', 'name, type, decision'],
        ),
        lines(
          'Webhooks',
          'Questions by webhook and result.',
          'reqps',
          [by, 'apiserver_authorization_webhook_evaluations_total', 'name, result'],
          { emptyWhen: 'no authorization webhook is configured' },
        ),
        lines(
          'Time of webhooks, p99',
          'By webhook and result.',
          's',
          [p99, 'apiserver_authorization_webhook_duration_seconds', 'name, result'],
          { emptyWhen: 'no authorization webhook is configured' },
        ),
        lines(
          'Webhooks that failed open',
          'Requests that went on without their word.',
          'ops',
          [by, 'apiserver_authorization_webhook_evaluations_fail_open_total', 'name'],
          { emptyWhen: 'every authorization webhook could be asked' },
        ),
        lines(
          'Filters, p99',
          'Time that each request spends in authentication and authorization.',
          's',
          [p99, 'apiserver_request_filter_duration_seconds', 'filter'],
        ),
      ],
    },
    {
      title: 'Audit, calls out',
      panels: [
        lines('Audit events', 'Made, by replica; 0 without an audit policy.', 'ops', [
          by,
          'apiserver_audit_event_total',
          'instance',
        ]),
        lines(
          'Requests by audit level',
          'Held against the policy.',
          'reqps',
          [by, 'apiserver_audit_level_total', 'level'],
          { emptyWhen: 'there is no audit policy' },
        ),
        lines(
          'Audit events lost',
          'By who lost them.',
          'ops',
          [by, 'apiserver_audit_error_total', 'plugin'],
          { emptyWhen: 'no event was lost' },
        ),
        lines(
          'Requests refused for want of an audit event',
          'With blocking-strict writing.',
          'ops',
          [by, 'apiserver_audit_requests_rejected_total', 'instance'],
        ),
        lines(
          'Outgoing calls',
          'By host and code; <error>: no answer.',
          'reqps',
          [by, 'rest_client_requests_total', 'host, code'],
          { emptyWhen: noCalls },
        ),
        lines(
          'Time of outgoing calls, p99',
          'By host, with waiting and repetitions.',
          's',
          [p99, 'rest_client_request_duration_seconds', 'host'],
          { emptyWhen: noCalls },
        ),
      ],
    },
  ],
};

export const processes: Dashboard = {
  uid: 'svc-apiserver-process',
  title: 'API server / Process',
  description: 'What each replica takes of its machine, and what it is.',
  jobsBy: 'apiserver_ready',
  sections: [
    {
      title: 'Replicas',
      panels: [
        {
          title: 'Replicas that answer',
          description: 'As Prometheus sees them.',
          unit: 'short',
          shape: 'number',
          queries: [{ expr: `sum(up{${chosen}})`, legend: 'up' }],
        },
        {
          title: 'Youngest replica',
          description: 'Since its start.',
          unit: 's',
          shape: 'number',
          queries: [{ expr: `time() - max(process_start_time_seconds{${chosen}})`, legend: 'age' }],
        },
        {
          title: 'Versions',
          description: 'More than one for longer than an upgrade takes is a mistake.',
          unit: 'short',
          shape: 'table',
          queries: [
            {
              expr:
                'count by (instance, git_version, git_commit, go_version) ' +
                `({__name__=~"(svc|kubernetes)_build_info",${chosen}})`,
              legend: '{{instance}} {{git_version}}',
            },
          ],
        },
        lines('Ready', '0: /readyz of the replica fails.', 'short', [
          largest,
          'apiserver_ready',
          'instance',
        ]),
        lines('Starts', 'Changes of the start time within an hour.', 'short', [
          (metric, labels) => `sum by (${labels}) (changes(${metric}{${chosen}}[1h]))`,
          'process_start_time_seconds',
          'instance',
        ]),
      ],
    },
    {
      title: 'Means',
      panels: [
        lines(
          'CPU',
          'Cores in use; the event loop can use one, the rest is garbage collection and I/O.',
          'short',
          [by, 'process_cpu_seconds_total', 'instance'],
        ),
        {
          title: 'Delay of the event loop',
          description:
            'How late it is, since the scrape before: the median and one time in a hundred.',
          unit: 's',
          queries: [
            {
              expr: `max by (instance, percentile) (apiserver_event_loop_delay_seconds{${chosen}})`,
              legend: '{{instance}} {{percentile}}',
            },
          ],
        },
        lines('Resident memory', 'Of each process; the cache is a part of it.', 'bytes', [
          now,
          'process_resident_memory_bytes',
          'instance',
        ]),
        lines('Virtual memory', 'Address space; most of it is never touched.', 'bytes', [
          now,
          'process_virtual_memory_bytes',
          'instance',
        ]),
        {
          title: 'File descriptors',
          description: 'Open ones, and the limit.',
          unit: 'short',
          queries: [
            { expr: now('process_open_fds', 'instance'), legend: '{{instance}} open' },
            { expr: `min(process_max_fds{${chosen}})`, legend: 'limit' },
          ],
        },
        {
          title: 'Network',
          description: "Of the network namespace: a container's own, else the machine's.",
          unit: 'Bps',
          queries: [
            {
              expr: by('process_network_receive_bytes_total', 'instance'),
              legend: '{{instance}} received',
            },
            {
              expr: by('process_network_transmit_bytes_total', 'instance'),
              legend: '{{instance}} sent',
            },
          ],
        },
      ],
    },
    {
      title: 'Being watched',
      panels: [
        lines('Time of a scrape', 'What Prometheus waits for the metrics of a replica.', 's', [
          largest,
          'scrape_duration_seconds',
          'instance',
        ]),
        lines(
          'Samples of a scrape',
          'Grows with resources, users and webhooks that are in use.',
          'short',
          [largest, 'scrape_samples_scraped', 'instance'],
        ),
      ],
    },
  ],
};
