// The rules by which webhooks and policies say which requests they are for, and in which version of
// its resource a request fits them. Pure.
import { textAt, textsAt } from '../../api/json-access.ts';
import type { GroupVersionKind, JsonObject, ResourceInfo } from '../../api/type-info.ts';
import type { AdmissionOperation } from '../plugin.ts';

/** One of `rules`, `resourceRules`, `excludeResourceRules`. */
export interface MatchRule {
  readonly operations: readonly string[];
  readonly groups: readonly string[];
  readonly versions: readonly string[];
  /** `pods`, `pods/status`, with a star for either; a resource alone has the subresource ''. */
  readonly resources: readonly ResourceName[];
  /** '' says the same as a star. */
  readonly scope: string;
  /** Empty: of every name. */
  readonly names: readonly string[];
}

interface ResourceName {
  readonly resource: string;
  readonly subresource: string;
}

/** What a request does to what, without names: one of few, for all requests. */
export interface Action {
  readonly operation: AdmissionOperation;
  readonly resource: ResourceInfo;
  readonly subresource: string;
}

/** The resource in another version than the request names, in which it fits. */
export interface MatchedAs {
  readonly resource: ResourceInfo;
  /** Of the same subresource there. */
  readonly kind: GroupVersionKind;
}

/** One rule that an action fits: `names` of objects (empty: all), and in which version it fits. */
export interface Way {
  readonly names: readonly string[];
  /** undefined: as the request names it. */
  readonly as: MatchedAs | undefined;
}

/** A rule as an object of the API has it. */
export function matchRule(rule: JsonObject): MatchRule {
  return {
    operations: textsAt(rule, 'operations'),
    groups: textsAt(rule, 'apiGroups'),
    versions: textsAt(rule, 'apiVersions'),
    resources: textsAt(rule, 'resources').map(resourceName),
    scope: textAt(rule, 'scope'),
    names: textsAt(rule, 'resourceNames'),
  };
}

function resourceName(text: string): ResourceName {
  const [resource = '', subresource = ''] = text.split('/');
  return { resource, subresource };
}

/**
 * All ways in which an action fits, best first: as it is named, in the order of the rules; then in
 * the order of the rules as each of `equivalents`, where those are given. Nothing follows a way
 * that is for every name.
 */
export function waysOf(
  rules: readonly MatchRule[],
  action: Action,
  equivalents: readonly ResourceInfo[],
): readonly Way[] {
  const ways: Way[] = [];
  const isAll = ({ names }: MatchRule): boolean => names.length === 0;
  for (const rule of rules) {
    if (!fits(rule, action, action.resource)) continue;
    ways.push({ names: rule.names, as: undefined });
    if (isAll(rule)) return ways;
  }
  for (const rule of rules) {
    for (const resource of equivalents) {
      if (resource === action.resource || !fits(rule, action, resource)) continue;
      const kind = kindOf(resource, action.subresource);
      if (kind === undefined) continue;
      ways.push({ names: rule.names, as: { resource, kind } });
      if (isAll(rule)) return ways;
    }
  }
  return ways;
}

/** The kind of what requests for a subresource hold; undefined: this version has none such. */
function kindOf(resource: ResourceInfo, subresource: string): GroupVersionKind | undefined {
  if (subresource === '') return resource.kind;
  return resource.subresources.find(({ name }) => name === subresource)?.kind;
}

const fits = (rule: MatchRule, action: Action, resource: ResourceInfo): boolean =>
  includes(rule.operations, action.operation) &&
  includes(rule.groups, resource.group) &&
  includes(rule.versions, resource.version) &&
  fitsScope(rule, resource) &&
  rule.resources.some(
    (one) =>
      isOrAny(one.resource, resource.resource) && isOrAny(one.subresource, action.subresource),
  );

const includes = (texts: readonly string[], wanted: string): boolean =>
  texts.includes('*') || texts.includes(wanted);

const isOrAny = (text: string, wanted: string): boolean => text === '*' || text === wanted;

/** Objects that are namespaces belong to the cluster, though their requests name a namespace. */
function fitsScope({ scope }: MatchRule, { namespaced }: ResourceInfo): boolean {
  if (scope === 'Namespaced') return namespaced;
  if (scope === 'Cluster') return !namespaced;
  return true;
}
