// Names in OpenAPI documents: definitions by reversed domain, operations and tags by group version.
import type { Scheme } from '../api/scheme.ts';
import type { ResourceInfo, TypeInfo } from '../api/type-info.ts';

/** Upper case at the start of every word; whatever is no letter or digit ends a word. */
function joinedWords(text: string): string {
  return text
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** `domain.tld.rest.of.it` → `tld.domain.rest.of.it`, hyphens where Protobuf has underscores. */
export function definitionName(scheme: Scheme, type: TypeInfo): string {
  const dot = type.id.lastIndexOf('.');
  const known = scheme.packages.get(type.id.slice(0, dot));
  const path = known === undefined || known.protoPackage === '' ? undefined : known.protoPackage;
  if (path === undefined) return type.id;
  const [domain = '', tld = '', ...rest] = path.replaceAll('_', '-').split('.');
  return [tld, domain, ...rest, type.name].join('.');
}

/** `CoreV1`, `RbacAuthorizationV1`: group and version inside an operation's id. */
export function operationGroup(scheme: Scheme, group: string, version: string): string {
  return `${groupWords(scheme, group)}${joinedWords(version)}`;
}

/** `core_v1`, `rbacAuthorization_v1`; without a version the tag of the group alone. */
export function tagOf(scheme: Scheme, group: string, version?: string): string {
  const words = lowerFirst(groupWords(scheme, group));
  return version === undefined ? words : `${words}_${lowerFirst(joinedWords(version))}`;
}

export function groupWords(scheme: Scheme, group: string): string {
  if (group === '') return 'Core';
  const domain = scheme.profile.resolve('.{v}');
  return joinedWords(group.endsWith(domain) ? group.slice(0, -domain.length) : group);
}

/** `NamespacedPodStatus`: what an operation is about. */
export function subjectOf(resource: ResourceInfo, subresource = ''): string {
  const scope = resource.namespaced ? 'Namespaced' : '';
  return `${scope}${resource.kind.kind}${joinedWords(subresource)}`;
}
