// What one object takes of quotas, by name of resource: what each kind is measured by, and which
// kinds are not counted at all. Pure: it reads the object, and of other objects what it is given.
import type { ResourceInfo } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { Amounts } from '../../kinds/core/container-totals.ts';
import { claimUsage, isClaimName, isClaimResized } from './claim-usage.ts';
import { deviceUsage, isDeviceName } from './device-usage.ts';
import { one } from './measure.ts';
import type { Measure, MeasuredUpdate, UsageParts } from './measure.ts';
import { isPodName, missingStatements, podUsage } from './pod-usage.ts';
import {
  claimMatches,
  claimScopeText,
  isTerminatingPod,
  podMatches,
  podScopeText,
} from './scopes.ts';
import { isServiceName, serviceUsage } from './service-usage.ts';

const never = (): boolean => false;
const ofMain = ({ subresource }: MeasuredUpdate): boolean => subresource === '';

const pods: Measure = {
  isName: (name, { naming }) => isPodName(name, naming),
  usage: podUsage,
  matches: podMatches,
  scopeText: podScopeText,
  isMeasuredAgain: ({ subresource, object, old }) =>
    subresource === 'resize' ||
    (subresource === '' && isTerminatingPod(object) !== isTerminatingPod(old)),
  missing: missingStatements,
};
const services: Measure = {
  isName: isServiceName,
  usage: serviceUsage,
  matches: never,
  isMeasuredAgain: ofMain,
};
const claims: Measure = {
  isName: (name, { naming }) => isClaimName(name, naming),
  usage: (claim, { naming }) => claimUsage(claim, naming),
  matches: claimMatches,
  scopeText: claimScopeText,
  isMeasuredAgain: ({ subresource, object, old }) =>
    subresource === '' || (subresource === 'status' && isClaimResized(object, old)),
};
const deviceClaims: Measure = {
  isName: isDeviceName,
  usage: deviceUsage,
  dependsOnOthers: true,
  matches: never,
  isMeasuredAgain: ofMain,
};

/** Counted by their bare names as well. */
const countedByName: ReadonlySet<string> = new Set([
  'configmaps',
  'secrets',
  'replicationcontrollers',
  'resourcequotas',
]);

/** Every other resource is counted. */
function countOf({ group, resource }: ResourceInfo): Measure {
  const name = `count/${resource}${group === '' ? '' : `.${group}`}`;
  const names = new Set(group === '' && countedByName.has(resource) ? [name, resource] : [name]);
  const usage: Amounts = new Map([...names].map((each) => [each, one]));
  return { isName: (asked) => names.has(asked), ofEach: usage, usage: () => usage, matches: never };
}

const counts = new WeakMap<ResourceInfo, Measure>();

/**
 * undefined: quotas do not count it, since it is of the cluster, is not stored, or is an event.
 * `resource` may be any version of it.
 */
export function measureOf(resource: ResourceInfo, naming: NamingProfile): Measure | undefined {
  if (!resource.namespaced || resource.virtual) return undefined;
  switch (resource.group) {
    case '':
      if (resource.resource === 'events') return undefined;
      if (resource.resource === 'pods') return pods;
      if (resource.resource === 'services') return services;
      if (resource.resource === 'persistentvolumeclaims') return claims;
      break;
    case naming.resolve('events.{v}'):
      return undefined;
    case naming.resolve('resource.{v}'):
      if (resource.resource === 'resourceclaims') return deviceClaims;
      break;
  }
  let count = counts.get(resource);
  if (count === undefined) counts.set(resource, (count = countOf(resource)));
  return count;
}

/** Exact amounts by name; none of what quotas do not count. */
export const usageOf = (
  resource: ResourceInfo,
  object: Readonly<ApiObject>,
  parts: UsageParts,
): Amounts => measureOf(resource, parts.naming)?.usage(object, parts) ?? nothing;

const nothing: Amounts = new Map();
