// What roles and bindings allow, worked out naively over all of them, and random ones to ask about:
// for suites and the fuzzer, which compare the policy with it.
import { Random } from '../../../../scripts/fuzz/random.ts';
import { namingProfile } from '../../../api/vendor.ts';
import { textAt } from '../../../api/json-access.ts';
import type { JsonObject } from '../../../api/type-info.ts';
import type { Item } from '../../../cacher/resource-view.ts';
import { attributesOf } from '../../testing/attributes.ts';
import type { Attributes, Decision } from '../../authorizer.ts';
import { bindingFollower, roleFollower } from '../follow-policy.ts';
import { RbacPolicy } from '../policy.ts';
import { rbacAuthorizer } from '../rbac.ts';

const naming = namingProfile('svc');
const group = 'rbac.authorization.svc.io';
const names = ['x', 'y', 'z', '__proto__', 'constructor'];
const namespaces = ['', 'a', 'b'];
const users = ['x', 'y', 'system:serviceaccount:a:x', 'system:serviceaccount:b:y', ''];
const groups = ['x', 'g', 'h', '__proto__'];
const verbs = ['get', 'list', 'create', '*'];
const apiGroups = ['', 'apps', '*'];
const resources = ['pods', 'pods/log', '*/log', '*', 'services', 'pods/*', 'Pods', ''];
const urls = ['/a', '/a/*', '/a*', '*', '/a/b', '/', '/a/**', ''];
const asked = {
  resources: ['pods', 'services', '*'],
  subresources: ['', 'log', '*'],
  paths: ['/a', '/a/b', '/', '/b', '/a/', '/a*', '/a/**'],
};

interface Stored {
  readonly namespace: string;
  readonly name: string;
  readonly object: JsonObject;
}

/** Everything that was set and not removed, as lists. */
class NaivePolicy {
  readonly roles = new Map<string, Stored>();
  readonly bindings = new Map<string, Stored>();

  /** Reasons that would do; and what is missing where none does. */
  decide(of: Attributes): { readonly reasons: string[]; readonly missing: string[] } {
    const reasons: string[] = [];
    const missing = new Set<string>();
    for (const { namespace, name, object } of this.bindings.values()) {
      if (namespace !== '' && namespace !== of.namespace) continue;
      const subjects = object['subjects'] as JsonObject[];
      const subject = subjects.find((one) => isSubject(one, namespace, of));
      if (subject === undefined) continue;
      const { kind, name: roleName } = object['roleRef'] as { kind: string; name: string };
      const where = kind === 'Role' ? namespace : '';
      const hasNone = kind === 'Role' && namespace === '';
      const role = hasNone ? undefined : this.roles.get(`${where}/${roleName}`);
      if (role === undefined) {
        missing.add(`${kind.toLowerCase()}.${group} "${roleName}" not found`);
        continue;
      }
      if (!(role.object['rules'] as JsonObject[]).some((rule) => isAllowed(rule, of))) continue;
      const by =
        namespace === '' ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`;
      reasons.push(
        `RBAC: allowed by ${by} of ${kind} "${roleName}" to ${told(subject, namespace)}`,
      );
    }
    return { reasons, missing: [...missing] };
  }
}

function isSubject(subject: JsonObject, namespace: string, { user }: Attributes): boolean {
  if (subject['kind'] === 'User') return subject['name'] === user.name;
  if (subject['kind'] === 'Group') return user.groups.some((one) => one === subject['name']);
  const where = (subject['namespace'] ?? namespace) as string;
  return where !== '' && user.name === `system:serviceaccount:${where}:${textAt(subject, 'name')}`;
}

const told = (subject: JsonObject, namespace: string): string => {
  const [kind, name] = [textAt(subject, 'kind'), textAt(subject, 'name')];
  if (kind !== 'ServiceAccount') return `${kind} "${name}"`;
  return `${kind} "${name}/${textAt(subject, 'namespace') || namespace}"`;
};

function isAllowed(rule: JsonObject, of: Attributes): boolean {
  const list = (member: string): string[] => (rule[member] ?? []) as string[];
  const isIn = (member: string, ...values: string[]): boolean =>
    list(member).some((one) => values.some((value) => one === value));
  if (!isIn('verbs', of.verb, '*')) return false;
  if (!of.isResourceRequest) {
    return list('nonResourceURLs').some((url) => {
      const start = /^(.*?)\*+$/.exec(url)?.[1];
      return url === of.path || (start !== undefined && of.path.startsWith(start));
    });
  }
  const { resource, subresource } = of;
  const forms =
    subresource === '' ? [resource, '*'] : [`${resource}/${subresource}`, `*/${subresource}`, '*'];
  return (
    isIn('apiGroups', of.group, '*') &&
    isIn('resources', ...forms) &&
    (list('resourceNames').length === 0 || isIn('resourceNames', of.name))
  );
}

/** Changes of roles and bindings in a random order, seen by a policy and by the naive one. */
class RandomCluster {
  readonly naive = new NaivePolicy();
  readonly policy = new RbacPolicy();
  readonly #random: Random;
  readonly #followers = {
    roles: roleFollower(this.policy),
    bindings: bindingFollower(this.policy),
  };

  constructor(random: Random) {
    this.#random = random;
  }

  change(): void {
    const random = this.#random;
    const kind = random.of(['roles', 'bindings', 'bindings'] as const);
    if (random.below(12) === 0) {
      this.#restart(kind);
      return;
    }
    const stored = kind === 'roles' ? this.#role() : this.#binding();
    const key = `${stored.namespace}/${stored.name}`;
    const isThere = this.naive[kind].has(key);
    if (random.below(4) === 0) {
      // A deletion is told with its last state; that of what is not there is none.
      if (isThere) this.#followers[kind].absent(itemOf(stored));
      this.naive[kind].delete(key);
      return;
    }
    const isUnreadable = random.below(20) === 0;
    this.#followers[kind].present(itemOf(stored, isUnreadable));
    if (isUnreadable) this.naive[kind].delete(key);
    else this.naive[kind].set(key, stored);
  }

  /** The state comes again, without what went meanwhile and with changes. */
  #restart(kind: 'roles' | 'bindings'): void {
    const follower = this.#followers[kind];
    const held = this.naive[kind];
    follower.restarted();
    for (const key of [...held.keys()]) {
      if (this.#random.below(3) === 0) held.delete(key);
    }
    // Another restart may cut the state off.
    const isCut = this.#random.below(3) === 0;
    for (const stored of held.values()) {
      if (isCut && this.#random.below(2) === 0) break;
      follower.present(itemOf(stored));
    }
    if (isCut) {
      follower.restarted();
      for (const stored of held.values()) follower.present(itemOf(stored));
    }
    follower.synced();
  }

  ask(): Attributes {
    const random = this.#random;
    const user = {
      name: random.of(users),
      uid: '',
      groups: some(random, groups, 2),
      extra: {},
    };
    const isResourceRequest = random.below(3) > 0;
    return attributesOf({
      user,
      isResourceRequest,
      verb: random.of(verbs),
      ...(isResourceRequest
        ? {
            group: random.of(['', 'apps', '*']),
            resource: random.of(asked.resources),
            subresource: random.of(asked.subresources),
            namespace: random.of(namespaces),
            name: random.of(['', ...names]),
          }
        : { path: random.of(asked.paths) }),
    });
  }

  #role(): Stored {
    const random = this.#random;
    const rules = Array.from({ length: random.below(3) }, () =>
      random.below(4) === 0
        ? { verbs: some(random, verbs, 2), nonResourceURLs: some(random, urls, 2) }
        : {
            verbs: some(random, verbs, 2),
            apiGroups: some(random, apiGroups, 2),
            resources: some(random, resources, 2),
            ...(random.below(3) === 0 ? { resourceNames: some(random, names, 2) } : {}),
          },
    );
    return { namespace: random.of(namespaces), name: random.of(names), object: { rules } };
  }

  #binding(): Stored {
    const random = this.#random;
    const namespace = random.of(namespaces);
    const subjects = Array.from({ length: random.below(3) }, (): JsonObject => {
      const kind = random.of(['User', 'Group', 'ServiceAccount']);
      const where = kind === 'ServiceAccount' && random.below(2) === 0 ? { namespace: 'a' } : {};
      return { kind, name: random.of(kind === 'Group' ? groups : users.concat(names)), ...where };
    });
    const roleRef = { kind: random.of(['Role', 'ClusterRole']), name: random.of(names) };
    return { namespace, name: random.of(names), object: { subjects, roleRef } };
  }
}

const some = (random: Random, of: readonly string[], max: number): string[] =>
  Array.from({ length: random.below(max + 1) }, () => random.of(of));

/** As much of an item as who follows roles looks at. */
const itemOf = ({ namespace, name, object }: Stored, corrupted = false): Item =>
  ({
    namespace,
    name,
    corrupted,
    object: () => object,
    objectOnce: () => object,
  }) as unknown as Item;

const signal = new AbortController().signal;

/** Of a random history and random questions about it, what is decided otherwise than naively. */
export function findInDecisions(
  seed: number,
  { changes, questions }: { readonly changes: number; readonly questions: number },
): string | undefined {
  const cluster = new RandomCluster(new Random(seed));
  const authorizer = rbacAuthorizer(cluster.policy, naming);
  for (let done = 0; done < changes; done += 1) cluster.change();
  for (let done = 0; done < questions; done += 1) {
    const attributes = cluster.ask();
    const decision = authorizer.authorize(attributes, signal) as Decision;
    const { reasons, missing } = cluster.naive.decide(attributes);
    if (isRight(decision, reasons, missing)) continue;
    const expected = JSON.stringify({ reasons, missing });
    return `${JSON.stringify(attributes)}: ${JSON.stringify(decision)}, expected ${expected}`;
  }
  return undefined;
}

function isRight({ effect, reason }: Decision, reasons: string[], missing: string[]): boolean {
  if (reasons.length > 0) return effect === 'allow' && reasons.includes(reason);
  if (effect !== 'noOpinion') return false;
  if (missing.length === 0) return reason === '';
  const text = missing.length === 1 ? (missing[0] ?? '') : undefined;
  if (text !== undefined) return reason === `RBAC: ${text}`;
  const parts = reason
    .replace(/^RBAC: \[/, '')
    .replace(/\]$/, '')
    .split(', ');
  return JSON.stringify(parts.sort()) === JSON.stringify([...missing].sort());
}
