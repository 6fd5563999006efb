// Rules in words, for those that are part of the program: `get,list pods,pods/log of core,apps`,
// `update leases of coordination.{v} named a,b`, `get at /healthz,/livez/*`. Without `of` it is the
// core group.
import { invariant } from '../../base/invariant.ts';
import type { PolicyRule } from './policy-rules.ts';

/** Sets of verbs that many rules have. */
const verbSets: Readonly<Record<string, readonly string[]>> = {
  read: ['get', 'list', 'watch'],
  write: ['create', 'delete', 'deletecollection', 'patch', 'update'],
  full: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
};

const form = new RegExp(
  '^(?<verbs>\\S+)(?: at (?<urls>\\S+)|' +
    ' (?<what>\\S+)(?: of (?<of>\\S+))?(?: named (?<named>\\S+))?)$',
);

/** @throws Error for a text that is no rule. */
export function ruleOf(text: string): PolicyRule {
  const parts = form.exec(text);
  invariant(parts?.groups !== undefined, `"${text}" is no rule`);
  const { verbs = '', urls, what, of = 'core', named } = parts.groups;
  return {
    verbs: listOf(verbs).flatMap((verb) => verbSets[verb] ?? [verb]),
    apiGroups: what === undefined ? [] : listOf(of).map((group) => (group === 'core' ? '' : group)),
    resources: listOf(what),
    resourceNames: listOf(named),
    nonResourceURLs: listOf(urls),
  };
}

const listOf = (text: string | undefined): readonly string[] => text?.split(',') ?? [];
