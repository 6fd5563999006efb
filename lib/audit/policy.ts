// Which requests are recorded, how much of each and at which stages: the first rule that matches
// decides. Rules are indexed: a policy of a thousand of them costs hardly more than one of ten.
import type { User } from '../base/user.ts';

/** How much is recorded, least first. */
export const levels = ['None', 'Metadata', 'Request', 'RequestResponse'] as const;
export type Level = (typeof levels)[number];
/** How far a request has come when an event is made. */
export const stages = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'] as const;
export type Stage = (typeof stages)[number];

/** What rules are held against: as authorization sees the request. */
export interface AuditedRequest {
  readonly verb: string;
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly path: string;
}

/** What becomes of a request. */
export interface Outcome {
  readonly level: Level;
  readonly omittedStages: ReadonlySet<Stage>;
  /** Recorded objects are without `metadata.managedFields`. */
  readonly omitsManagedFields: boolean;
}

export interface GroupResources {
  readonly group: string;
  /** `pods`, `pods/log`, `pods/*`, `*` followed by `/log`, `*`; empty: all, subresources too. */
  readonly resources: readonly string[];
  /** Empty: all. */
  readonly resourceNames: readonly string[];
}

/** A rule; what is empty holds for everything. */
export interface PolicyRule {
  readonly users: readonly string[];
  readonly userGroups: readonly string[];
  readonly verbs: readonly string[];
  readonly resources: readonly GroupResources[];
  readonly namespaces: readonly string[];
  /** Paths; `*` at the end stands for anything. */
  readonly nonResourceURLs: readonly string[];
  readonly outcome: Outcome;
}

const unmatched: Outcome = { level: 'None', omittedStages: new Set(), omitsManagedFields: false };

export class AuditPolicy {
  readonly #rules: readonly PolicyRule[];
  readonly #users: Dimension;
  readonly #groups: Dimension;
  readonly #verbs: Dimension;
  readonly #namespaces: Dimension;
  readonly #resources: Dimension;
  /** Rules that paths may match, and resources may. */
  readonly #ofPaths: Bits;
  readonly #ofResources: Bits;

  constructor(rules: readonly PolicyRule[]) {
    this.#rules = rules;
    this.#users = dimensionOf(rules, ({ users }) => users);
    this.#groups = dimensionOf(rules, ({ userGroups }) => userGroups);
    this.#verbs = dimensionOf(rules, ({ verbs }) => verbs);
    this.#namespaces = dimensionOf(rules, ({ namespaces }) => namespaces);
    this.#resources = dimensionOf(rules, ({ resources }) => resources.flatMap(keysOf));
    this.#ofPaths = bitsOf(rules, (rule) => !isOfResources(rule));
    this.#ofResources = bitsOf(
      rules,
      (rule) => isOfResources(rule) || rule.nonResourceURLs.length === 0,
    );
  }

  /** @param user undefined: credentials were refused, nobody is known to ask */
  outcomeOf(request: AuditedRequest, user: User | undefined): Outcome {
    const users = this.#users.of(user?.name);
    const groups = (user?.groups ?? []).map((name) => this.#groups.of(name));
    const verbs = this.#verbs.of(request.verb);
    const { isResourceRequest } = request;
    const kinds = isResourceRequest ? this.#ofResources : this.#ofPaths;
    const namespaces = isResourceRequest ? this.#namespaces.of(request.namespace) : kinds;
    const resources = isResourceRequest ? this.#resourcesOf(request) : [];
    const anyGroup = this.#groups.any;
    const anyResource = isResourceRequest ? this.#resources.any : kinds;
    for (let word = 0; word < kinds.length; word++) {
      let bits = at(users, word) & at(verbs, word) & at(namespaces, word) & at(kinds, word);
      if (bits !== 0) bits &= unionAt(anyGroup, groups, word);
      if (bits !== 0) bits &= unionAt(anyResource, resources, word);
      while (bits !== 0) {
        const lowest = bits & -bits;
        const rule = this.#rules[word * wordBits + 31 - Math.clz32(lowest)];
        if (rule !== undefined && matches(rule, request, user)) return rule.outcome;
        bits ^= lowest;
      }
    }
    return unmatched;
  }

  #resourcesOf({ group, resource, subresource }: AuditedRequest): readonly Bits[] {
    const of = this.#resources;
    const found = [of.of(`${group}/`), of.of(`${group}/*`), of.of(`${group}/${resource}/*`)];
    if (subresource === '') return [...found, of.of(`${group}/${resource}`)];
    return [
      ...found,
      of.of(`${group}/${resource}/${subresource}`),
      of.of(`${group}/*/${subresource}`),
    ];
  }
}

// A set of rules is one bit a rule. A dimension knows for each value the rules that it may match:
// the intersection of all dimensions is nearly always the rule that is looked for, and what it
// cannot tell (names that belong to some of a rule's resources) `matches` does.
type Bits = Uint32Array;
const wordBits = 32;

interface Dimension {
  /** Rules that hold for every value. */
  readonly any: Bits;
  /** Those, and the ones that name the value. */
  of(value: string | undefined): Bits;
}

const at = (bits: Bits, word: number): number => bits[word] ?? 0;

function unionAt(any: Bits, others: readonly Bits[], word: number): number {
  let union = at(any, word);
  for (const bits of others) union |= at(bits, word);
  return union;
}

function bitsOf(rules: readonly PolicyRule[], has: (rule: PolicyRule) => boolean): Bits {
  const bits = new Uint32Array(Math.ceil(rules.length / wordBits));
  for (const [index, rule] of rules.entries()) if (has(rule)) add(bits, index);
  return bits;
}

function add(bits: Bits, index: number): void {
  const word = Math.floor(index / wordBits);
  bits[word] = at(bits, word) | (1 << (index % wordBits));
}

function dimensionOf(
  rules: readonly PolicyRule[],
  valuesOf: (rule: PolicyRule) => readonly string[],
): Dimension {
  const any = bitsOf(rules, (rule) => valuesOf(rule).length === 0);
  const byValue = new Map<string, Bits>();
  for (const [index, rule] of rules.entries()) {
    for (const value of valuesOf(rule)) {
      const bits = byValue.get(value) ?? any.slice();
      add(bits, index);
      byValue.set(value, bits);
    }
  }
  return { any, of: (value) => (value === undefined ? any : (byValue.get(value) ?? any)) };
}

const isOfResources = ({ namespaces, resources }: PolicyRule): boolean =>
  namespaces.length > 0 || resources.length > 0;

const keysOf = ({ group, resources }: GroupResources): readonly string[] =>
  resources.length === 0 ? [`${group}/`] : resources.map((name) => `${group}/${name}`);

const covers = (list: readonly string[], value: string): boolean =>
  list.length === 0 || list.includes(value);

function matches(rule: PolicyRule, request: AuditedRequest, user: User | undefined): boolean {
  const { users, userGroups, verbs } = rule;
  if (users.length > 0 && (user === undefined || !users.includes(user.name))) return false;
  if (userGroups.length > 0 && !userGroups.some((one) => user?.groups.includes(one) === true)) {
    return false;
  }
  if (!covers(verbs, request.verb)) return false;
  if (isOfResources(rule)) return matchesResource(rule, request);
  if (rule.nonResourceURLs.length === 0) return true;
  const { isResourceRequest, path } = request;
  return !isResourceRequest && rule.nonResourceURLs.some((url) => matchesPath(url, path));
}

const matchesPath = (url: string, path: string): boolean =>
  url.endsWith('*') ? path.startsWith(url.slice(0, -1)) : path === url;

function matchesResource({ namespaces, resources }: PolicyRule, request: AuditedRequest): boolean {
  if (!request.isResourceRequest || !covers(namespaces, request.namespace)) return false;
  if (resources.length === 0) return true;
  const { resource, subresource } = request;
  const whole = subresource === '' ? resource : `${resource}/${subresource}`;
  const isNamed = (name: string): boolean =>
    name === '*' ||
    name === whole ||
    name === `${resource}/*` ||
    (subresource !== '' && name === `*/${subresource}`);
  return resources.some(
    ({ group, resources: names, resourceNames }) =>
      group === request.group &&
      (names.length === 0 || (covers(resourceNames, request.name) && names.some(isNamed))),
  );
}
