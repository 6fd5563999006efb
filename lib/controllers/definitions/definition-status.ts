// The status that a living definition should have, from what it says and which names others have.
// Pure; the same definition gives the same status on every replica.
import { recordAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { approvalCondition } from '../../kinds/apiextensions/approval.ts';
import { hasInvalidCaBundle } from '../../kinds/apiextensions/ca-bundle.ts';
import {
  conditionsOf,
  isEstablished,
  withCondition,
  withoutCondition,
} from '../../kinds/apiextensions/conditions.ts';
import type { Condition } from '../../kinds/apiextensions/conditions.ts';
import type { Holder } from '../../kinds/validator.ts';
import { hasNames, judgeNames } from './accepted-names.ts';
import type { IsTaken } from './accepted-names.ts';

export interface StatusContext {
  readonly isTaken: IsTaken;
  /** What its schemas have against them; undefined: nothing. */
  readonly structure: Condition | undefined;
  readonly naming: NamingProfile;
  /** RFC 3339. */
  readonly now: string;
}

export interface StatusVerdict {
  /** undefined: it is as it should be. */
  readonly status: JsonObject | undefined;
  /** It wants a name that another one has. */
  readonly isRefused: boolean;
}

export function judgeStatus(definition: Holder, context: StatusContext): StatusVerdict {
  const { isTaken, structure, naming, now } = context;
  const before = conditionsOf(definition);
  const names = judgeNames(definition, isTaken);
  const approval = approvalCondition(definition, naming);
  let next = before;
  if (approval !== undefined) next = withCondition(next, approval, now);
  next =
    structure === undefined
      ? withoutCondition(next, 'NonStructuralSchema')
      : withCondition(next, structure, now);
  next = withCondition(next, names.condition, now);
  const established = establishment(definition, names.condition);
  if (established !== undefined) next = withCondition(next, established, now);
  const isRefused = names.condition.status === 'False';
  if (next === before && hasNames(definition, names.acceptedNames)) {
    return { status: undefined, isRefused };
  }
  const { acceptedNames } = names;
  const status = { ...recordAt(definition, 'status'), conditions: [...next], acceptedNames };
  return { status, isRefused };
}

/** undefined: it stays; what was established once stays so while it lives. */
function establishment(definition: Holder, names: Condition): Condition | undefined {
  if (isEstablished(definition)) return undefined;
  if (names.status !== 'True') {
    const message = 'not all names are accepted';
    return { type: 'Established', status: 'False', reason: 'NotAccepted', message };
  }
  if (hasInvalidCaBundle(definition)) {
    const message = 'The conversion webhook CABundle is invalid';
    return { type: 'Established', status: 'False', reason: 'InvalidCABundle', message };
  }
  const message = 'the initial names have been accepted';
  return { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message };
}
