// The expressions that validating and mutating policies have alike, compiled: variables and match
// conditions. Expressions are compiled as stored ones, which may use whatever any release knew.
import { recordsAt, textAt } from '../../api/json-access.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { Steps } from '../../base/steps.ts';
import { composeVariablesSteps } from '../../cel/use/composition.ts';
import type { Composition } from '../../cel/use/composition.ts';
import { compileConditionSteps } from '../../cel/use/conditions.ts';
import type { CompiledCondition } from '../../cel/use/conditions.ts';
import { policyEnvironment } from '../../cel/use/policy-environment.ts';
import type { PolicyEnvironmentOptions } from '../../cel/use/policy-environment.ts';
import type { Policy } from './bindings.ts';

export interface PolicyExpressions {
  readonly variables: KeptVariables;
  readonly matchConditions: readonly CompiledCondition[];
}

/** The environment is for compiling alone, and much larger than what it compiles. */
type KeptVariables = Pick<Composition, 'bind' | 'conditions'>;

interface SharedExpressions extends PolicyExpressions {
  readonly variables: Composition;
}

/** What is kept once everything is compiled. */
export function keptOf({ variables, matchConditions }: SharedExpressions): PolicyExpressions {
  // Not by a function of its own, which would hold the environment with all of `variables`.
  const { bind, conditions } = variables;
  return { variables: { bind, conditions }, matchConditions };
}

/** The environment of a policy's expressions, without its variables. */
export const environmentOf = (
  { paramKind }: Policy,
  naming: NamingProfile,
  needs: Pick<PolicyEnvironmentOptions, 'hasAuthorizer' | 'isMutating'>,
): ReturnType<typeof policyEnvironment> =>
  policyEnvironment({ naming, version: 'stored', hasParams: paramKind !== undefined, ...needs });

export function* compileShared(
  policy: Policy,
  naming: NamingProfile,
  needs: Pick<PolicyEnvironmentOptions, 'isMutating'> = {},
): Steps<SharedExpressions> {
  const base = environmentOf(policy, naming, { hasAuthorizer: true, ...needs });
  const named = recordsAt(policy.spec, 'variables').map((one) => ({
    name: textAt(one, 'name'),
    expression: textAt(one, 'expression'),
  }));
  const variables = yield* composeVariablesSteps(base, named);
  const matchConditions: CompiledCondition[] = [];
  for (const condition of recordsAt(policy.spec, 'matchConditions')) {
    const text = textAt(condition, 'expression');
    matchConditions.push(yield* compileConditionSteps(variables.environment, text));
  }
  return { variables, matchConditions };
}

/** Memory of compiled expressions, estimated. */
export const bytesOf = (conditions: readonly (CompiledCondition | undefined)[]): number =>
  conditions.reduce((sum, one) => sum + (one?.program?.bytes ?? failureBytes), 0);

/** What a text that does not compile keeps, and the texts of its failures. */
const failureBytes = 1_024;
