// Alerts about controllers, and about rules of admission and authorization that are not enforced.
import { comes, grows, seen, stays } from './alert.ts';
import type { AlertGroup } from './alert.ts';
import { apiserver, happened } from './promql.ts';

const lead = 'leader_election_master_status';
const ofLead = 'name="apiserver-controllers"';
const leader = `${lead}{${apiserver},${ofLead}}`;
const leads = (instance: string): string =>
  `${lead}{${apiserver},instance="${instance}",${ofLead}}`;

export const policyAlerts: AlertGroup = {
  name: 'apiserver-policies.alerts',
  title: 'Controllers, admission, authorization',
  rows: [
    {
      name: 'ApiserverControllersWithoutLeader',
      severity: 'critical',
      expr:
        `count by (cluster) (up{${apiserver}} == 1)\n` +
        `unless on (cluster) (max by (cluster) (${leader}) == 1)`,
      for: '2m',
      summary: 'No replica leads the controllers.',
      means:
        'Namespaces are not emptied, quotas not counted anew, service accounts get no ' +
        'tokens, aggregated roles and definitions ' +
        'are not accepted. With `--controllers=` (none) on all replicas, take this alert out.',
      look: [
        'The Lease `apiserver-controllers` of the system namespace: who holds it, since when?',
        'The log of the replicas: a lease that cannot be written, or a clock that is off.',
      ],
      act: ['Restart the replica that holds the lease and does nothing. Clocks: synchronise them.'],
      shown: {
        fires: { 'up{job="apiserver",instance="a"}': stays(1), [leads('a')]: stays(0) },
        labels: {},
        quiet: {
          'up{job="apiserver",instance="a"}': stays(1),
          'up{job="apiserver",instance="b"}': stays(1),
          [leads('b')]: stays(1),
        },
      },
    },
    {
      name: 'ApiserverControllersTwoLeaders',
      severity: 'warning',
      expr: `sum by (cluster) (${leader}) > 1`,
      for: '5m',
      summary: 'More than one replica believes that it leads the controllers.',
      means:
        'For a moment that is usual. Terms keep the older one from writing, so nothing is ' +
        'done twice; but one of them is confused.',
      look: ['The log of both; their clocks.'],
      act: ['Restart the one that does not hold the Lease `apiserver-controllers`.'],
      shown: {
        fires: { [leads('a')]: stays(1), [leads('b')]: stays(1) },
        labels: {},
        quiet: { [leads('a')]: stays(1), [leads('b')]: stays(0) },
      },
    },
    {
      name: 'ApiserverControllerStuck',
      severity: 'warning',
      expr:
        'max by (cluster, instance, name) ' +
        `(workqueue_longest_running_processor_seconds{${apiserver}}) > 300`,
      for: '5m',
      summary:
        'The controller {{ $labels.name }} on {{ $labels.instance }} has been at one object ' +
        'for five minutes.',
      means: 'The other objects of its queue wait, too.',
      look: [
        'Dashboard "Controllers and admission": depth of the queue. The log of the replica ' +
          'with the name of the controller.',
      ],
      act: ['Give the lead to another replica: restart this one.'],
      shown: {
        fires: {
          ...seen('workqueue_longest_running_processor_seconds', 'name="namespace"', grows(60)),
        },
        labels: { instance: 'a', name: 'namespace' },
        quiet: {
          ...seen('workqueue_longest_running_processor_seconds', 'name="namespace"', stays(2)),
        },
      },
    },
    {
      name: 'ApiserverControllerRetries',
      severity: 'warning',
      expr:
        `sum by (cluster, name) (rate(workqueue_retries_total{${apiserver}}[10m]))\n` +
        `/ sum by (cluster, name) (rate(workqueue_adds_total{${apiserver}}[10m])) > 0.5`,
      for: '30m',
      summary: 'Most of what the controller {{ $labels.name }} does fails and is tried again.',
      means: 'It does not come to an end with some objects; the others go on.',
      look: ['The log of the replica that leads: which object, and why?'],
      act: [
        'Mend the object or what it waits for: a webhook that refuses, a finalizer that ' +
          'nobody removes.',
      ],
      shown: {
        at: '60m',
        fires: {
          ...seen('workqueue_retries_total', 'name="namespace"', grows(9)),
          ...seen('workqueue_adds_total', 'name="namespace"', grows(10)),
        },
        labels: { name: 'namespace' },
        quiet: {
          ...seen('workqueue_retries_total', 'name="namespace"', grows(1)),
          ...seen('workqueue_adds_total', 'name="namespace"', grows(10)),
        },
      },
    },
    {
      name: 'ApiserverQuotaDrift',
      severity: 'warning',
      expr:
        'sum by (cluster) ' +
        `(increase(apiserver_admission_quota_recalculation_drift_total{${apiserver}}[1h])) > 3`,
      for: '0m',
      summary: 'Quotas said another usage than a count of their objects.',
      means:
        'Charge and object are one transaction, so a quota should be right. One difference ' +
        'may come with a quota that is made ' +
        'while its namespace is being written to; several mean that somebody writes to etcd ' +
        'beside the replicas, or a fault here.',
      look: ['The log of the replica that leads: which quota, which resource, by how much?'],
      act: ['The count has set it right. Report it with the log if nobody else writes to etcd.'],
      shown: {
        fires: {
          'apiserver_admission_quota_recalculation_drift_total{job="apiserver",instance="a"}':
            grows(0.5),
        },
        labels: {},
        quiet: {
          'apiserver_admission_quota_recalculation_drift_total{job="apiserver",instance="a"}':
            stays(8),
        },
      },
    },
    {
      name: 'ApiserverWebhookFailsOpen',
      severity: 'critical',
      expr: happened(
        `apiserver_admission_webhook_fail_open_count{${apiserver}}`,
        'cluster, name, type',
      ),
      for: '0m',
      summary: 'Objects were admitted although the webhook {{ $labels.name }} could not be asked.',
      means:
        'Its `failurePolicy` is `Ignore`: what it would have refused or changed is stored as ' +
        'it came.',
      look: [
        'Dashboard "Controllers and admission": calls of the webhook by code and time. The ' +
          'log of the replica has the cause.',
      ],
      act: [
        'Mend the webhook; then look through what was written meanwhile (audit events say ' +
          '`failed-open`).',
        'If it guards something, let its `failurePolicy` be `Fail`.',
      ],
      shown: {
        fires: {
          ...seen(
            'apiserver_admission_webhook_fail_open_count',
            'name="w",type="validating"',
            comes(40, 1),
          ),
        },
        labels: { name: 'w', type: 'validating' },
        quiet: {
          ...seen(
            'apiserver_admission_webhook_fail_open_count',
            'name="w",type="validating"',
            stays(3),
          ),
        },
      },
    },
    {
      name: 'ApiserverWebhookCircuitOpen',
      severity: 'warning',
      expr:
        'max by (cluster, instance, name, type) ' +
        `(apiserver_admission_webhook_circuit_open{${apiserver}}) == 1`,
      for: '5m',
      summary:
        'Calls of the webhook {{ $labels.name }} from {{ $labels.instance }} fail; it is ' +
        'only tried now and then.',
      means:
        'So many calls failed that waiting for each is not worth it: requests meet its ' +
        '`failurePolicy` at once.',
      look: [
        'Whether its Service has endpoints; its certificate; its log. From one replica ' +
          'alone: the network.',
      ],
      act: [
        'Mend it: the first call that succeeds closes the circuit. Or delete its configuration.',
      ],
      shown: {
        fires: {
          ...seen('apiserver_admission_webhook_circuit_open', 'name="w",type="admit"', stays(1)),
        },
        labels: { instance: 'a', name: 'w', type: 'admit' },
        quiet: {
          ...seen('apiserver_admission_webhook_circuit_open', 'name="w",type="admit"', stays(0)),
        },
      },
    },
    {
      name: 'ApiserverAuthorizerFailsOpen',
      severity: 'critical',
      expr: happened(
        `apiserver_authorization_webhook_evaluations_fail_open_total{${apiserver}}`,
        'cluster, name',
      ),
      for: '0m',
      summary:
        'The authorization webhook {{ $labels.name }} failed, and requests went on without ' +
        'its word.',
      means:
        'Its `failurePolicy` is `NoOpinion`: what it would have denied, a later authorizer ' +
        'may have allowed.',
      look: [
        'Dashboard "Authentication and authorization": its answers and times. The log of the ' +
          'replica.',
      ],
      act: ['Mend it. If it denies what others allow, let its `failurePolicy` be `Deny`.'],
      shown: {
        fires: {
          ...seen(
            'apiserver_authorization_webhook_evaluations_fail_open_total',
            'name="w",result="timeout"',
            comes(40, 1),
          ),
        },
        labels: { name: 'w' },
        quiet: {
          ...seen(
            'apiserver_authorization_webhook_evaluations_fail_open_total',
            'name="w",result="timeout"',
            stays(2),
          ),
        },
      },
    },
  ],
};
