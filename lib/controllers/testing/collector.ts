// A garbage collector over a replica of a suite, and owner references as its dependents have them.
import { apiVersionOf } from '../../api/type-info.ts';
import { sleep } from '../../base/abort.ts';
import { systemClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import { internalClient } from '../../registry/internal-client.ts';
import type { ResourceMap } from '../../registry/resource-map.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import type { Replica } from '../../registry/testing/registry-on-etcd.ts';
import { scope } from '../../registry/testing/verb-driver.ts';
import type { Sent } from '../../registry/testing/verb-driver.ts';
import { controllerUser } from '../controller-user.ts';
import { GarbageCollector } from '../garbage-collector.ts';
import { runController } from './run-controller.ts';

/** @returns what stops it. */
export function startCollector(
  { naming, stores }: Replica,
  { resources = stores, clock = systemClock }: { resources?: ResourceMap; clock?: Clock } = {},
): () => Promise<void> {
  const collector = new GarbageCollector({
    resources,
    naming,
    client: internalClient(controllerUser(naming, 'generic-garbage-collector')),
    clock,
    log: createLogger('error'),
  });
  return runController(collector);
}

export const ownedBy = (
  { resource: { kind } }: ResourceStore,
  { metadata: { name, uid } }: Sent,
  more: object = {},
): object => ({ apiVersion: apiVersionOf(kind), kind: kind.kind, name, uid, ...more });

/** As the store has it now. */
export async function isThere(
  store: ResourceStore,
  name: string,
  namespace = 'ns',
): Promise<boolean> {
  const key = { namespace: store.resource.namespaced ? namespace : '', name };
  return (await store.view.get(key, { mode: 'latest' }, scope().signal)) !== undefined;
}

/** @throws after a time that only a failure takes */
export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  const signal = AbortSignal.timeout(40_000);
  while (!(await isTrue())) await sleep(20, signal);
}
