// The form of the default roles and bindings, and the objects that they are in one spelling. Rules
// are texts (lib/kinds/rbac/rule-text.ts); placeholders of vendor names are resolved here.
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { PolicyRule } from '../../kinds/rbac/policy-rules.ts';
import { ruleOf } from '../../kinds/rbac/rule-text.ts';
import type { GateCheck } from '../../kinds/strategy.ts';

type UserRole = 'admin' | 'edit' | 'view';
/** Of the two namespaces of the server that have roles. */
type Place = 'system' | 'public';

export interface RoleSpec {
  readonly name: string;
  /** Absent: a cluster role. */
  readonly namespace?: Place;
  readonly rules: readonly string[];
  /** Further ones while a gate is on, by gate. */
  readonly gatedRules?: Readonly<Record<string, readonly string[]>>;
  /** There only while it is on. */
  readonly gate?: string;
  /** The role that gathers these rules. */
  readonly aggregatesTo?: UserRole;
  /** Its rules are those of all roles that aggregate to this one. */
  readonly gathers?: UserRole;
}

export interface BindingSpec {
  /** Absent: that of its role. */
  readonly name?: string;
  /** Of its own namespace; a cluster role without one. */
  readonly role: string;
  readonly namespace?: Place;
  /** `group G`, `user U`, or `account A` of the system's namespace. */
  readonly subjects: readonly string[];
}

/** What most of those who act do beside it. */
export const tellEvents = 'create,patch,update events of core,events.{v}';

const group = 'rbac.authorization.{v}';
/** `false` on an object: the server leaves it alone. */
export const autoUpdateAnnotation = 'rbac.authorization.{kubernetes}.io/autoupdate';

export function roleObject(spec: RoleSpec, naming: NamingProfile, isOn: GateCheck): ApiObject {
  const { name, namespace, aggregatesTo, gathers, gatedRules = {} } = spec;
  const further = Object.entries(gatedRules).flatMap(([gate, rules]) => (isOn(gate) ? rules : []));
  const label = (to: UserRole): Readonly<Record<string, string>> => ({
    [naming.resolve(`rbac.authorization.{v}/aggregate-to-${to}`)]: 'true',
  });
  const labels = aggregatesTo === undefined ? {} : label(aggregatesTo);
  return {
    apiVersion: `${naming.resolve(group)}/v1`,
    kind: namespace === undefined ? 'ClusterRole' : 'Role',
    metadata: metadataOf(name, namespace, labels, naming),
    ...(gathers === undefined
      ? {
          rules: [...spec.rules, ...further].map((text) =>
            ruleObject(ruleOf(naming.resolve(text))),
          ),
        }
      : { aggregationRule: { clusterRoleSelectors: [{ matchLabels: label(gathers) }] } }),
  };
}

export function bindingObject(spec: BindingSpec, naming: NamingProfile): ApiObject {
  const { role, name = role, namespace, subjects } = spec;
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  const apiGroup = naming.resolve(group);
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: `${kind}Binding`,
    metadata: metadataOf(name, namespace, {}, naming),
    roleRef: { apiGroup, kind, name: naming.resolve(role) },
    ...(subjects.length === 0
      ? {}
      : { subjects: subjects.map((text) => subjectOf(naming.resolve(text), naming)) }),
  };
}

function metadataOf(
  name: string,
  place: Place | undefined,
  labels: Readonly<Record<string, string>>,
  naming: NamingProfile,
): NonNullable<ApiObject['metadata']> {
  const places = { system: naming.systemNamespace, public: naming.publicNamespace };
  return {
    name: naming.resolve(name),
    ...(place === undefined ? {} : { namespace: places[place] }),
    labels: { [naming.bootstrappingLabel]: 'rbac-defaults', ...labels },
    annotations: { [naming.resolve(autoUpdateAnnotation)]: 'true' },
  };
}

function subjectOf(text: string, naming: NamingProfile): JsonObject {
  const at = text.indexOf(' ');
  const [kind, name] = [text.slice(0, at), text.slice(at + 1)];
  if (kind === 'account') {
    return { kind: 'ServiceAccount', name, namespace: naming.systemNamespace };
  }
  const apiGroup = naming.resolve(group);
  return { kind: kind === 'user' ? 'User' : 'Group', apiGroup, name };
}

/** As objects have it: without lists that are empty. */
export const ruleObject = (rule: PolicyRule): JsonObject =>
  Object.fromEntries(
    Object.entries(rule)
      .filter(([, values]: [string, readonly string[]]) => values.length > 0)
      .map(([name, values]: [string, readonly string[]]) => [name, [...values]]),
  );
