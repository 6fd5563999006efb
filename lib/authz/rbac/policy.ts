// Roles and bindings as they are now, by subject: what a question costs depends on the bindings of
// who asks, not on those of the cluster. An object is held once, and forgotten with its deletion.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { serviceAccountUser } from '../../base/user.ts';
import type { User } from '../../base/user.ts';
import { objectKey } from '../../cacher/followed-objects.ts';
import type { ItemKey } from '../../cacher/resource-view.ts';
import { rulesOf } from '../../kinds/rbac/policy-rules.ts';
import type { PolicyRule } from '../../kinds/rbac/policy-rules.ts';

export interface Subject {
  readonly kind: string;
  readonly name: string;
  /** Of a ServiceAccount; '' for others, and where it is the binding's. */
  readonly namespace: string;
}

export interface Binding {
  /** '' for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly name: string;
  /** Role or ClusterRole; of any other there are no rules. */
  readonly roleKind: string;
  readonly roleName: string;
  readonly subjects: readonly Subject[];
  /** Where the rules of its role are; undefined: there can be none. */
  readonly roleKey: string | undefined;
}

/** Bindings by namespace ('' for the whole cluster). */
type ByNamespace = Map<string, Set<Binding>>;

export class RbacPolicy {
  readonly #rules = new Map<string, readonly PolicyRule[]>();
  readonly #bindings = new Map<string, Binding>();
  readonly #byUser = new Map<string, ByNamespace>();
  readonly #byGroup = new Map<string, ByNamespace>();

  setRole(of: ItemKey, role: Readonly<JsonObject>): void {
    this.#rules.set(objectKey(of), rulesOf(role));
  }

  /** @param key as `objectKey` has it */
  removeRole(key: string): void {
    this.#rules.delete(key);
  }

  setBinding(of: ItemKey, object: Readonly<JsonObject>): void {
    const key = objectKey(of);
    this.removeBinding(key);
    const binding = bindingOf(of, object);
    this.#bindings.set(key, binding);
    for (const subject of binding.subjects) {
      const name = holderOf(subject, of.namespace);
      const index = this.#indexOf(subject);
      if (name === undefined || index === undefined) continue;
      const byNamespace = index.get(name) ?? new Map<string, Set<Binding>>();
      index.set(name, byNamespace);
      const bindings = byNamespace.get(of.namespace);
      if (bindings === undefined) byNamespace.set(of.namespace, new Set([binding]));
      else bindings.add(binding);
    }
  }

  removeBinding(key: string): void {
    const binding = this.#bindings.get(key);
    if (binding === undefined) return;
    this.#bindings.delete(key);
    for (const subject of binding.subjects) {
      const name = holderOf(subject, binding.namespace);
      const index = this.#indexOf(subject);
      const byNamespace = name === undefined ? undefined : index?.get(name);
      if (name === undefined || byNamespace === undefined) continue;
      const bindings = byNamespace.get(binding.namespace);
      bindings?.delete(binding);
      if (bindings?.size === 0) byNamespace.delete(binding.namespace);
      if (byNamespace.size === 0) index?.delete(name);
    }
  }

  /**
   * What is bound to the user in a namespace ('': in the whole cluster), the cluster's first: sets
   * as they are kept, so that a decision copies none.
   */
  boundTo(user: User, namespace: string): readonly ReadonlySet<Binding>[] {
    const bound: ReadonlySet<Binding>[] = [];
    this.#addBoundIn('', user, bound);
    if (namespace !== '') this.#addBoundIn(namespace, user, bound);
    return bound;
  }

  /** undefined: there is no such role. */
  rulesOf({ roleKey }: Binding): readonly PolicyRule[] | undefined {
    return roleKey === undefined ? undefined : this.#rules.get(roleKey);
  }

  #addBoundIn(namespace: string, user: User, bound: ReadonlySet<Binding>[]): void {
    const ofUser = this.#byUser.get(user.name)?.get(namespace);
    if (ofUser !== undefined) bound.push(ofUser);
    for (const group of user.groups) {
      const ofGroup = this.#byGroup.get(group)?.get(namespace);
      if (ofGroup !== undefined) bound.push(ofGroup);
    }
  }

  #indexOf({ kind }: Subject): Map<string, ByNamespace> | undefined {
    if (kind === 'Group') return this.#byGroup;
    return kind === 'User' || kind === 'ServiceAccount' ? this.#byUser : undefined;
  }
}

function bindingOf({ namespace, name }: ItemKey, object: Readonly<JsonObject>): Binding {
  const role = recordAt(object, 'roleRef');
  const [roleKind, roleName] = [textAt(role, 'kind'), textAt(role, 'name')];
  return {
    namespace,
    name,
    roleKind,
    roleName,
    subjects: recordsAt(object, 'subjects').map((subject) => ({
      kind: textAt(subject, 'kind'),
      name: textAt(subject, 'name'),
      namespace: textAt(subject, 'namespace'),
    })),
    roleKey: roleKeyOf(namespace, roleKind, roleName),
  };
}

function roleKeyOf(namespace: string, kind: string, name: string): string | undefined {
  if (kind === 'ClusterRole') return objectKey({ namespace: '', name });
  return kind === 'Role' && namespace !== '' ? objectKey({ namespace, name }) : undefined;
}

/** The name of the user or group; undefined: it is nobody. */
function holderOf({ kind, name, namespace }: Subject, ofBinding: string): string | undefined {
  if (kind !== 'ServiceAccount') return name;
  const where = namespace === '' ? ofBinding : namespace;
  return where === '' ? undefined : serviceAccountUser(where, name);
}

/** The first of a binding's subjects that the user is, as the reason of a decision names it. */
export function subjectText(binding: Binding, { name: user, groups }: User): string {
  const subject = binding.subjects.find((one) => {
    const holder = holderOf(one, binding.namespace);
    if (holder === undefined) return false;
    if (one.kind === 'Group') return groups.includes(holder);
    return (one.kind === 'User' || one.kind === 'ServiceAccount') && holder === user;
  });
  if (subject === undefined) return '';
  const { kind, name } = subject;
  if (kind !== 'ServiceAccount') return `${kind} ${JSON.stringify(name)}`;
  const namespace = subject.namespace === '' ? binding.namespace : subject.namespace;
  return `${kind} ${JSON.stringify(`${name}/${namespace}`)}`;
}
