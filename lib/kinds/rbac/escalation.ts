// Who may write a role: those who hold every right in it. Who may write a binding: those who hold
// every right of its role (specification 3, RBAC rules, escalation prevention). What is looked at
// is the object as it will be stored, whatever the form of the write.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { without } from '../../api/json-value.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { FieldError } from '../../base/status.ts';
import { forbidden, notFound } from '../../base/status.ts';
import { mastersGroup } from '../../base/user.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { KindOptions } from '../kind.ts';
import type { Permissions, ResourceStrategy, WriteContext } from '../strategy.ts';
import { notHeld, quotedList, rulesOf, ruleTexts, together } from './policy-rules.ts';
import type { PolicyRule } from './policy-rules.ts';
import type { HeldRules, RoleReference } from './held-rules.ts';

type Authorize = NonNullable<ResourceStrategy['authorize']>;
type Write = Pick<WriteContext, 'user'> & { readonly options: KindOptions };
type Stored = Readonly<ApiObject>;

const none: readonly FieldError[] = [];
const roleGroup = 'rbac.authorization.{v}';

export const roleStrategy = (options: KindOptions): ResourceStrategy => ({
  authorize: authorizeRole(options, 'roles'),
});

export const clusterRoleStrategy = (options: KindOptions): ResourceStrategy => ({
  authorize: authorizeRole(options, 'clusterroles'),
});

export const roleBindingStrategy = (options: KindOptions): ResourceStrategy => ({
  authorize: authorizeBinding(options, 'rolebindings'),
});

export const clusterRoleBindingStrategy = (options: KindOptions): ResourceStrategy => ({
  authorize: authorizeBinding(options, 'clusterrolebindings'),
});

function authorizeRole(options: KindOptions, resource: string): Authorize {
  return (role, old, context) => {
    const permissions = askedOf(role, old, context);
    if (permissions === undefined) return none;
    return mayWriteRole(role, old, { permissions, resource, write: { ...context, options } });
  };
}

function authorizeBinding(options: KindOptions, resource: string): Authorize {
  return (binding, old, context, { signal }) => {
    const permissions = askedOf(binding, old, context);
    if (permissions === undefined) return none;
    return mayBind(binding, {
      permissions,
      resource,
      write: { ...context, options },
      signal,
    });
  };
}

/** undefined: there is nothing to ask for. */
function askedOf(
  object: Stored,
  old: Stored | undefined,
  { user, permissions }: WriteContext,
): Permissions | undefined {
  if (permissions === undefined || user.groups.includes(mastersGroup)) return undefined;
  return old !== undefined && sameJson(judged(object), judged(old)) ? undefined : permissions;
}

/** Without what the garbage collector changes, and what the server keeps by itself. */
function judged(object: Stored): JsonObject {
  const metadata = without(
    recordAt(object, 'metadata') ?? {},
    'ownerReferences',
    'finalizers',
    'managedFields',
    'resourceVersion',
  );
  return { ...without(object, 'apiVersion', 'kind'), metadata };
}

interface Question {
  readonly permissions: Permissions;
  /** Plural, of what is written. */
  readonly resource: string;
  readonly write: Write;
}

/** Gathers whatever there is, and keeps others from tightening it. */
const everything: readonly PolicyRule[] = rulesOf({
  rules: [
    { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
    { verbs: ['*'], nonResourceURLs: ['*'] },
  ],
});

async function mayWriteRole(
  role: Stored,
  old: Stored | undefined,
  { permissions, resource, write }: Question,
): Promise<readonly FieldError[]> {
  if ((await permissions.refusalOf({ verb: 'escalate', subresource: '' })) === undefined) {
    return none;
  }
  mustHold(rulesOf(role), role, { resource, write });
  if (!isAggregated(role) && !isAggregated(old)) return none;
  const { rules } = heldIn(role, write);
  if (notHeld(rules, everything).length === 0) return none;
  throw refused(
    role,
    resource,
    write,
    'must have cluster-admin privileges to use the aggregationRule',
  );
}

const isAggregated = (role: Stored | undefined): boolean =>
  recordsAt(recordAt(role, 'aggregationRule'), 'clusterRoleSelectors').length > 0;

async function mayBind(
  binding: Stored,
  { permissions, resource, write, signal }: Question & { readonly signal: AbortSignal },
): Promise<readonly FieldError[]> {
  const role = referenceIn(binding);
  if (role === undefined) return none; // Validation refuses it, and it grants nothing.
  const of = role.kind === 'Role' ? 'roles' : 'clusterroles';
  const namespace = binding.metadata?.namespace ?? '';
  const bind = { verb: 'bind', resource: of, subresource: '', namespace, name: role.name };
  if ((await permissions.refusalOf(bind)) === undefined) return none;
  const { naming, rulesOfRole } = write.options;
  const rules = await rulesOfRole?.(role, signal);
  if (rules === undefined)
    throw notFound({ group: naming.resolve(roleGroup), resource }, role.name);
  mustHold(rules, binding, { resource, write });
  return none;
}

function referenceIn(binding: Stored): RoleReference | undefined {
  const reference = recordAt(binding, 'roleRef');
  const [kind, name] = [textAt(reference, 'kind'), textAt(reference, 'name')];
  if ((kind !== 'Role' && kind !== 'ClusterRole') || name === '') return undefined;
  const namespace = kind === 'Role' ? (binding.metadata?.namespace ?? '') : '';
  return kind === 'Role' && namespace === '' ? undefined : { kind, namespace, name };
}

/** @throws StatusError 403 that lists what the user lacks. */
function mustHold(
  rules: readonly PolicyRule[],
  object: Stored,
  { resource, write }: Omit<Question, 'permissions'>,
): void {
  const held = heldIn(object, write);
  const lacking = notHeld(held.rules, rules);
  if (lacking.length === 0) return;
  const { name, groups } = write.user;
  const why = held.error === '' ? '' : `; resolution errors: [${held.error}]`;
  const message =
    `user ${JSON.stringify(name)} (groups=${quotedList(groups)}) is attempting to grant RBAC ` +
    `permissions not currently held:\n${ruleTexts(together(lacking)).join('\n')}${why}`;
  throw refused(object, resource, write, message);
}

const heldIn = (object: Stored, { user, options }: Write): HeldRules =>
  options.heldRulesOf?.(user, object.metadata?.namespace ?? '') ?? { rules: [], error: '' };

const refused = (object: Stored, resource: string, { options }: Write, message: string): Error =>
  forbidden(
    { group: options.naming.resolve(roleGroup), resource },
    object.metadata?.name ?? '',
    message,
  );
