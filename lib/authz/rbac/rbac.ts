// The authorizer of roles and bindings: allows what a rule of a bound role allows, and has no
// opinion otherwise. It answers from memory, at once.
import type { NamingProfile } from '../../api/vendor.ts';
import type { Attributes, Authorizer, Decision } from '../authorizer.ts';
import { subjectText } from './policy.ts';
import type { Binding, RbacPolicy } from './policy.ts';
import { allows } from './rules.ts';

const silent: Decision = { effect: 'noOpinion', reason: '' };

export function rbacAuthorizer(policy: RbacPolicy, naming: NamingProfile): Authorizer {
  const group = naming.resolve('rbac.authorization.{v}');
  return {
    name: 'RBAC',
    authorize(asked) {
      let missing: string[] | undefined;
      for (const { binding, rules } of policy.grantedTo(asked.user, asked.namespace)) {
        if (rules === undefined) (missing ??= []).push(missingText(binding, group));
        else if (rules.some((rule) => allows(rule, asked))) return allowedBy(binding, asked);
      }
      if (missing === undefined) return silent;
      const [first = ''] = missing;
      const why = missing.length === 1 ? first : `[${missing.join(', ')}]`;
      return { effect: 'noOpinion', reason: `RBAC: ${why}` };
    },
  };
}

function allowedBy(binding: Binding, { user }: Attributes): Decision {
  const { namespace, name, roleKind, roleName } = binding;
  const by =
    namespace === ''
      ? `ClusterRoleBinding ${JSON.stringify(name)}`
      : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`;
  const reason =
    `RBAC: allowed by ${by} of ${roleKind} ${JSON.stringify(roleName)} ` +
    `to ${subjectText(binding, user)}`;
  return { effect: 'allow', reason };
}

const missingText = ({ roleKind, roleName }: Binding, group: string): string =>
  `${roleKind.toLowerCase()}.${group} ${JSON.stringify(roleName)} not found`;
