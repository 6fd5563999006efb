// Which rules of the API may concern the writes of a place, told roughly and without judging: who
// was judged need not be judged anew where only rules that concern others have changed.
import { recordAt, recordsAt, textAt } from '../api/json-access.ts';
import type { JsonObject, ResourceInfo } from '../api/type-info.ts';
import type { Item, ResourceView } from '../cacher/resource-view.ts';
import { matchRule } from './match/rules.ts';
import type { MatchRule } from './match/rules.ts';
import { compileSelector } from './match/selector.ts';
import type { Labels, Selector } from './match/selector.ts';

/** Where a write goes: all forms of one resource, in one namespace; '': in none. */
export interface Place {
  readonly resources: readonly Pick<ResourceInfo, 'group' | 'resource'>[];
  readonly namespace: string;
  /** Of the object as it will be, and as it was; absent: not known. */
  readonly labels?: readonly Labels[] | undefined;
}

/** What memory had of all kinds of rules at one moment. */
export interface RuleSnapshot {
  readonly webhooks: readonly (readonly Item[])[];
  readonly policies: readonly PolicySet[];
}

interface PolicySet {
  readonly policies: readonly Item[];
  readonly bindings: readonly Item[];
}

type Rules = Pick<ResourceView, 'all'>;

export interface RuleViews {
  readonly webhooks: readonly Rules[];
  readonly policies: readonly { readonly policies: Rules; readonly bindings: Rules }[];
}

/** Of one webhook or policy. */
interface Matching {
  readonly rules: readonly MatchRule[];
  readonly namespaces: Selector;
  readonly objects: Selector;
}

const known = new WeakMap<Item, readonly Matching[]>();

/** @throws StatusError 429 while memory is filled. */
export const ruleSnapshot = ({ webhooks, policies }: RuleViews): RuleSnapshot => ({
  webhooks: webhooks.map((view) => view.all()),
  policies: policies.map((set) => ({
    policies: set.policies.all(),
    bindings: set.bindings.all(),
  })),
});

/**
 * A text that is the same for two snapshots only where all rules that may concern the place are.
 * `labels` are those of its namespace; undefined: not known, or none.
 */
export function concerningRules(
  { webhooks, policies }: RuleSnapshot,
  place: Place,
  labels: Labels,
): string {
  const found: string[] = [];
  const isConcerning = (item: Item): boolean =>
    matchingsOf(item).some((matching) => concerns(matching, place, labels));
  for (const [at, items] of webhooks.entries()) {
    for (const item of items) if (isConcerning(item)) found.push(named(`w${String(at)}`, item));
  }
  for (const [at, set] of policies.entries()) {
    const names = new Set<string>();
    for (const item of set.policies) {
      if (!isConcerning(item)) continue;
      names.add(item.name);
      found.push(named(`p${String(at)}`, item));
    }
    for (const item of set.bindings) {
      if (item.corrupted || names.has(textAt(recordAt(item.object(), 'spec'), 'policyName'))) {
        found.push(named(`b${String(at)}`, item));
      }
    }
  }
  return found.join(' ');
}

const named = (kind: string, { name, revision }: Item): string =>
  `${kind}/${name}@${String(revision)}`;

function matchingsOf(item: Item): readonly Matching[] {
  let made = known.get(item);
  if (made === undefined) {
    made = item.corrupted ? [] : matchings(item.object());
    known.set(item, made);
  }
  return made;
}

function matchings(object: Readonly<JsonObject>): readonly Matching[] {
  const spec = recordAt(object, 'spec');
  const constraints = recordAt(spec, 'matchConstraints');
  if (spec !== undefined) return [matchingOf(constraints, 'resourceRules')];
  return recordsAt(object, 'webhooks').map((webhook) => matchingOf(webhook, 'rules'));
}

const matchingOf = (from: Readonly<JsonObject> | undefined, member: string): Matching => ({
  rules: recordsAt(from, member).map(matchRule),
  namespaces: compileSelector(recordAt(from, 'namespaceSelector')),
  objects: compileSelector(recordAt(from, 'objectSelector')),
});

function concerns(matching: Matching, place: Place, labels: Labels): boolean {
  const { rules, namespaces, objects } = matching;
  if (!rules.some((rule) => place.resources.some((one) => isFor(rule, one)))) return false;
  const isOfNamespace = place.namespace !== '' && labels !== undefined;
  try {
    if (isOfNamespace && !namespaces.matches(labels)) return false;
    return objects.isEmpty || (place.labels?.some((one) => objects.matches(one)) ?? true);
  } catch {
    return true; // it is refused by the one who judges
  }
}

const isFor = (
  { groups, resources }: MatchRule,
  { group, resource }: Place['resources'][number],
): boolean =>
  (groups.includes('*') || groups.includes(group)) &&
  resources.some((one) => one.resource === '*' || one.resource === resource);
