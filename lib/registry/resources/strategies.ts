// Which resources have behaviour beyond their record: one row each. Keys name the stored resource,
// so that all versions and groups that show the same objects share the row.
import type { ResourceInfo } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ResourceStrategy } from '../strategy.ts';
import { definitionStrategy } from './apiextensions/definitions.ts';
import { daemonSetStrategy } from './apps/daemon-sets.ts';
import { jobStrategy } from './batch/jobs.ts';
import { signingRequestStrategy } from './certificates/signing-requests.ts';
import { limitRangeStrategy } from './core/limit-ranges.ts';
import { namespaceStrategy } from './core/namespaces.ts';
import { nodeStrategy } from './core/nodes.ts';
import {
  persistentVolumeClaimStrategy,
  persistentVolumeStrategy,
} from './core/persistent-volumes.ts';
import { podStrategy } from './core/pods.ts';
import { secretStrategy } from './core/secrets.ts';
import { serviceAccountStrategy } from './core/service-accounts.ts';
import { validationTable } from './validation-table.ts';

export interface StrategyOptions {
  readonly naming: NamingProfile;
  /** `--event-ttl`. */
  readonly eventTtlSeconds: number;
}

export function strategyTable(
  options: StrategyOptions,
): (stored: ResourceInfo) => ResourceStrategy {
  const { naming } = options;
  const rows = new Map<string, ResourceStrategy>([
    ['/events', { ttlSeconds: () => options.eventTtlSeconds }],
    ['/namespaces', namespaceStrategy(naming)],
    ['/limitranges', limitRangeStrategy],
    ['/nodes', nodeStrategy],
    ['/persistentvolumeclaims', persistentVolumeClaimStrategy],
    ['/persistentvolumes', persistentVolumeStrategy],
    ['/pods', podStrategy],
    ['/secrets', secretStrategy],
    ['/serviceaccounts', serviceAccountStrategy],
    [naming.resolve('apiextensions.{v}/customresourcedefinitions'), definitionStrategy],
    ['apps/daemonsets', daemonSetStrategy],
    ['batch/jobs', jobStrategy(naming)],
    [naming.resolve('certificates.{v}/certificatesigningrequests'), signingRequestStrategy],
  ]);
  const validationOf = validationTable(naming);
  return ({ group, resource }) => {
    const key = `${group}/${resource}`;
    return { ...rows.get(key), ...validationOf(key) };
  };
}
