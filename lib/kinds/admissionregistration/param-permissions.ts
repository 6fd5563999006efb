// Who may write policies and bindings with parameters: those who may read these, for what policies
// say shows what stands in them.
import { recordAt, recordIn, textAt } from '../../api/json-access.ts';
import type { GroupVersionKind } from '../../api/type-info.ts';
import type { FieldError } from '../../base/status.ts';
import { mastersGroup } from '../../base/user.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { KindOptions } from '../kind.ts';
import type { Permission, Permissions, ResourceStrategy, WriteContext } from '../strategy.ts';
import { changed } from '../validator.ts';
import type { Holder } from '../validator.ts';

type Stored = Readonly<ApiObject>;

const none: readonly FieldError[] = [];

/** `policies`: plural name of the kind of policy, whose bindings have the same with `bindings`. */
export type PolicyResource = 'validatingadmissionpolicies' | 'mutatingadmissionpolicies';

export const policyStrategy = (options: KindOptions): ResourceStrategy => ({
  takesUnqualifiedFinalizers: 'always',
  async authorize(policy, old, context) {
    const kind = recordIn(policy, 'spec', 'paramKind');
    const permissions = askedOf(['paramKind'], policy, old, context);
    if (kind === undefined || permissions === undefined) return none;
    if (await mayEscalate(permissions)) return none;
    const asked = { verb: 'get', subresource: '', namespace: '*', name: '*' };
    const refusal = await permissions.refusalOf({ ...asked, ...resourceOf(kind, options) });
    if (refusal === undefined) return none;
    const [name, apiVersion] = [textAt(kind, 'kind'), textAt(kind, 'apiVersion')];
    const detail =
      `user ${JSON.stringify(context.user.name)} must have "get" permission on all objects of ` +
      `the referenced paramKind (kind=${name}, apiVersion=${apiVersion})`;
    return [{ reason: 'FieldValueForbidden', field: 'spec.paramKind', detail }];
  },
});

export const bindingStrategy =
  (policies: PolicyResource) =>
  (options: KindOptions): ResourceStrategy => ({
    takesUnqualifiedFinalizers: 'always',
    async authorize(binding, old, context, { signal }) {
      const paramRef = recordIn(binding, 'spec', 'paramRef');
      const permissions = askedOf(['paramRef', 'policyName'], binding, old, context);
      if (paramRef === undefined || permissions === undefined) return none;
      if (await mayEscalate(permissions)) return none;
      const policy = textAt(recordAt(binding, 'spec'), 'policyName');
      const kind = await options.paramKinds?.paramKindOf(policies, policy, signal);
      const name = textAt(paramRef, 'name');
      const asked: Permission = {
        verb: name === '' ? 'list' : 'get',
        subresource: '',
        namespace: textAt(paramRef, 'namespace'),
        name,
        ...resourceOf(kind, options),
      };
      if ((await permissions.refusalOf(asked)) === undefined) return none;
      const detail =
        `user ${JSON.stringify(context.user.name)} does not have ${JSON.stringify(asked.verb)} ` +
        'permission on the object referenced by paramRef';
      return [{ reason: 'FieldValueForbidden', field: 'spec.paramRef', detail }];
    },
  });

/** undefined: there is nothing to ask for, as where none of `members` of the spec changes. */
function askedOf(
  members: readonly string[],
  object: Stored,
  old: Stored | undefined,
  { user, permissions }: WriteContext,
): Permissions | undefined {
  if (user.groups.includes(mastersGroup)) return undefined;
  if (old === undefined) return permissions;
  const [spec, before] = [recordAt(object, 'spec'), recordAt(old, 'spec')];
  return members.some((name) => changed(spec, before, name)) ? permissions : undefined;
}

const mayEscalate = async (permissions: Permissions): Promise<boolean> =>
  (await permissions.refusalOf({ verb: 'escalate', subresource: '' })) === undefined;

/** Everything, where nobody knows what the parameters are. */
function resourceOf(
  paramKind: Holder,
  { paramKinds }: KindOptions,
): Required<Pick<Permission, 'group' | 'version' | 'resource'>> {
  const kind = paramKind === undefined ? undefined : kindOf(paramKind);
  if (kind === undefined) return { group: '*', version: '*', resource: '*' };
  const { group, version } = kind;
  return { group, version, resource: paramKinds?.resourceOf(kind) ?? '*' };
}

/** undefined: its version is none. */
function kindOf(paramKind: NonNullable<Holder>): GroupVersionKind | undefined {
  const parts = textAt(paramKind, 'apiVersion').split('/');
  const [first = '', second] = parts;
  const kind = textAt(paramKind, 'kind');
  if (parts.length > 2) return undefined;
  return second === undefined
    ? { group: '', version: first, kind }
    : { group: first, version: second, kind };
}
