// The authorizer of roles and bindings: allows what a rule of a bound role allows, and has no
// opinion otherwise. It answers from memory, at once.
import type { NamingProfile } from '../../api/vendor.ts';
import { aggregateText } from '../../base/aggregate-text.ts';
import type { User } from '../../base/user.ts';
import type { HeldRules } from '../../kinds/rbac/held-rules.ts';
import type { PolicyRule } from '../../kinds/rbac/policy-rules.ts';
import type { Attributes, Authorizer, Decision } from '../authorizer.ts';
import { subjectText } from './policy.ts';
import type { Binding, RbacPolicy } from './policy.ts';
import { allows } from './rules.ts';

const silent: Decision = { effect: 'noOpinion', reason: '' };

export function rbacAuthorizer(policy: RbacPolicy, naming: NamingProfile): Authorizer {
  return {
    name: 'RBAC',
    authorize(asked) {
      let missing: Binding[] | undefined;
      for (const bindings of policy.boundTo(asked.user, asked.namespace)) {
        for (const binding of bindings) {
          const rules = policy.rulesOf(binding);
          if (rules === undefined) (missing ??= []).push(binding);
          else if (anyAllows(rules, asked)) return new AllowedBy(binding, asked.user);
        }
      }
      if (missing === undefined) return silent;
      return { effect: 'noOpinion', reason: `RBAC: ${missingText(missing, naming)}` };
    },
    rulesFor(user, namespace) {
      const { rules, error } = heldRules(policy, naming, user, namespace);
      return {
        resourceRules: rules.filter(({ resources }) => resources.length > 0),
        nonResourceRules: rules.filter(({ nonResourceURLs }) => nonResourceURLs.length > 0),
        incomplete: false,
        evaluationError: error,
      };
    },
  };
}

function anyAllows(rules: readonly PolicyRule[], asked: Attributes): boolean {
  for (const rule of rules) if (allows(rule, asked)) return true;
  return false;
}

/** All rules of all roles that are bound to a user in a namespace ('': in the whole cluster). */
export function heldRules(
  policy: RbacPolicy,
  naming: NamingProfile,
  user: User,
  namespace: string,
): HeldRules {
  const held: PolicyRule[] = [];
  const missing: Binding[] = [];
  for (const bindings of policy.boundTo(user, namespace)) {
    for (const binding of bindings) {
      const rules = policy.rulesOf(binding);
      if (rules === undefined) missing.push(binding);
      else for (const rule of rules) held.push(rule);
    }
  }
  return { rules: held, error: missing.length === 0 ? '' : missingText(missing, naming) };
}

/** Its words are for reviews and audit: most requests are allowed without anybody reading them. */
class AllowedBy implements Decision {
  readonly effect = 'allow';
  readonly #binding: Binding;
  readonly #user: User;

  constructor(binding: Binding, user: User) {
    this.#binding = binding;
    this.#user = user;
  }

  get reason(): string {
    const { namespace, name, roleKind, roleName } = this.#binding;
    const by =
      namespace === ''
        ? `ClusterRoleBinding ${JSON.stringify(name)}`
        : `RoleBinding ${JSON.stringify(`${name}/${namespace}`)}`;
    return (
      `RBAC: allowed by ${by} of ${roleKind} ${JSON.stringify(roleName)} ` +
      `to ${subjectText(this.#binding, this.#user)}`
    );
  }
}

/** In the words of Kubernetes. */
function missingText(missing: readonly Binding[], naming: NamingProfile): string {
  const group = naming.resolve('rbac.authorization.{v}');
  return aggregateText(missing.map((binding) => whyNoRules(binding, group)));
}

const whyNoRules = ({ roleKind, roleName }: Binding, group: string): string =>
  roleKind === 'Role' || roleKind === 'ClusterRole'
    ? `${roleKind.toLowerCase()}.${group} ${JSON.stringify(roleName)} not found`
    : `unsupported role reference kind: ${JSON.stringify(roleKind)}`;
