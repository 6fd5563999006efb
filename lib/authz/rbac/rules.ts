// What a rule of a role allows of what a request asks for. Pure.
import { coversUrl, hasOrAll, hasResource } from '../../kinds/rbac/policy-rules.ts';
import type { PolicyRule } from '../../kinds/rbac/policy-rules.ts';
import type { Attributes } from '../authorizer.ts';

type Asked = Pick<
  Attributes,
  'verb' | 'isResourceRequest' | 'group' | 'resource' | 'subresource' | 'name' | 'path'
>;

export function allows(rule: PolicyRule, asked: Asked): boolean {
  if (!hasOrAll(rule.verbs, asked.verb)) return false;
  if (!asked.isResourceRequest) return coversUrl(rule.nonResourceURLs, asked.path);
  return (
    hasOrAll(rule.apiGroups, asked.group) &&
    hasResource(rule.resources, asked.resource, asked.subresource) &&
    (rule.resourceNames.length === 0 || rule.resourceNames.includes(asked.name))
  );
}
