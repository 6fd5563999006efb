// Which rules of the API may concern the writes of a place, told roughly and without judging: who
// was judged need not be judged anew where only rules that concern others have changed.
import { recordAt, recordIn, recordsAt, textAt } from '../api/json-access.ts';
import type { GroupVersionKind, JsonObject, ResourceInfo } from '../api/type-info.ts';
import type { Item, ResourceView } from '../cacher/resource-view.ts';
import { resourcesCriteria, webhookCriteria } from './match/criteria.ts';
import type { Criteria } from './match/criteria.ts';
import type { MatchRule } from './match/rules.ts';
import type { Labels } from './match/selector.ts';

/** Where a write goes: all forms of one resource, in one namespace; '': in none. */
export interface Place {
  readonly resources: readonly Pick<ResourceInfo, 'group' | 'resource'>[];
  readonly namespace: string;
  /** Of the object as it will be, and as it was; absent: not known. */
  readonly labels?: readonly Labels[] | undefined;
}

/** Where an object is stored, and what it is served as. */
export interface StoredPlace extends Place {
  readonly resources: readonly Pick<ResourceInfo, 'group' | 'resource' | 'kind'>[];
}

/** What memory had of all kinds of rules at one moment. */
export interface RuleSnapshot {
  readonly webhooks: readonly WebhookSet[];
  readonly policies: readonly PolicySet[];
}

interface Mutating {
  /** They are asked about labels that others may take away before the object is written. */
  readonly isMutating: boolean;
}

interface WebhookSet extends Mutating {
  readonly configurations: readonly Item[];
}

interface PolicySet extends Mutating {
  readonly policies: readonly Item[];
  readonly bindings: readonly Item[];
}

type Rules = Pick<ResourceView, 'all'>;

export interface RuleViews<View = Rules> {
  readonly webhooks: readonly (Mutating & { readonly configurations: View })[];
  readonly policies: readonly (Mutating & { readonly policies: View; readonly bindings: View })[];
}

/** `paramKind` of a policy, `group/version Kind`; '': it has none. */
const paramKindsKnown = new WeakMap<Item, string>();
const known = new WeakMap<Item, readonly Criteria[]>();

/** @throws StatusError 429 while memory is filled. */
export const ruleSnapshot = ({ webhooks, policies }: RuleViews): RuleSnapshot => ({
  webhooks: webhooks.map(({ isMutating, configurations }) => ({
    isMutating,
    configurations: configurations.all(),
  })),
  policies: policies.map((set) => ({
    isMutating: set.isMutating,
    policies: set.policies.all(),
    bindings: set.bindings.all(),
  })),
});

/** Of all policies: `group/version Kind` of what they take as parameters. */
export function paramKindsOf({ policies }: RuleSnapshot): ReadonlySet<string> {
  const kinds = new Set(policies.flatMap((set) => set.policies.map(paramKindOf)));
  kinds.delete('');
  return kinds;
}

/** As `paramKindsOf` has it. */
export const paramKindText = (kind: Readonly<GroupVersionKind>): string =>
  `${kind.group === '' ? '' : `${kind.group}/`}${kind.version} ${kind.kind}`;

function paramKindOf(policy: Item): string {
  let text = paramKindsKnown.get(policy);
  if (text === undefined) {
    const kind = policy.corrupted ? undefined : recordIn(policy.object(), 'spec', 'paramKind');
    text = kind === undefined ? '' : `${textAt(kind, 'apiVersion')} ${textAt(kind, 'kind')}`;
    paramKindsKnown.set(policy, text);
  }
  return text;
}

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
  const isConcerning = (item: Item, { isMutating }: Mutating): boolean =>
    criteriaOf(item).some((criteria) =>
      concerns(criteria, isMutating ? { ...place, labels: undefined } : place, labels),
    );
  for (const [at, set] of webhooks.entries()) {
    for (const item of set.configurations) {
      if (isConcerning(item, set)) found.push(named(`w${String(at)}`, item));
    }
  }
  for (const [at, set] of policies.entries()) {
    const names = new Set<string>();
    for (const item of set.policies) {
      if (!isConcerning(item, set)) continue;
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

/** Of a policy, or of each webhook of a configuration. */
function criteriaOf(item: Item): readonly Criteria[] {
  let made = known.get(item);
  if (made === undefined) {
    made = item.corrupted ? [] : readCriteria(item.object());
    known.set(item, made);
  }
  return made;
}

function readCriteria(object: Readonly<JsonObject>): readonly Criteria[] {
  const spec = recordAt(object, 'spec');
  if (spec !== undefined) return [resourcesCriteria(recordAt(spec, 'matchConstraints'))];
  return recordsAt(object, 'webhooks').map(webhookCriteria);
}

function concerns(criteria: Criteria, place: Place, labels: Labels): boolean {
  const { rules, namespaceSelector, objectSelector } = criteria;
  const isForPlace = (rule: MatchRule): boolean => place.resources.some((one) => isFor(rule, one));
  if (rules?.some(isForPlace) === false) return false;
  const isOfNamespace = place.namespace !== '' && labels !== undefined;
  try {
    if (isOfNamespace && !namespaceSelector.matches(labels)) return false;
    if (objectSelector.isEmpty || place.labels === undefined) return true;
    return place.labels.some((one) => objectSelector.matches(one));
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
