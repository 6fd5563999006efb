// What may be used only where a quota counts it: the configuration of ResourceQuota, and what of it
// concerns a write.
import type { JsonObject, ResourceInfo } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { StrictFields } from '../../codec/strict-fields.ts';
import type { Amounts } from '../../kinds/core/container-totals.ts';
import type { ScopeRequirement } from './scopes.ts';

export interface LimitedResource {
  readonly apiGroup: string;
  readonly resource: string;
  /** Parts of names of what is used, as of `requests.storage`. */
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopeRequirement[];
}

/**
 * Of ResourceQuotaConfiguration, or of its older forms; empty without one.
 * @throws Error that says what is wrong and where
 */
export function readLimitedResources(
  document: object | undefined,
  naming: NamingProfile,
): readonly LimitedResource[] {
  if (document === undefined) return [];
  const config = document as JsonObject; // parsed YAML
  const isOlder = config['kind'] === 'Configuration';
  const apiVersions = isOlder
    ? ['v1beta1', 'v1alpha1'].map((version) => `resourcequota.admission.{v}/${version}`)
    : ['apiserver.config.{v}/v1'];
  const root = StrictFields.of(config, {
    kind: isOlder ? 'Configuration' : 'ResourceQuotaConfiguration',
    apiVersions: apiVersions.map((apiVersion) => naming.resolve(apiVersion)),
  });
  const entries = root.objects('limitedResources');
  const limited = entries.map((entry) => ({
    apiGroup: entry.text('apiGroup'),
    resource: entry.text('resource'),
    matchContains: entry.texts('matchContains'),
    matchScopes: entry.objects('matchScopes').map((scope) => ({
      scopeName: scope.text('scopeName'),
      operator: scope.text('operator'),
      values: scope.texts('values'),
    })),
  }));
  root.finish();
  for (const [index, { resource }] of limited.entries()) {
    if (resource !== '') continue;
    throw new Error(`limitedResources[${String(index)}].resource: Required value`);
  }
  return limited;
}

/** Names of what is used that need a quota. */
export const limitedNames = (
  limited: readonly LimitedResource[],
  { group, resource }: ResourceInfo,
  usage: Amounts,
): readonly string[] => {
  const parts = limited
    .filter((each) => each.apiGroup === group && each.resource === resource)
    .flatMap((each) => each.matchContains);
  return [...usage]
    .filter(([name, { nano }]) => nano > 0n && parts.some((part) => name.includes(part)))
    .map(([name]) => name);
};

/** Scopes that need a quota, whatever resource they are stated with. */
export const limitedScopes = (limited: readonly LimitedResource[]): readonly ScopeRequirement[] =>
  limited.flatMap((each) => each.matchScopes);

export const scopeText = ({ scopeName, operator, values }: ScopeRequirement): string =>
  `{${scopeName} ${operator} [${values.join(' ')}]}`;
