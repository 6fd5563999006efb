// What the rules of a role grant, and which rules hold all that another one grants (specification
// 3, RBAC objects and RBAC rules). Pure.
import { recordsAt, textsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { sortUtf8 } from '../../base/utf8-order.ts';

/** A rule about resources has no URLs, one about URLs nothing but verbs beside them. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  /** `pods`, `pods/log`, `*`, or a subresource of every resource: `*` + `/scale`. */
  readonly resources: readonly string[];
  /** Empty: objects of every name. */
  readonly resourceNames: readonly string[];
  /** One that ends in `*` is of all paths that begin so. */
  readonly nonResourceURLs: readonly string[];
}

/** Of a Role or ClusterRole. */
export const rulesOf = (role: Readonly<JsonObject>): readonly PolicyRule[] =>
  recordsAt(role, 'rules').map((rule) => ({
    verbs: textsAt(rule, 'verbs'),
    apiGroups: textsAt(rule, 'apiGroups'),
    resources: textsAt(rule, 'resources'),
    resourceNames: textsAt(rule, 'resourceNames'),
    nonResourceURLs: textsAt(rule, 'nonResourceURLs'),
  }));

/** `*` in the list is every value. */
export const hasOrAll = (list: readonly string[], value: string): boolean =>
  list.includes(value) || list.includes('*');

export function hasResource(
  list: readonly string[],
  resource: string,
  subresource: string,
): boolean {
  if (list.includes('*')) return true;
  if (subresource === '') return list.includes(resource);
  return list.includes(`${resource}/${subresource}`) || list.includes(`*/${subresource}`);
}

/** One that ends in `*` covers all paths that begin so, and itself. */
export const coversUrl = (urls: readonly string[], path: string): boolean =>
  urls.some((url) => url === path || (url.endsWith('*') && path.startsWith(withoutStars(url))));

function withoutStars(url: string): string {
  let end = url.length;
  while (end > 0 && url[end - 1] === '*') end -= 1;
  return url.slice(0, end);
}

/**
 * What of `wanted` the rules of `held` do not allow, in rules of one verb, one resource (or URL)
 * and at most one name each. Empty: who holds `held` may give `wanted` to others.
 */
export function notHeld(
  held: readonly PolicyRule[],
  wanted: readonly PolicyRule[],
): readonly PolicyRule[] {
  return wanted.flatMap((rule) =>
    [...simpleRules(rule)].filter((one) => !held.some((owned) => covers(owned, one))),
  );
}

function* simpleRules(rule: PolicyRule): Generator<PolicyRule> {
  const names = rule.resourceNames.length === 0 ? [[]] : rule.resourceNames.map((name) => [name]);
  for (const group of rule.apiGroups) {
    for (const resource of rule.resources) {
      for (const verb of rule.verbs) {
        for (const resourceNames of names) {
          const of = { apiGroups: [group], resources: [resource], resourceNames };
          yield { verbs: [verb], ...of, nonResourceURLs: [] };
        }
      }
    }
  }
  for (const url of rule.nonResourceURLs) {
    for (const verb of rule.verbs) {
      const none = { apiGroups: [], resources: [], resourceNames: [] };
      yield { verbs: [verb], ...none, nonResourceURLs: [url] };
    }
  }
}

/** `wanted` is a simple rule: a wildcard in it is held by a wildcard alone. */
function covers(held: PolicyRule, wanted: PolicyRule): boolean {
  const [verb = ''] = wanted.verbs;
  if (!hasOrAll(held.verbs, verb)) return false;
  const [url] = wanted.nonResourceURLs;
  if (url !== undefined) return coversUrl(held.nonResourceURLs, url);
  const [group = ''] = wanted.apiGroups;
  const [whole = ''] = wanted.resources;
  const slash = whole.indexOf('/');
  const resource = slash < 0 ? whole : whole.slice(0, slash);
  const subresource = slash < 0 ? '' : whole.slice(slash + 1);
  const [name] = wanted.resourceNames;
  const hasName =
    held.resourceNames.length === 0 || (name !== undefined && held.resourceNames.includes(name));
  return (
    hasOrAll(held.apiGroups, group) && hasResource(held.resources, resource, subresource) && hasName
  );
}

/** The rules of `notHeld`, those about one resource in one. */
export function together(simple: readonly PolicyRule[]): readonly PolicyRule[] {
  const byResource = new Map<string, { readonly rule: PolicyRule; readonly verbs: string[] }>();
  for (const [at, rule] of simple.entries()) {
    // Rules about URLs stay on their own.
    const key = rule.nonResourceURLs.length > 0 ? String(at) : textOf({ ...rule, verbs: [] });
    const known = byResource.get(key);
    if (known === undefined) byResource.set(key, { rule, verbs: [...rule.verbs] });
    else known.verbs.push(...rule.verbs);
  }
  return [...byResource.values()].map(({ rule, verbs }) => ({ ...rule, verbs }));
}

/** As a refusal lists them, sorted: `{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`. */
export const ruleTexts = (rules: readonly PolicyRule[]): readonly string[] =>
  sortUtf8([...new Set(rules.map(textOf))]);

function textOf(rule: PolicyRule): string {
  const parts: (readonly [string, readonly string[]])[] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const given = parts.filter(([, values]) => values.length > 0);
  return `{${given.map(([name, values]) => `${name}:${quotedList(values)}`).join(', ')}}`;
}

/** `["a" "b"]`, as Go prints a list. */
export const quotedList = (texts: readonly string[]): string =>
  `[${texts.map((text) => JSON.stringify(text)).join(' ')}]`;
