// Conditions that the server itself writes into the status of a pod.
import { ensureRecord } from '../../api/default-rule.ts';
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { formatTime } from '../../base/clock.ts';
import type { ApiObject } from '../../codec/codec.ts';

/** In place of the one of its type, whose time lasts while the status does. Changes `pod`. */
export function setPodCondition(
  pod: ApiObject,
  condition: JsonObject & { readonly type: string; readonly status: string },
  nowMs: number,
): void {
  const conditions = [...recordsAt(recordAt(pod, 'status'), 'conditions')];
  const at = conditions.findIndex((one) => textAt(one, 'type') === condition.type);
  const before = conditions[at];
  const isKept = before !== undefined && textAt(before, 'status') === condition.status;
  const since = isKept ? textAt(before, 'lastTransitionTime') : formatTime(nowMs);
  conditions[at < 0 ? conditions.length : at] = { ...condition, lastTransitionTime: since };
  ensureRecord(pod, 'status')['conditions'] = conditions;
}
