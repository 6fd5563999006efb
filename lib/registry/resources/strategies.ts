// Which resources have behaviour beyond their record: one row each. Keys name the stored resource,
// so that all versions and groups that show the same objects share the row.
import type { ResourceInfo } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ResourceStrategy } from '../strategy.ts';
import { namespaceStrategy } from './core/namespaces.ts';
import { podStrategy } from './core/pods.ts';
import { secretStrategy } from './core/secrets.ts';

export interface StrategyOptions {
  readonly naming: NamingProfile;
  /** `--event-ttl`. */
  readonly eventTtlSeconds: number;
}

export function strategyTable(
  options: StrategyOptions,
): (stored: ResourceInfo) => ResourceStrategy {
  const none: ResourceStrategy = {};
  const rows = new Map<string, ResourceStrategy>([
    ['/events', { ttlSeconds: () => options.eventTtlSeconds }],
    ['/namespaces', namespaceStrategy(options.naming)],
    ['/nodes', { keepsStatusOnCreate: true }],
    ['/pods', podStrategy],
    ['/secrets', secretStrategy],
  ]);
  return (stored) => rows.get(`${stored.group}/${stored.resource}`) ?? none;
}
