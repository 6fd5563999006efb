// What a webhook, a policy or a binding says of the requests that it is for, compiled once: rules,
// selectors, whether other versions of a resource are the same, and what is left out.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject, ResourceInfo } from '../../api/type-info.ts';
import { matchRule, waysOf } from './rules.ts';
import type { Action, MatchRule, Way } from './rules.ts';
import { compileSelector } from './selector.ts';
import type { Selector } from './selector.ts';

export interface Criteria {
  readonly namespaceSelector: Selector;
  readonly objectSelector: Selector;
  /** undefined: every request. */
  readonly rules: readonly MatchRule[] | undefined;
  readonly exclusions: readonly MatchRule[];
  /** Other versions and groups of the resource are tried, too. */
  readonly isEquivalent: boolean;
}

/** Of a webhook: without rules it is for nothing. */
export const webhookCriteria = (webhook: JsonObject): Criteria =>
  criteriaOf(webhook, recordsAt(webhook, 'rules'));

/** `matchConstraints` of a policy, `matchResources` of a binding: without rules for everything. */
export function resourcesCriteria(resources: Readonly<JsonObject> | undefined): Criteria {
  const rules = recordsAt(resources, 'resourceRules');
  return criteriaOf(resources ?? {}, rules.length === 0 ? undefined : rules);
}

const criteriaOf = (
  from: Readonly<JsonObject>,
  rules: readonly JsonObject[] | undefined,
): Criteria => ({
  namespaceSelector: compileSelector(recordAt(from, 'namespaceSelector')),
  objectSelector: compileSelector(recordAt(from, 'objectSelector')),
  rules: rules?.map(matchRule),
  exclusions: recordsAt(from, 'excludeResourceRules').map(matchRule),
  isEquivalent: textAt(from, 'matchPolicy') === 'Equivalent',
});

/** How requests that do the same may fit; the name of the object decides among `ways`. */
export interface Fit {
  /** Best first. */
  readonly ways: readonly Way[];
  /** A name that one of these has is left out. */
  readonly exclusions: readonly Way[];
}

/** Undefined: no request that does this fits, whatever it names. */
export function fitOf(
  criteria: Criteria,
  action: Action,
  equivalents: readonly ResourceInfo[],
): Fit | undefined {
  const others = criteria.isEquivalent ? equivalents : [];
  const ways = criteria.rules === undefined ? [asNamed] : waysOf(criteria.rules, action, others);
  if (ways.length === 0) return undefined;
  const exclusions = waysOf(criteria.exclusions, action, others);
  if (exclusions.some(({ names }) => names.length === 0)) return undefined;
  return { ways, exclusions };
}

const asNamed: Way = { names: [], as: undefined };

/** The way in which a request of this name fits; undefined: it does not. */
export function wayFor({ ways, exclusions }: Fit, name: string): Way | undefined {
  for (const { names } of exclusions) if (names.includes(name)) return undefined;
  for (const way of ways) if (way.names.length === 0 || way.names.includes(name)) return way;
  return undefined;
}
