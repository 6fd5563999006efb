// A controller of quotas over a replica of a suite.
import { usageParts } from '../../admission/quota/usage-parts.ts';
import type { UsageParts } from '../../admission/quota/measure.ts';
import { systemClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import { internalClient } from '../../registry/internal-client.ts';
import type { ResourceMap } from '../../registry/resource-map.ts';
import type { Replica } from '../../registry/testing/registry-on-etcd.ts';
import { controllerUser } from '../controller-user.ts';
import { ResourceQuotaController } from '../resource-quota.ts';
import { runController } from './run-controller.ts';

export const quotaParts = ({ naming, stores }: Replica, clock: Clock = systemClock): UsageParts =>
  usageParts({
    naming,
    gates: { isEnabled: () => true },
    clock,
    viewOf: (group, resource) => stores.find({ group, version: 'v1', resource })?.view,
  });

interface Options {
  readonly resources?: ResourceMap;
  readonly clock?: Clock;
  readonly syncPeriodMs?: number;
  readonly onQuotaDrift?: () => void;
}

/** @returns what stops it. */
export function startQuotaController(replica: Replica, options: Options = {}): () => Promise<void> {
  const { resources = replica.stores, clock = systemClock, syncPeriodMs = 0 } = options;
  const ignore = (): void => undefined;
  const controller = new ResourceQuotaController({
    quotas: replica.store('resourcequotas'),
    resources,
    parts: quotaParts(replica, clock),
    client: internalClient(controllerUser(replica.naming, 'resourcequota-controller')),
    clock,
    log: createLogger('error'),
    syncPeriodMs,
    observer: {
      onReady: ignore,
      onRun: () => ignore,
      onRetry: ignore,
      onEnd: ignore,
      onQuotaDrift: options.onQuotaDrift ?? ignore,
    },
  });
  return runController(controller);
}
