// Conditions of a custom resource definition. Pure: one of a type, in the order in which they came;
// each keeps its time until its status changes.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder } from '../validator.ts';

export interface Condition {
  readonly type: ConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

export type ConditionType =
  | 'NamesAccepted'
  | 'Established'
  | 'NonStructuralSchema'
  | 'Terminating'
  | 'KubernetesAPIApprovalPolicyConformant';

export const conditionsOf = (definition: Holder): readonly JsonObject[] =>
  recordsAt(recordAt(definition, 'status'), 'conditions');

export const conditionOf = (definition: Holder, type: ConditionType): JsonObject | undefined =>
  conditionsOf(definition).find((one) => textAt(one, 'type') === type);

export const isConditionTrue = (definition: Holder, type: ConditionType): boolean =>
  textAt(conditionOf(definition, type), 'status') === 'True';

/** Whether it was accepted once: it stays so while it lives. */
export const isEstablished = (definition: Holder): boolean =>
  isConditionTrue(definition, 'Established');

/** Whether its objects are served: its names were accepted once. */
export const isServed = (definition: Holder): boolean =>
  isEstablished(definition) || isConditionTrue(definition, 'NamesAccepted');

/** The conditions with this one in its place. `now`: RFC 3339. */
export function withCondition(
  conditions: readonly JsonObject[],
  { type, status, reason, message }: Condition,
  now: string,
): readonly JsonObject[] {
  const at = conditions.findIndex((one) => textAt(one, 'type') === type);
  const before = at < 0 ? undefined : conditions[at];
  const since = textAt(before, 'lastTransitionTime');
  const isSameStatus = textAt(before, 'status') === status && since !== '';
  const isSame =
    isSameStatus && textAt(before, 'reason') === reason && textAt(before, 'message') === message;
  if (isSame) return conditions;
  const lastTransitionTime = isSameStatus ? since : now;
  const next = { type, status, lastTransitionTime, reason, message };
  return at < 0 ? [...conditions, next] : conditions.with(at, next);
}

export const withoutCondition = (
  conditions: readonly JsonObject[],
  type: ConditionType,
): readonly JsonObject[] =>
  conditions.some((one) => textAt(one, 'type') === type)
    ? conditions.filter((one) => textAt(one, 'type') !== type)
    : conditions;
