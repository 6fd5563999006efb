// Carries what the parts of the server report into the metrics table, and what members answer into
// componentstatuses.
import type { AdmissionObserver } from '../../lib/admission/measured.ts';
import type { AdmissionRequest } from '../../lib/admission/plugin.ts';
import type { PodSecurityObserver } from '../../lib/admission/pod-security/observer.ts';
import { latest, versionText } from '../../lib/admission/pod-security/policy.ts';
import type { LevelVersion } from '../../lib/admission/pod-security/policy.ts';
import type { NamingProfile } from '../../lib/api/vendor.ts';
import type { Clock } from '../../lib/base/clock.ts';
import { limits } from '../../lib/base/limits.ts';
import type { Logger } from '../../lib/base/log.ts';
import { releasesOf } from '../../lib/base/releases.ts';
import type { Cache, CacheObserver } from '../../lib/cacher/cache.ts';
import type { ResourceCounts } from '../../lib/cacher/resource-counts.ts';
import { gateTable } from '../../lib/config/gate-table.ts';
import type { GateStage } from '../../lib/config/gate-table.ts';
import type { FeatureGates } from '../../lib/config/gates.ts';
import type { Component } from '../../lib/registry/component-statuses.ts';
import type { ValidationOptions } from '../../lib/registry/validation.ts';
import type { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import type { StorageMetrics } from '../../lib/storage-etcd/storage.ts';
import type { Health, HealthObserver } from '../../lib/telemetry/health.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';
import type { NumberChild, NumberSeries } from '../../lib/telemetry/series.ts';
import type { ControllerObserver } from './run-controllers.ts';
import { versionInfo } from './version.ts';

export function storageMetrics({ series }: Metrics): StorageMetrics {
  const known = new Map<string, ReturnType<typeof childrenOf>>();
  const childrenOf = (operation: string) => ({
    seconds: series.etcd_request_duration_seconds.child('', operation, ''),
    total: series.etcd_requests_total.child('', operation, ''),
    errors: series.etcd_request_errors_total.child('', operation, ''),
  });
  return {
    call(operation, durationSeconds, isOk) {
      let children = known.get(operation);
      if (children === undefined) {
        children = childrenOf(operation);
        known.set(operation, children);
      }
      children.seconds.observe(durationSeconds);
      children.total.value++;
      if (!isOk) children.errors.value++;
    },
  };
}

const compactionResults = ['compacted', 'started', 'learned', 'failed'] as const;

/** Counts rounds of compaction; a server that compacts shows all results from its begin. */
export function compactionObserver({
  series,
}: Metrics): (result: (typeof compactionResults)[number]) => void {
  const rounds = series.apiserver_storage_compaction_rounds_total;
  for (const result of compactionResults) rounds.child(result);
  return (result) => {
    rounds.child(result).value++;
  };
}

export function cacheObserver({ series }: Metrics): CacheObserver {
  const childrenOf = (resource: string) => {
    const [group = '', name = ''] = splitName(resource);
    const lists = series.apiserver_cache_list_total;
    const consistent = series.apiserver_watch_cache_consistent_read_total;
    return {
      lists: {
        memory: lists.child(group, 'memory', name),
        snapshot: lists.child(group, 'snapshot', name),
        storage: series.apiserver_storage_list_total.child(group, name),
      },
      proven: consistent.child('false', group, name, 'true'),
      fellBack: consistent.child('true', group, name, 'false'),
      waits: series.apiserver_watch_cache_read_wait_seconds.child(group, name),
    };
  };
  const known = new Map<string, ReturnType<typeof childrenOf>>();
  const of = (resource: string): ReturnType<typeof childrenOf> => {
    let children = known.get(resource);
    if (children === undefined) {
      children = childrenOf(resource);
      known.set(resource, children);
    }
    return children;
  };
  return {
    onRead(resource, read, at, answerer) {
      const { lists, proven, fellBack } = of(resource);
      if (read === 'list') lists[answerer].value++;
      if (at === 'latest') (answerer === 'storage' ? fellBack : proven).value++;
    },
    onWait: (resource, seconds) => of(resource).waits.observe(seconds),
    onCorrupted(resource) {
      const [group = '', name = ''] = splitName(resource);
      series.apiserver_storage_decode_errors_total.child(group, name).value++;
    },
  };
}

/** Sizes and positions, read at each scrape. */
export function collectCache({ series }: Metrics, cache: Cache, budgetBytes: number): void {
  series.apiserver_cache_memory_limit_bytes.child().value = budgetBytes;
  // The first of its rows in the table: the others render after it.
  series.apiserver_cache_list_fetched_objects_total.collect.add(() => {
    const health = cache.health();
    for (const use of cache.resourceUse()) {
      const [group = '', name = ''] = splitName(use.name);
      series.apiserver_resource_objects.child(group, name).value = use.objectCount;
      series.apiserver_resource_size_estimate_bytes.child(group, name).value = use.bytes;
      series.apiserver_watch_cache_initializations_total.child(group, name).value =
        health.loadCount;
      series.apiserver_storage_objects.child(group === '' ? name : `${name}.${group}`).value =
        use.objectCount;
      series.apiserver_watch_cache_resource_version.child(group, name).value = health.revision;
      collectCounts(series, group, name, use.counts);
    }
    series.apiserver_storage_unreadable_objects.child().value = health.corrupted.size;
    const { stateBytes, logBytes, memoBytes, indexBytes } = health.memory;
    for (const [kind, bytes] of Object.entries({ stateBytes, logBytes, memoBytes, indexBytes })) {
      series.apiserver_cache_memory_bytes.child(kind).value = bytes;
    }
  });
}

function collectCounts(
  series: Metrics['series'],
  group: string,
  name: string,
  counts: ResourceCounts,
): void {
  const report = (counter: NumberSeries, value: number, ...labels: readonly string[]): void => {
    if (value > 0) counter.child(...labels).value = value;
  };
  const { receivedEvents, initialEvents, passedWatches, fetched, returned } = counts;
  for (const events of [
    series.apiserver_storage_events_received_total,
    series.apiserver_watch_cache_events_received_total,
    series.apiserver_watch_cache_events_dispatched_total,
  ]) {
    report(events, receivedEvents, group, name);
  }
  report(series.apiserver_init_events_total, initialEvents, group, name);
  report(series.apiserver_terminated_watchers_total, passedWatches, group, name);
  report(series.apiserver_cache_list_returned_objects_total, returned, group, name);
  const { apiserver_cache_list_fetched_objects_total: looked } = series;
  report(looked, fetched.memory, group, 'memory', name);
  report(looked, fetched.snapshot, group, 'snapshot', name);
}

/** `group/resource` of a view. */
const splitName = (name: string): string[] => name.split('/');

/** The members by their place in `--etcd-servers`, as componentstatuses names them. */
export async function etcdComponents(
  { connection }: EtcdStorage,
  signal: AbortSignal,
): Promise<Component[]> {
  const problems = await connection.probeMembers(signal);
  return problems.map((problem, index) => ({ name: `etcd-${String(index)}`, problem }));
}

/** Counts and logs writes for which the two forms of a migrated rule differ. */
export function mismatchObserver(
  metrics: Metrics,
  logger: Logger,
): ValidationOptions['onMismatch'] {
  const { apiserver_validation_declarative_validation_mismatch_total: mismatches } = metrics.series;
  const count = mismatches.child();
  return ({ group, version, resource }, difference) => {
    count.value++;
    logger.warn('validation differs', { group, version, resource, difference });
  };
}

/** Whether this replica is ready, looked at with each scrape. */
export function collectReadiness({ series }: Metrics, health: Health): void {
  series.apiserver_ready.collect.add(() => {
    series.apiserver_ready.child().value = Number(health.isPassing('readyz'));
  });
}

export function healthObserver({ series }: Metrics): HealthObserver {
  const states = series['{kubernetes}_healthcheck'];
  const results = series['{kubernetes}_healthchecks_total'];
  return (name, endpoint, isOk) => {
    states.child(name, endpoint).value = Number(isOk);
    results.child(name, isOk ? 'success' : 'error', endpoint).value++;
  };
}

export function admissionObserver({ series }: Metrics): AdmissionObserver {
  const { apiserver_admission_controller_admission_duration_seconds: plugins } = series;
  const { apiserver_admission_step_admission_duration_seconds: steps } = series;
  const { apiserver_admission_step_admission_duration_seconds_summary: summaries } = series;
  const rejected = { admitted: 'false', rejected: 'true' } as const;
  return {
    onPlugin: (name, operation, type, outcome, seconds) =>
      plugins.child(name, operation, rejected[outcome], type).observe(seconds),
    onStep(operation, type, outcome, seconds) {
      steps.child(operation, rejected[outcome], type).observe(seconds);
      summaries.child(operation, rejected[outcome], type).observe(seconds);
    },
  };
}

export function podSecurityObserver({ series }: Metrics): PodSecurityObserver {
  const ownMinor = Number(versionInfo['minor']);
  const versionOf = ({ level, version }: LevelVersion): string => {
    if (level === 'privileged') return 'latest'; // whatever the version
    return version > ownMinor && version !== latest ? 'future' : versionText(version);
  };
  const resources: ReadonlyMap<string, string> = new Map([
    ['pods', 'pod'],
    ['namespaces', 'namespace'],
  ]);
  const labelsOf = ({ operation, resource, subresource }: AdmissionRequest) =>
    [
      operation.toLowerCase(),
      resources.get(resource.resource) ?? 'controller',
      subresource,
    ] as const;
  const { pod_security_evaluations_total: evaluations } = series;
  const laxly = ['allow', 'enforce', 'privileged', 'latest'] as const;
  // Of nearly every pod, and looking a child up is most of what it costs.
  const usual: ReadonlyMap<string, NumberChild> = new Map([
    ['CREATE', evaluations.child(...laxly, 'create', 'pod', '')],
    ['UPDATE', evaluations.child(...laxly, 'update', 'pod', '')],
  ]);
  return {
    onEvaluation(request, mode, policy, decision) {
      const { operation, subresource } = request;
      // Pods alone are held against what is enforced, and all of them meet this.
      const isLax = mode === 'enforce' && policy.level === 'privileged' && subresource === '';
      const child = isLax ? usual.get(operation) : undefined;
      if (child !== undefined) {
        child.value++;
        return;
      }
      const version = versionOf(policy);
      evaluations.child(decision, mode, policy.level, version, ...labelsOf(request)).value++;
    },
    onExemption(request) {
      series.pod_security_exemptions_total.child(...labelsOf(request)).value++;
    },
    onError(request, isFatal) {
      series.pod_security_errors_total.child(String(isFatal), ...labelsOf(request)).value++;
    },
  };
}

/** Work queues by name, and who leads. */
export function controllerObserver({ series }: Metrics, clock: Clock): ControllerObserver {
  const childrenOf = (queue: string) => ({
    depth: series.workqueue_depth.child(queue),
    adds: series.workqueue_adds_total.child(queue),
    waits: series.workqueue_queue_duration_seconds.child(queue),
    works: series.workqueue_work_duration_seconds.child(queue),
    unfinished: series.workqueue_unfinished_work_seconds.child(queue),
    longest: series.workqueue_longest_running_processor_seconds.child(queue),
    retries: series.workqueue_retries_total.child(queue),
    /** When each run that is not over began. */
    running: new Set<{ readonly atMs: number }>(),
  });
  const known = new Map<string, ReturnType<typeof childrenOf>>();
  const of = (queue: string): ReturnType<typeof childrenOf> => {
    const children = known.get(queue) ?? childrenOf(queue);
    known.set(queue, children);
    return children;
  };
  const secondsSince = (atMs: number): number => (clock.monotonicMs() - atMs) / 1000;
  // The first of its two rows in the table: the other one renders after it.
  series.workqueue_longest_running_processor_seconds.collect.add(() => {
    for (const { longest, unfinished, running } of known.values()) {
      const seconds = [...running].map(({ atMs }) => secondsSince(atMs));
      longest.value = Math.max(0, ...seconds);
      unfinished.value = seconds.reduce((sum, one) => sum + one, 0);
    }
  });
  return {
    onReady(queue) {
      const { depth, adds } = of(queue);
      depth.value++;
      adds.value++;
    },
    onRun(queue, waitedSeconds) {
      const { depth, waits, works, running } = of(queue);
      depth.value--;
      waits.observe(waitedSeconds);
      const run = { atMs: clock.monotonicMs() };
      running.add(run);
      return () => {
        running.delete(run);
        works.observe(secondsSince(run.atMs));
      };
    },
    onRetry(queue) {
      of(queue).retries.value++;
    },
    onEnd(queue, readyCount) {
      of(queue).depth.value -= readyCount;
    },
    onQuotaDrift() {
      series.apiserver_admission_quota_recalculation_drift_total.child().value++;
    },
    onLeading(name, isLeading) {
      series.leader_election_master_status.child(name).value = Number(isLeading);
    },
  };
}

/** Asks etcd at each scrape, as long as that takes a moment. */
export function collectStorageSize({ series, beforeText }: Metrics, storage: EtcdStorage): void {
  // A server has one cluster, the first of those that its storage can have.
  const size = series.apiserver_storage_size_bytes.child('etcd-0');
  beforeText.add(async () => {
    const signal = AbortSignal.timeout(limits.memberProbeTimeoutMs);
    size.value = await storage.connection.databaseBytes(signal);
  });
}

/** What this build is and which gates are on: said once. */
export function describeServer(
  { series }: Metrics,
  { version, naming, gates }: DescribedServer,
): void {
  const of = (name: string): string => version[name] ?? '';
  series['{kubernetes}_build_info'].child(
    of('buildDate'),
    of('compiler'),
    of('gitCommit'),
    of('gitTreeState'),
    of('gitVersion'),
    of('goVersion'),
    of('major'),
    of('minor'),
    of('platform'),
  ).value = 1;
  const { binary, emulation, minCompatibility } = releasesOf(version);
  const component = naming.resolve('{kube}');
  series.version_info.child(binary, component, emulation, minCompatibility).value = 1;
  for (const [name, stage] of gateTable) {
    const child = series['{kubernetes}_feature_enabled'].child(name, stageLabels[stage]);
    child.value = Number(gates.isEnabled(name));
  }
}

export interface DescribedServer {
  readonly version: Readonly<Record<string, string>>;
  readonly naming: NamingProfile;
  readonly gates: FeatureGates;
}

const stageLabels: Readonly<Record<GateStage, string>> = {
  Alpha: 'ALPHA',
  Beta: 'BETA',
  GA: '',
  Deprecated: 'DEPRECATED',
};
