// Carries what storage and cache report into the metrics table, and what members answer into
// componentstatuses.
import { authenticationResults } from '../../lib/authn/measured.ts';
import type { AuthenticationResult } from '../../lib/authn/measured.ts';
import { authorizationResults } from '../../lib/authz/measured.ts';
import type { AuthorizationResult } from '../../lib/authz/measured.ts';
import { Attempts } from '../../lib/telemetry/attempts.ts';
import type { Logger } from '../../lib/base/log.ts';
import type { Cache, CacheObserver } from '../../lib/cacher/cache.ts';
import type { ResourceCounts } from '../../lib/cacher/resource-counts.ts';
import type { Component } from '../../lib/registry/component-statuses.ts';
import type { ValidationOptions } from '../../lib/registry/validation.ts';
import type { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import type { StorageMetrics } from '../../lib/storage-etcd/storage.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';
import type { HistogramChild, NumberChild, NumberSeries } from '../../lib/telemetry/series.ts';

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

export function cacheObserver({ series }: Metrics): CacheObserver {
  const childOf = (resource: string, answerer: 'memory' | 'snapshot' | 'storage'): NumberChild => {
    const [group = '', name = ''] = splitName(resource);
    return answerer === 'storage'
      ? series.apiserver_watch_cache_consistent_read_total.child('true', group, name, 'false')
      : series.apiserver_cache_list_total.child(group, answerer, name);
  };
  const reads = {
    memory: new Map<string, NumberChild>(),
    snapshot: new Map<string, NumberChild>(),
    storage: new Map<string, NumberChild>(),
  };
  const waits = new Map<string, HistogramChild>();
  return {
    onRead(resource, answerer) {
      let child = reads[answerer].get(resource);
      if (child === undefined) {
        child = childOf(resource, answerer);
        reads[answerer].set(resource, child);
      }
      child.value++;
    },
    onWait(resource, seconds) {
      let child = waits.get(resource);
      if (child === undefined) {
        const [group = '', name = ''] = splitName(resource);
        child = series.apiserver_watch_cache_read_wait_seconds.child(group, name);
        waits.set(resource, child);
      }
      child.observe(seconds);
    },
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
      series.apiserver_storage_objects.child(group === '' ? name : `${name}.${group}`).value =
        use.objectCount;
      series.apiserver_watch_cache_resource_version.child(group, name).value = health.revision;
      collectCounts(series, group, name, use.counts);
    }
    for (const [kind, bytes] of Object.entries(health.memory)) {
      if (typeof bytes === 'number') series.apiserver_cache_memory_bytes.child(kind).value = bytes;
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
  report(series.apiserver_watch_cache_events_received_total, receivedEvents, group, name);
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
  const mismatches = metrics.series.declarative_validation_mismatch_total;
  return ({ group, version, resource }, difference) => {
    mismatches.child(group, resource, version).value += 1;
    logger.warn('validation differs', { group, version, resource, difference });
  };
}

export const authenticationAttempts = ({ series }: Metrics): Attempts<AuthenticationResult> =>
  new Attempts(
    authenticationResults,
    series.authentication_attempts,
    series.authentication_duration_seconds,
  );
export const authorizationAttempts = ({ series }: Metrics): Attempts<AuthorizationResult> =>
  new Attempts(
    authorizationResults,
    series.authorization_attempts_total,
    series.authorization_duration_seconds,
  );
