// Roles and bindings as they are now, by subject: what a question costs depends on the bindings of
// who asks, not on those of the cluster. An object is held once, and forgotten with its deletion.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { serviceAccountUser } from '../../base/user.ts';
import type { User } from '../../base/user.ts';
import { rulesOf } from './rules.ts';
import type { PolicyRule } from './rules.ts';

export type RoleKind = 'Role' | 'ClusterRole';

export interface Subject {
  readonly kind: string;
  readonly name: string;
  /** Of a ServiceAccount; '' for others. */
  readonly namespace: string;
}

export interface Binding {
  /** '' for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly name: string;
  readonly roleKind: RoleKind;
  readonly roleName: string;
  readonly subjects: readonly Subject[];
}

/** Rules by binding; undefined: there is no such role. */
export interface Granted {
  readonly binding: Binding;
  readonly rules: readonly PolicyRule[] | undefined;
}

interface Named {
  readonly namespace: string;
  readonly name: string;
}

const keyOf = ({ namespace, name }: Named): string => `${namespace}/${name}`;

export class RbacPolicy {
  /** Roles by namespace and name; cluster roles have no namespace. */
  readonly #rules = new Map<string, readonly PolicyRule[]>();
  readonly #bindings = new Map<string, Binding>();
  /** By subject, then by namespace ('' for the whole cluster). */
  readonly #bySubject = new Map<string, Map<string, Set<Binding>>>();

  setRole(of: Named, role: Readonly<JsonObject>): void {
    this.#rules.set(keyOf(of), rulesOf(role));
  }

  removeRole(of: Named): void {
    this.#rules.delete(keyOf(of));
  }

  setBinding(of: Named, object: Readonly<JsonObject>): void {
    this.removeBinding(of);
    const binding = bindingOf(of, object);
    this.#bindings.set(keyOf(of), binding);
    for (const subject of subjectKeys(binding)) {
      const byNamespace = this.#bySubject.get(subject) ?? new Map<string, Set<Binding>>();
      this.#bySubject.set(subject, byNamespace);
      const bindings = byNamespace.get(of.namespace);
      if (bindings === undefined) byNamespace.set(of.namespace, new Set([binding]));
      else bindings.add(binding);
    }
  }

  removeBinding(of: Named): void {
    const binding = this.#bindings.get(keyOf(of));
    if (binding === undefined) return;
    this.#bindings.delete(keyOf(of));
    for (const subject of subjectKeys(binding)) {
      const byNamespace = this.#bySubject.get(subject);
      const bindings = byNamespace?.get(of.namespace);
      bindings?.delete(binding);
      if (bindings?.size === 0) byNamespace?.delete(of.namespace);
      if (byNamespace?.size === 0) this.#bySubject.delete(subject);
    }
  }

  /** What is bound to the user in a namespace ('': in the whole cluster), the cluster's first. */
  *grantedTo(user: User, namespace: string): Generator<Granted> {
    yield* this.#boundIn('', user);
    if (namespace !== '') yield* this.#boundIn(namespace, user);
  }

  /** undefined: there is no such role. */
  rulesOf(
    binding: Pick<Binding, 'namespace' | 'roleKind' | 'roleName'>,
  ): readonly PolicyRule[] | undefined {
    const namespace = binding.roleKind === 'Role' ? binding.namespace : '';
    return this.#rules.get(keyOf({ namespace, name: binding.roleName }));
  }

  *#boundIn(namespace: string, user: User): Generator<Granted> {
    for (const binding of this.#bindingsOf(userKey(user.name), namespace)) {
      yield { binding, rules: this.rulesOf(binding) };
    }
    for (const group of user.groups) {
      for (const binding of this.#bindingsOf(groupKey(group), namespace)) {
        yield { binding, rules: this.rulesOf(binding) };
      }
    }
  }

  #bindingsOf(subject: string, namespace: string): ReadonlySet<Binding> {
    return this.#bySubject.get(subject)?.get(namespace) ?? nothing;
  }
}

const nothing: ReadonlySet<Binding> = new Set();

const userKey = (name: string): string => `u${name}`;
const groupKey = (name: string): string => `g${name}`;

function bindingOf({ namespace, name }: Named, object: Readonly<JsonObject>): Binding {
  const role = recordAt(object, 'roleRef');
  return {
    namespace,
    name,
    roleKind: textAt(role, 'kind') === 'Role' ? 'Role' : 'ClusterRole',
    roleName: textAt(role, 'name'),
    subjects: recordsAt(object, 'subjects').map((subject) => ({
      kind: textAt(subject, 'kind'),
      name: textAt(subject, 'name'),
      namespace: textAt(subject, 'namespace'),
    })),
  };
}

const subjectKeys = ({ namespace, subjects }: Binding): Set<string> =>
  new Set(subjects.map((subject) => subjectKey(subject, namespace)).filter((key) => key !== ''));

/** '' where it is nobody. A service account without a namespace is of the binding's. */
function subjectKey(subject: Subject, bindingNamespace: string): string {
  switch (subject.kind) {
    case 'User':
      return userKey(subject.name);
    case 'Group':
      return groupKey(subject.name);
    case 'ServiceAccount': {
      const namespace = subject.namespace === '' ? bindingNamespace : subject.namespace;
      return namespace === '' ? '' : userKey(serviceAccountUser(namespace, subject.name));
    }
    default:
      return '';
  }
}

/** The first of a binding's subjects that the user is, as the reason of a decision names it. */
export function subjectText(binding: Binding, user: User): string {
  const keys = new Set([userKey(user.name), ...user.groups.map(groupKey)]);
  const subject = binding.subjects.find((one) => keys.has(subjectKey(one, binding.namespace)));
  if (subject === undefined) return '';
  const { kind, name, namespace } = subject;
  return `${kind} ${JSON.stringify(kind === 'ServiceAccount' ? `${name}/${namespace}` : name)}`;
}
