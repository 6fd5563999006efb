// Runs the cases of mutating policies: one mutation, or a whole policy, of a built-in Deployment.
import type { JsonObject } from '../../lib/api/type-info.ts';
import { resourcesCriteria } from '../../lib/admission/match/criteria.ts';
import { compileMutating } from '../../lib/admission/policies/mutating-expressions.ts';
import { MutationFailure } from '../../lib/admission/policies/mutation-result.ts';
import { atOnce } from '../../lib/base/steps.ts';
import { objectCostBudget } from '../../lib/cel/testing/evaluate.ts';
import { Budget } from '../../lib/cel/use/budget.ts';
import { evaluateCondition } from '../../lib/cel/use/conditions.ts';
import { readObject } from '../../lib/codec/normalise.ts';
import { builtInScheme } from '../../lib/kinds/built-in-kinds.ts';
import { naming } from './base-runners.ts';
import type { Runner } from './base-runners.ts';
import { isRecord, plainJson, textOf } from './case-values.ts';
import type { JsonRecord } from './case-values.ts';
import type { Outcome } from './differences.ts';

const scheme = builtInScheme({ profile: naming });
const type = scheme.type('apps/v1.Deployment');

const authorizer = { decide: () => ({ decision: 'allow', reason: '', error: '' }) as const };

/** The mutations of a policy, each on the result of the one before; the first error ends it. */
function mutate(spec: JsonObject, record: JsonRecord): Outcome {
  const policy = {
    name: 'case',
    spec,
    criteria: resourcesCriteria(undefined),
    failsOpen: false,
    paramKind: undefined,
  };
  const { variables, mutations } = atOnce(compileMutating(policy, naming));
  const bindings = {
    oldObject: plainJson(record['oldObject'] ?? null),
    namespaceObject: plainJson(record['namespaceObject'] ?? null),
    request: {},
  };
  let object = readObject(plainJson(record['object'] ?? null) as JsonObject, type).object;
  for (const { condition, apply } of mutations) {
    if (condition.program === undefined) return { error: condition.error };
    const budget = new Budget(objectCostBudget);
    const bound = variables.bind({ ...bindings, object }, { authorizer });
    const result = evaluateCondition(condition, bound.bindings, budget, {
      authorizer,
      sharedCosts: bound.costs,
    });
    if (result.kind === 'pending') return { error: 'pending' };
    if (result.kind !== 'value') return { error: result.message };
    const made = apply(object, result.value, type);
    if (made instanceof MutationFailure) return { error: made.message };
    object = made;
  }
  return { object };
}

const mutation: Runner = (record) => {
  const expression = textOf(record['expr']);
  const isPatch = record['kind'] === 'jsonPatch';
  const one = isPatch
    ? { patchType: 'JSONPatch', jsonPatch: { expression } }
    : { patchType: 'ApplyConfiguration', applyConfiguration: { expression } };
  return mutate({ mutations: [one] }, record);
};

const policy: Runner = (record) => {
  const whole = isRecord(record['policy']) ? record['policy'] : {};
  return mutate(plainJson(whole['spec'] ?? null) as JsonObject, record);
};

export const mutationRunners: Readonly<Record<string, Runner>> = {
  'map_mutations.json': mutation,
  'map_policies.json': policy,
};
