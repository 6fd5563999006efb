// Mutating policies and their bindings, as short as tests want them.
import type { JsonObject } from '../../api/type-info.ts';

export interface PolicyText {
  readonly name: string;
  /** `Object{...}` or a list of JSONPatch, each one mutation. */
  readonly mutations: readonly string[];
  readonly spec?: JsonObject;
  /** Absent: one of the policy's name. */
  readonly bindings?: readonly JsonObject[];
}

const everything: JsonObject = {
  operations: ['*'],
  apiGroups: ['*'],
  apiVersions: ['*'],
  resources: ['*/*'],
  scope: '*',
};

/** What memory holds of these. */
export function mutatingPolicyObjects(
  policies: readonly PolicyText[],
): Readonly<Record<string, readonly object[]>> {
  return {
    mutatingadmissionpolicies: policies.map(({ name, mutations, spec }) => ({
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        reinvocationPolicy: 'Never',
        matchConstraints: { matchPolicy: 'Equivalent', resourceRules: [everything] },
        mutations: mutations.map(mutationOf),
        ...spec,
      },
    })),
    mutatingadmissionpolicybindings: policies.flatMap(({ name, bindings = [{}] }) =>
      bindings.map((spec, at) => ({
        metadata: { name: at === 0 ? name : `${name}-${String(at)}` },
        spec: { policyName: name, ...spec },
      })),
    ),
  };
}

const mutationOf = (expression: string): JsonObject =>
  expression.startsWith('[')
    ? { patchType: 'JSONPatch', jsonPatch: { expression } }
    : { patchType: 'ApplyConfiguration', applyConfiguration: { expression } };
