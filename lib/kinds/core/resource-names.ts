// Names of resources that are counted or measured: which of them are known, which are somebody
// else's, and which of them containers, quotas and limits may state.
import { qualifiedNameProblems } from '../../api/name-rules.ts';
import type { NamingProfile } from '../../api/vendor.ts';

const counted = [
  'pods',
  'services',
  'replicationcontrollers',
  'resourcequotas',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
];
const countedResources: ReadonlySet<string> = new Set(counted);
const containerResources: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);
const quotaResources: ReadonlySet<string> = new Set([
  ...counted,
  ...containerResources,
  ...[...containerResources].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  'requests.storage',
]);

const hugePages = 'hugepages-';
const requests = 'requests.';

export const isHugePages = (name: string): boolean => name.startsWith(hugePages);

export const isStandardContainerResource = (name: string): boolean =>
  containerResources.has(name) || isHugePages(name);

/** What the tracking of quotas knows without a domain. */
export const isStandardQuotaResource = (name: string): boolean =>
  quotaResources.has(name) || isHugePages(name) || name.startsWith(requests + hugePages);

/** Without a domain, or of the system's own. */
export const isNative = (name: string, naming: NamingProfile): boolean =>
  !name.includes('/') || name.includes(`${naming.metadataDomain}/`);

/** A resource of somebody else's domain, which quotas can name as well: `requests.<name>`. */
export const isExtendedResource = (name: string, naming: NamingProfile): boolean =>
  !isNative(name, naming) &&
  !name.startsWith(requests) &&
  qualifiedNameProblems(requests + name).length === 0;

/** More may be promised than there is; else a request is its limit. */
export const mayOvercommit = (name: string, naming: NamingProfile): boolean =>
  isNative(name, naming) && !isHugePages(name);

/** A resource of which there are only whole ones. */
export const isIntegerResource = (name: string, naming: NamingProfile): boolean =>
  countedResources.has(name) || isExtendedResource(name, naming);

/** Of every resource list: a qualified name, without a domain one that is known. */
export function resourceNameProblems(name: string): readonly string[] {
  const problems = qualifiedNameProblems(name);
  if (problems.length > 0 || name.includes('/')) return problems;
  if (name === 'storage' || isStandardQuotaResource(name)) return [];
  return ['must be a standard resource type or fully qualified'];
}

/** Of a container's resources, and of limits for containers and pods. */
export function containerResourceNameProblems(
  name: string,
  naming: NamingProfile,
): readonly string[] {
  if (containerResources.has(name)) return [];
  if (isHugePages(name)) return qualifiedNameProblems(name);
  const problems = resourceNameProblems(name);
  if (!name.includes('/')) return [...problems, 'must be a standard resource for containers'];
  if (isNative(name, naming) || isExtendedResource(name, naming)) return problems;
  return [...problems, "doesn't follow extended resource name standard"];
}

export function quotaResourceNameProblems(name: string): readonly string[] {
  const problems = resourceNameProblems(name);
  if (name.includes('/') || isStandardQuotaResource(name)) return problems;
  return [...problems, 'must be a standard resource for quota'];
}
