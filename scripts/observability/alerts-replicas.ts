// Alerts about the replicas themselves: there, ready, of one version, within their means; and their
// certificates.
import { becomes, comes, grows, seen, stays } from './alert.ts';
import type { AlertGroup, SeriesCourse } from './alert.ts';
import { apiserver } from './promql.ts';

const day = 86_400;
const certificate = (use: string, endsInDays: number): SeriesCourse => ({
  // The time of a test begins with 0.
  [`apiserver_certificate_expiration_timestamp_seconds{job="apiserver",instance="a",use="${use}"}`]:
    stays(endsInDays * day),
});
const certificateEnds = `apiserver_certificate_expiration_timestamp_seconds{${apiserver}`;

const clientCertificates = (endSoon: boolean): SeriesCourse => {
  const name = 'apiserver_client_certificate_expiration_seconds_bucket';
  const few = endSoon ? grows(1) : stays(0);
  return {
    [`${name}{job="apiserver",instance="a",le="86400"}`]: few,
    [`${name}{job="apiserver",instance="a",le="604800"}`]: few,
    [`${name}{job="apiserver",instance="a",le="+Inf"}`]: grows(10),
  };
};

const memory = (stateBytes: number): SeriesCourse => ({
  ...seen('apiserver_cache_memory_bytes', 'kind="stateBytes"', stays(stateBytes)),
  ...seen('apiserver_cache_memory_bytes', 'kind="logBytes"', stays(500_000_000)),
  'apiserver_cache_memory_limit_bytes{job="apiserver",instance="a"}': stays(1_000_000_000),
});

const descriptors = (open: number): SeriesCourse => ({
  'process_open_fds{job="apiserver",instance="a"}': stays(open),
  'process_max_fds{job="apiserver",instance="a"}': stays(1_000),
});

const delay = (seconds: number): SeriesCourse => ({
  ...seen('apiserver_event_loop_delay_seconds', 'percentile="0.99"', stays(seconds)),
});

const reloadedAt = (what: string): string =>
  `apiserver_${what}_config_controller_automatic_reload_last_timestamp_seconds`;

const builds = (second: string): SeriesCourse => ({
  ...seen('kubernetes_build_info', 'git_version="v1"', stays(1)),
  [`kubernetes_build_info{job="apiserver",instance="b",git_version="${second}"}`]: stays(1),
});

export const replicaAlerts: AlertGroup = {
  name: 'apiserver-replicas.alerts',
  title: 'Replicas',
  rows: [
    {
      name: 'ApiserverAllReplicasDown',
      severity: 'critical',
      expr: `absent(up{${apiserver}} == 1)`,
      for: '1m',
      summary: 'No replica answers.',
      means: 'There is no API, or Prometheus reaches none of it.',
      look: [
        'The replicas: do they run, and what do they say at their start? A start without ' +
          'etcd ends with the reason.',
      ],
      act: [
        'Start them. If they run: the certificate or token of Prometheus, and the network between.',
      ],
      shown: {
        fires: { 'up{job="apiserver",instance="a"}': stays(0) },
        labels: {},
        quiet: {
          'up{job="apiserver",instance="a"}': stays(0),
          'up{job="apiserver",instance="b"}': stays(1),
        },
      },
    },
    {
      name: 'ApiserverReplicaMissing',
      severity: 'warning',
      expr:
        `up{${apiserver}} == 0\n` +
        `or count by (cluster, job) (up{${apiserver}}) < count by (cluster, job) ` +
        `(up{${apiserver}} offset 1h)`,
      for: '5m',
      summary: 'A replica is missing {{ $labels.instance }}',
      means:
        'A replica does not answer, or there are fewer than an hour ago. The others serve, ' +
        'with less in reserve.',
      look: [
        'Its machine and its log. A replica that cannot go on ends with one line on standard ' +
          'error.',
      ],
      act: [
        'Start it: replicas are stateless, and an empty `--data-dir` will do. If there are ' +
          'to be fewer, wait an hour.',
      ],
      shown: {
        fires: {
          'up{job="apiserver",instance="a"}': stays(1),
          'up{job="apiserver",instance="b"}': stays(0),
        },
        labels: { job: 'apiserver', instance: 'b' },
        quiet: {
          'up{job="apiserver",instance="a"}': stays(1),
          'up{job="apiserver",instance="b"}': becomes(0, 41, 1),
        },
      },
    },
    {
      name: 'ApiserverReplicaNotReady',
      severity: 'warning',
      expr: `apiserver_ready{${apiserver}} == 0`,
      for: '5m',
      summary: 'Replica {{ $labels.instance }} runs and is not ready.',
      means: 'Its `/readyz` fails, and the balancer sends it nothing.',
      look: [
        '`/readyz?verbose` of that replica: caches that are being filled (many objects, a ' +
          'slow etcd), a watch stream that ' +
          'stands still, roles that could not be made.',
      ],
      act: [
        'Wait while it fills its caches. A stream that stands still: its way to etcd. Else ' +
          'restart it.',
      ],
      shown: {
        fires: { 'apiserver_ready{job="apiserver",instance="a"}': stays(0) },
        labels: { job: 'apiserver', instance: 'a' },
        quiet: { 'apiserver_ready{job="apiserver",instance="a"}': becomes(0, 42, 1) },
      },
    },
    {
      name: 'ApiserverRestarts',
      severity: 'warning',
      expr: `changes(process_start_time_seconds{${apiserver}}[30m]) > 2`,
      for: '0m',
      summary: 'Replica {{ $labels.instance }} has started more than twice within half an hour.',
      means: 'Something ends it again and again; each time it fills its caches anew.',
      look: [
        'The last lines before each end; the kernel log for a process that took too much memory.',
      ],
      act: [
        'Memory: raise its limit, or lower `--cache-memory-mb`. Else report the lines with ' +
          'the release.',
      ],
      shown: {
        fires: {
          'process_start_time_seconds{job="apiserver",instance="a"}': '0+0x30 100+100x5 600+0x60',
        },
        labels: { job: 'apiserver', instance: 'a' },
        quiet: {
          'process_start_time_seconds{job="apiserver",instance="a"}': becomes(0, 30, 1_800),
        },
      },
    },
    {
      name: 'ApiserverVersionSkew',
      severity: 'warning',
      expr:
        'count by (cluster) (count by (cluster, git_version, git_commit) ' +
        `({__name__=~"(svc|kubernetes)_build_info",${apiserver}})) > 1`,
      for: '1h',
      summary: 'Replicas of different versions run side by side.',
      means:
        'That is how an upgrade goes, for minutes. For longer, answers depend on which ' +
        'replica the balancer chose.',
      look: ['Dashboard "Process": version of each replica.'],
      act: ['Finish the upgrade or take it back.'],
      shown: { at: '80m', fires: builds('v2'), labels: {}, quiet: builds('v1') },
    },
    {
      name: 'ApiserverMemoryBudget',
      severity: 'warning',
      expr:
        `apiserver_cache_memory_bytes{${apiserver},kind="stateBytes"}\n` +
        `/ ignoring (kind) apiserver_cache_memory_limit_bytes{${apiserver}} > 0.8`,
      for: '15m',
      summary: 'Current state takes more than 80 % of the cache of {{ $labels.instance }}.',
      means:
        'Current state is never dropped: the log of events and the memory of encodings get ' +
        'what is left, so that watches end ' +
        'early (410) and answers are encoded more often. Above 100 % the process takes more ' +
        'than it was given.',
      look: ['Dashboard "Caches and watches": bytes and objects by resource; which of them grows?'],
      act: [
        'Raise `--cache-memory-mb` and the memory of the process, or delete what nobody needs.',
      ],
      shown: {
        fires: memory(900_000_000),
        labels: { job: 'apiserver', instance: 'a' },
        quiet: memory(300_000_000),
      },
    },
    {
      name: 'ApiserverEventLoopDelay',
      severity: 'warning',
      expr: `apiserver_event_loop_delay_seconds{${apiserver},percentile="0.99"} > 0.1`,
      for: '10m',
      summary:
        'The event loop of {{ $labels.instance }} is late by more than 100 ms, one time in a ' +
        'hundred.',
      means:
        'All requests of a replica share one loop: what holds it up holds up everybody. No ' +
        'single request should do so.',
      look: [
        'Dashboard "Process": CPU. At one core it is simply busy. Memory: collections of ' +
          'garbage near the limit.',
        '`/debug/pprof/profile?seconds=10` of that replica says what it does.',
      ],
      act: [
        'Add a replica; give it a core of its own; more memory. A profile with one long ' +
          'function is worth a report.',
      ],
      shown: {
        fires: delay(0.3),
        labels: { job: 'apiserver', instance: 'a', percentile: '0.99' },
        quiet: delay(0.02),
      },
    },
    {
      name: 'ApiserverFileDescriptors',
      severity: 'warning',
      expr: `process_open_fds{${apiserver}} / process_max_fds{${apiserver}} > 0.8`,
      for: '10m',
      summary: 'Replica {{ $labels.instance }} has 80 % of its file descriptors open.',
      means: 'Each connection takes one. At the limit new connections fail, those to etcd too.',
      look: ['Dashboard "Process": does it grow with the clients, or without an end?'],
      act: [
        'Raise the limit (`LimitNOFILE`, `ulimit -n`); add a replica. Growth without ' +
          'clients: restart it, and report it.',
      ],
      shown: {
        fires: descriptors(900),
        labels: { job: 'apiserver', instance: 'a' },
        quiet: descriptors(200),
      },
    },
    {
      name: 'ApiserverCertificateEnds',
      severity: 'critical',
      expr: `${certificateEnds},use=~"serving|etcd_client"} - time() < 14 * 24 * 3600`,
      for: '10m',
      summary:
        'The certificate ({{ $labels.use }}) of {{ $labels.instance }} ends within two weeks.',
      means:
        'serving: then clients refuse the replica. etcd_client: then etcd refuses it. The ' +
        'serving certificate that a replica ' +
        'makes itself is good for a year, and made anew by a start in its last month.',
      look: [
        'Who renews it, and why has that not happened? What is in force is told here, not ' +
          'what lies on the disk.',
      ],
      act: [
        'A certificate of its own: restart the replica. Given by `--tls-cert-file`: replace ' +
          'the files, they are read within a minute.',
        '`--etcd-certfile`: replace the files; the next connection takes them.',
      ],
      shown: {
        fires: certificate('serving', 10),
        labels: { job: 'apiserver', instance: 'a', use: 'serving' },
        quiet: certificate('serving', 60),
      },
    },
    {
      name: 'ApiserverCaEnds',
      severity: 'warning',
      expr:
        `${certificateEnds},use=~"shared_ca|client_ca|front_proxy_ca"} - time() < 90 * 24 * ` +
        '3600',
      for: '10m',
      summary:
        'The last certificate of {{ $labels.use }} on {{ $labels.instance }} ends within 90 days.',
      means:
        'With it all certificates end that it has signed: clients, front proxies or ' +
        '(shared_ca) the replicas and administrators.',
      look: ['Which certificates are below it, and who has them.'],
      act: [
        'Add the new CA to the file beside the old one, let everybody have new certificates, ' +
          'then take the old one out.',
      ],
      shown: {
        fires: certificate('client_ca', 30),
        labels: { job: 'apiserver', instance: 'a', use: 'client_ca' },
        quiet: certificate('client_ca', 365),
      },
    },
    {
      name: 'ApiserverClientCertificateEnds',
      severity: 'warning',
      expr:
        'histogram_quantile(0.01, sum by (cluster, le) ' +
        `(rate(apiserver_client_certificate_expiration_seconds_bucket{${apiserver}}[5m]))) < ` +
        '7 * 24 * 3600',
      for: '10m',
      summary: 'Clients come with certificates that end within a week.',
      means:
        'When they end, their owners (nodes, controllers, people) are 401. Where all ' +
        'certificates are short-lived, take this alert out.',
      look: ['The audit log has the user of each request; then the certificate of that user.'],
      act: ['Renew it.'],
      shown: { fires: clientCertificates(true), labels: {}, quiet: clientCertificates(false) },
    },
    {
      name: 'ApiserverConfigurationRefused',
      severity: 'warning',
      expr: ['authentication', 'authorization', 'manifest_admission']
        .map((what) => {
          const name = reloadedAt(what);
          const failedAt = `${name}{${apiserver},status="failure"}`;
          const readAt = `${name}{${apiserver},status="success"}`;
          const donePast = `(${readAt} > ignoring (status) ${failedAt})`;
          return (
            `label_replace(${failedAt} unless ignoring (status) ${donePast}, "configuration", ` +
            `"${what}", "", "")`
          );
        })
        .join('\nor '),
      for: '5m',
      summary:
        'Replica {{ $labels.instance }} could not read its changed configuration of {{ ' +
        '$labels.configuration }}.',
      means:
        'A file was changed to something that cannot be used: what was in force before still ' +
        'is, until a restart fails on it.',
      look: ['The log of the replica has the reason, with field and value.'],
      act: ['Correct the file on every replica.'],
      shown: {
        fires: {
          ...seen(reloadedAt('authorization'), 'status="success"', stays(100)),
          ...seen(reloadedAt('authorization'), 'status="failure"', comes(10, 600)),
        },
        labels: {
          job: 'apiserver',
          instance: 'a',
          status: 'failure',
          configuration: 'authorization',
        },
        quiet: {
          ...seen(reloadedAt('authorization'), 'status="failure"', stays(100)),
          ...seen(reloadedAt('authorization'), 'status="success"', comes(10, 600)),
        },
      },
    },
  ],
};
