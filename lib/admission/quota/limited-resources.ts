// What may be used only where a quota counts it: the configuration of ResourceQuota, and what of it
// concerns a write.
import type { ResourceInfo } from '../../api/type-info.ts';
import type { Amounts } from '../../kinds/core/container-totals.ts';
import type { ScopeRequirement } from './scopes.ts';

export interface LimitedResource {
  readonly apiGroup: string;
  readonly resource: string;
  /** Parts of names of what is used, as of `requests.storage`. */
  readonly matchContains: readonly string[];
  readonly matchScopes: readonly ScopeRequirement[];
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
