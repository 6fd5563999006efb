// The expressions of one validating policy, compiled.
import { recordsAt, textAt } from '../../api/json-access.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import type { Steps } from '../../base/steps.ts';
import { nullType, stringType } from '../../cel/model/cel-type.ts';
import { compileConditionSteps } from '../../cel/use/conditions.ts';
import type { CompiledCondition } from '../../cel/use/conditions.ts';
import type { Policy } from './bindings.ts';
import { bytesOf, compileShared, environmentOf, keptOf } from './compiled.ts';
import type { PolicyExpressions } from './compiled.ts';

export interface ValidatingExpressions extends PolicyExpressions {
  readonly bytes: number;
  /** As the policy has them, in its order. */
  readonly rules: readonly ValidationRule[];
  /** One for each rule. */
  readonly validations: readonly CompiledCondition[];
  /** One for each rule; undefined: its message is no expression. */
  readonly messages: readonly (CompiledCondition | undefined)[];
  readonly messageCount: number;
  readonly annotationKeys: readonly string[];
  /** One for each key. */
  readonly annotations: readonly CompiledCondition[];
}

export interface ValidationRule {
  readonly reason: string;
  /** What a violation says where no expression says more. */
  readonly message: string;
}

export function* compileValidating(
  policy: Policy,
  naming: NamingProfile,
): Steps<ValidatingExpressions> {
  const shared = yield* compileShared(policy, naming);
  const { variables } = shared;
  const given = recordsAt(policy.spec, 'validations');
  const rules: ValidationRule[] = [];
  const validations: CompiledCondition[] = [];
  for (const one of given) {
    const expression = textAt(one, 'expression');
    validations.push(yield* compileConditionSteps(variables.environment, expression));
    const message = textAt(one, 'message').trim() || `failed expression: ${expression.trim()}`;
    rules.push({ message, reason: textAt(one, 'reason') || 'Invalid' });
  }
  const texts = given.map((one) => textAt(one, 'messageExpression'));
  const messageCount = texts.filter((text) => text !== '').length;
  const messages: (CompiledCondition | undefined)[] = [];
  if (messageCount > 0) {
    const base = environmentOf(policy, naming, { hasAuthorizer: false });
    const environment = variables.within(base);
    for (const text of texts) {
      const isGiven = text !== '';
      messages.push(
        isGiven ? yield* compileConditionSteps(environment, text, [stringType]) : undefined,
      );
    }
  }
  const annotationKeys: string[] = [];
  const annotations: CompiledCondition[] = [];
  for (const one of recordsAt(policy.spec, 'auditAnnotations')) {
    const text = textAt(one, 'valueExpression');
    const types = [stringType, nullType];
    annotationKeys.push(textAt(one, 'key'));
    annotations.push(yield* compileConditionSteps(variables.environment, text, types));
  }
  const all = [shared.matchConditions, variables.conditions, validations, messages, annotations];
  const bytes = policyBytes + all.reduce((sum, conditions) => sum + bytesOf(conditions), 0);
  return {
    ...keptOf(shared),
    bytes,
    rules,
    validations,
    messages,
    messageCount,
    annotationKeys,
    annotations,
  };
}

/** Beside its programs. */
const policyBytes = 1_024;
