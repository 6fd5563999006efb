// Alerts about etcd, seen from the replicas and from its own metrics, and about what is stored.
import { becomes, comes, grows, stays } from './alert.ts';
import type { AlertGroup, SeriesCourse } from './alert.ts';
import { apiserver, etcd } from './promql.ts';

const perInstance = 'cluster, instance';

/** Calls of etcd that take so many seconds each, of two buckets. */
function calls(isSlow: boolean): SeriesCourse {
  const of = 'job="apiserver",instance="a",operation="KV/Txn"';
  const name = 'etcd_request_duration_seconds_bucket';
  return {
    [`${name}{${of},le="0.1"}`]: isSlow ? stays(0) : grows(60),
    [`${name}{${of},le="0.4"}`]: grows(60),
    [`${name}{${of},le="+Inf"}`]: grows(60),
  };
}

const attempts = (failures: string): SeriesCourse => ({
  'etcd_requests_total{job="apiserver",instance="a",operation="KV/Txn"}': grows(60),
  'etcd_request_errors_total{job="apiserver",instance="a",operation="KV/Txn"}': failures,
});

const compactions = 'apiserver_storage_compaction_rounds_total';
const rounds = (compacted: string): SeriesCourse => ({
  [`${compactions}{job="apiserver",instance="a",result="compacted"}`]: compacted,
});

const fsync = (slow: string, all: string): SeriesCourse => ({
  'etcd_disk_wal_fsync_duration_seconds_bucket{job="etcd",instance="e",le="0.064"}': slow,
  'etcd_disk_wal_fsync_duration_seconds_bucket{job="etcd",instance="e",le="0.256"}': all,
  'etcd_disk_wal_fsync_duration_seconds_bucket{job="etcd",instance="e",le="+Inf"}': all,
});

const database = (bytes: number): SeriesCourse => ({
  'etcd_mvcc_db_total_size_in_bytes{job="etcd",instance="e"}': stays(bytes),
  'etcd_server_quota_backend_bytes{job="etcd",instance="e"}': stays(2_147_483_648),
});

export const storageAlerts: AlertGroup = {
  name: 'apiserver-storage.alerts',
  title: 'etcd and what is stored',
  rows: [
    {
      name: 'ApiserverEtcdSlow',
      severity: 'warning',
      expr:
        'instance_operation:etcd_request_duration_seconds:p99_rate5m' +
        '{operation=~"KV/(Txn|Range)"} > 0.1',
      for: '10m',
      summary:
        'One in a hundred calls of etcd ({{ $labels.operation }}) from {{ $labels.instance ' +
        '}} takes more than 100 ms.',
      means:
        'Each write is one transaction of etcd, and each consistent read waits for a proof ' +
        'by it: what etcd takes, clients wait.',
      look: [
        'Dashboard "etcd": time of fsync and commits of each member, round trips between ' +
          'members, size of the database.',
        'All replicas, or one that is far from its member?',
      ],
      act: [
        'Faster disks for etcd, nothing else on them; members near each other and near the ' +
          'replicas.',
        'A database that is mostly free pages: `etcdctl defrag`, one member after the other.',
      ],
      shown: {
        fires: calls(true),
        labels: { instance: 'a', operation: 'KV/Txn' },
        quiet: calls(false),
      },
    },
    {
      name: 'ApiserverEtcdFailing',
      severity: 'critical',
      expr:
        `sum by (${perInstance}) (rate(etcd_request_errors_total{${apiserver}}[5m]))\n` +
        `/ sum by (${perInstance}) (rate(etcd_requests_total{${apiserver}}[5m])) > 0.01`,
      for: '5m',
      summary: 'More than 1 % of the calls of etcd from {{ $labels.instance }} fail.',
      means: 'Writes fail with 500 or 503, and readiness falls when nothing is heard any more.',
      look: [
        'The log of the replica: no leader, no space (`mvcc: database space exceeded`), a ' +
          'certificate that has ended, no route.',
        '`etcdctl endpoint status --cluster -w table` and `etcdctl alarm list`.',
      ],
      act: [
        'No space: compact, defragment, then `etcdctl alarm disarm`; reads and watches work ' +
          'meanwhile.',
        'Members down: start them, or replace one that is lost.',
      ],
      shown: { fires: attempts(grows(3)), labels: { instance: 'a' }, quiet: attempts(stays(9)) },
    },
    {
      name: 'ApiserverCompactionStuck',
      severity: 'warning',
      expr:
        'sum by (cluster) ' +
        `(increase(${compactions}{${apiserver},result="compacted"}[30m])) == 0`,
      for: '10m',
      summary: 'No replica has compacted the history of etcd for half an hour.',
      means:
        'The replicas compact in turns, each `--etcd-compaction-interval` (5 minutes). ' +
        'Without it the database grows with every ' +
        'write until its quota ends all writes.',
      look: [
        'The log of the replicas: `compaction failed` with the reason.',
        'Dashboard "etcd": rounds of compaction by result, size of the database.',
      ],
      act: [
        'Mend what the log says. By hand: `etcdctl compact REVISION`.',
        'An interval of 30 minutes and more needs a larger window in this rule. With 0 the ' +
          'metric is not there and somebody else compacts.',
      ],
      shown: {
        at: '80m',
        fires: rounds(stays(3)),
        labels: {},
        quiet: rounds(grows(0.2)),
      },
    },
    {
      name: 'ApiserverUnreadableObjects',
      severity: 'critical',
      expr: `max by (cluster) (apiserver_storage_unreadable_objects{${apiserver}}) > 0`,
      for: '5m',
      summary: 'Stored objects cannot be read.',
      means:
        'Their bytes are no object of their kind: damaged, written by something else, or by ' +
        'a newer release. Lists that would ' +
        'have them fail rather than leave them out.',
      look: [
        '`/readyz?verbose` names one of them; the log names each key with the reason.',
        '`etcdctl get KEY` and its history; who wrote it?',
      ],
      act: [
        'Put back the object from a backup, or delete it: with the gate ' +
          '`AllowUnsafeMalformedObjectDeletion` by ' +
          '`ignoreStoreReadErrorWithClusterBreakingPotential`, else by `etcdctl del KEY`.',
      ],
      shown: {
        fires: { 'apiserver_storage_unreadable_objects{job="apiserver",instance="a"}': stays(1) },
        labels: {},
        quiet: { 'apiserver_storage_unreadable_objects{job="apiserver",instance="a"}': stays(0) },
      },
    },
    {
      name: 'EtcdMemberDown',
      severity: 'warning',
      expr: `up{${etcd}} == 0`,
      for: '3m',
      summary: 'The etcd member {{ $labels.instance }} does not answer.',
      means:
        'Of three members one may be away, of five two. The next one that goes ends all writes.',
      look: ['Its machine, its process, its log; its certificate.'],
      act: [
        'Start it. If its disk is lost, remove the member and add a new one with an empty ' +
          'data directory.',
      ],
      shown: {
        fires: { 'up{job="etcd",instance="e"}': stays(0) },
        labels: { job: 'etcd', instance: 'e' },
        quiet: { 'up{job="etcd",instance="e"}': becomes(0, 42, 1) },
      },
    },
    {
      name: 'EtcdNoLeader',
      severity: 'critical',
      expr: `etcd_server_has_leader{${etcd}} == 0`,
      for: '1m',
      summary: 'The etcd member {{ $labels.instance }} knows no leader.',
      means:
        'Without a leader nothing can be written and no read can be proven current. One ' +
        'member alone: it is cut off.',
      look: [
        '`etcdctl endpoint status --cluster -w table`; the network between members; their ' +
          'clocks and disks.',
      ],
      act: ['Bring back a majority of members. If that cannot be done: restore the latest backup.'],
      shown: {
        fires: { 'etcd_server_has_leader{job="etcd",instance="e"}': stays(0) },
        labels: { job: 'etcd', instance: 'e' },
        quiet: { 'etcd_server_has_leader{job="etcd",instance="e"}': stays(1) },
      },
    },
    {
      name: 'EtcdLeaderChanges',
      severity: 'warning',
      expr: `max by (cluster) (increase(etcd_server_leader_changes_seen_total{${etcd}}[15m])) > 3`,
      for: '5m',
      summary: 'etcd changes its leader again and again.',
      means:
        'Members lose sight of their leader for longer than the election timeout; each ' +
        'election ends writes for a moment.',
      look: ['Dashboard "etcd": fsync and round trips between members. CPU of their machines.'],
      act: [
        'Faster disks, or longer `--heartbeat-interval` and `--election-timeout` where ' +
          'members are far from each other.',
      ],
      shown: {
        fires: { 'etcd_server_leader_changes_seen_total{job="etcd",instance="e"}': grows(1) },
        labels: {},
        quiet: { 'etcd_server_leader_changes_seen_total{job="etcd",instance="e"}': comes(40, 2) },
      },
    },
    {
      name: 'EtcdDatabaseNearQuota',
      severity: 'critical',
      expr:
        `etcd_mvcc_db_total_size_in_bytes{${etcd}} / etcd_server_quota_backend_bytes{${etcd}} ` +
        '> 0.8',
      for: '10m',
      summary: 'The database of {{ $labels.instance }} has reached 80 % of its quota.',
      means:
        'At the quota etcd raises an alarm and takes no more writes until somebody disarms it.',
      look: [
        'Dashboard "etcd": size in use beside size of the file. Dashboard "Caches and ' +
          'watches": which resource has the bytes?',
        'Is history compacted? [ApiserverCompactionStuck](#apiservercompactionstuck)',
      ],
      act: [
        'Much of the file is free: `etcdctl defrag`, one member after the other.',
        'It is full of objects: delete what nobody needs (events, leases, old custom ' +
          'objects), or raise `--quota-backend-bytes`.',
      ],
      shown: {
        fires: database(1_900_000_000),
        labels: { job: 'etcd', instance: 'e' },
        quiet: database(900_000_000),
      },
    },
    {
      name: 'EtcdSlowDisk',
      severity: 'warning',
      expr:
        'histogram_quantile(0.99, sum by (cluster, instance, le) ' +
        `(rate(etcd_disk_wal_fsync_duration_seconds_bucket{${etcd}}[5m]))) > 0.1`,
      for: '10m',
      summary: 'One in a hundred fsyncs of {{ $labels.instance }} takes more than 100 ms.',
      means:
        'etcd acknowledges nothing before it is on the disks of a majority: the ' +
        'second-fastest of three disks is the pace of all writes.',
      look: [
        'What else writes to that disk; whether it is a network disk; its queue (`iostat -x`).',
      ],
      act: ['Move the data directory to a disk of its own.'],
      shown: {
        fires: fsync(stays(0), grows(60)),
        labels: { instance: 'e' },
        quiet: fsync(grows(60), grows(60)),
      },
    },
  ],
};
