// Carries what storage and cache report into the metrics table, and what members answer into
// componentstatuses.
import type { Logger } from '../../lib/base/log.ts';
import type { Cache, CacheObserver } from '../../lib/cacher/cache.ts';
import type { Component } from '../../lib/registry/component-statuses.ts';
import type { ValidationOptions } from '../../lib/registry/validation.ts';
import type { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import type { StorageMetrics } from '../../lib/storage-etcd/storage.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';
import type { NumberChild } from '../../lib/telemetry/series.ts';

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
  return {
    onRead(resource, answerer) {
      let child = reads[answerer].get(resource);
      if (child === undefined) {
        child = childOf(resource, answerer);
        reads[answerer].set(resource, child);
      }
      child.value++;
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
  series.apiserver_resource_objects.collect.add(() => {
    const health = cache.health();
    for (const use of cache.resourceUse()) {
      const [group = '', name = ''] = splitName(use.name);
      series.apiserver_resource_objects.child(group, name).value = use.objectCount;
      series.apiserver_storage_objects.child(group === '' ? name : `${name}.${group}`).value =
        use.objectCount;
      series.apiserver_watch_cache_resource_version.child(group, name).value = health.revision;
    }
    for (const [kind, bytes] of Object.entries(health.memory)) {
      if (typeof bytes === 'number') series.apiserver_cache_memory_bytes.child(kind).value = bytes;
    }
  });
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
