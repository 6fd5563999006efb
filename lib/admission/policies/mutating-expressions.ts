// The expressions of one mutating policy, compiled: variables, match conditions, mutations.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { TypeInfo } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { Steps } from '../../base/steps.ts';
import { listType, structType } from '../../cel/model/cel-type.ts';
import type { CelType } from '../../cel/model/cel-type.ts';
import type { Value } from '../../cel/model/value.ts';
import { compileConditionSteps } from '../../cel/use/conditions.ts';
import type { CompiledCondition } from '../../cel/use/conditions.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { applyConfiguration } from './apply-configuration.ts';
import type { Policy } from './bindings.ts';
import { bytesOf, compileShared, keptOf } from './compiled.ts';
import type { PolicyExpressions } from './compiled.ts';
import type { Mutated } from './mutation-result.ts';
import { applyWrittenPatch } from './written-patch.ts';

export interface MutatingExpressions extends PolicyExpressions {
  readonly bytes: number;
  /** In the order of the policy. */
  readonly mutations: readonly Mutation[];
}

export interface Mutation {
  readonly condition: CompiledCondition;
  /** What the value of the expression makes of an object of the type, which may be the base. */
  readonly apply: (
    live: Readonly<ApiObject>,
    value: Value,
    type: TypeInfo,
    base?: Readonly<ApiObject>,
  ) => Mutated;
}

/** By `patchType`: where the expression is, what it comes to, and what is done with that. */
const patchTypes: Readonly<Record<string, readonly [string, CelType, Mutation['apply']]>> = {
  ApplyConfiguration: ['applyConfiguration', structType('Object'), applyConfiguration],
  JSONPatch: ['jsonPatch', listType(structType('JSONPatch')), applyWrittenPatch],
};

export function* compileMutating(
  policy: Policy,
  naming: NamingProfile,
): Steps<MutatingExpressions> {
  const shared = yield* compileShared(policy, naming, { isMutating: true });
  const { environment, conditions } = shared.variables;
  const mutations: Mutation[] = [];
  for (const one of recordsAt(policy.spec, 'mutations')) {
    const kind = patchTypes[textAt(one, 'patchType')];
    if (kind === undefined) continue; // Writes refuse it.
    const [member, type, apply] = kind;
    const text = textAt(recordAt(one, member), 'expression');
    mutations.push({
      condition: yield* compileConditionSteps(environment, text, [type]),
      apply,
    });
  }
  const written = mutations.map(({ condition }) => condition);
  const all = [shared.matchConditions, conditions, written];
  const bytes = policyBytes + all.reduce((sum, some) => sum + bytesOf(some), 0);
  return { ...keptOf(shared), bytes, mutations };
}

/** Beside its programs. */
const policyBytes = 1_024;
