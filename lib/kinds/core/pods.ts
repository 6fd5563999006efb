// Pods: a new one is pending and knows its quality of service; deletion waits for the node that
// runs the containers; a DELETE always answers the object.
import { recordAt, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import { ensureRecord } from '../../api/default-rule.ts';
import { copyMember } from '../../api/json-value.ts';
import { isZero } from '../../api/presence.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { formatTime } from '../../base/clock.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { KindOptions } from '../kind.ts';
import type { ResourceStrategy } from '../strategy.ts';
import { completeArmor } from './pod-armor.ts';
import { qualityOf } from './pod-quality.ts';
import { mergeLabelKeys } from './pod-selectors.ts';

const defaultGraceSeconds = 30;

export const podStrategy = ({ naming }: KindOptions): ResourceStrategy => ({
  prepare(pod, stored, { nowMs, subresource, warnings }, isOn) {
    if (stored === undefined) {
      pod.status = newStatus(pod, nowMs);
      mergeLabelKeys(pod, isOn);
      warnings.push(...completeArmor(pod, naming));
    } else if (subresource === 'status') {
      keepSettled(pod, stored);
    } else if (subresource === 'resize' && !isOn('InPlacePodLevelResourcesVerticalScaling')) {
      copyMember(pod, stored, 'spec.resources');
    }
  },
  keepsStatusOnCreate: true,
  answersDeletedObject: true,
  deletion(object, requestedSeconds) {
    const isStarted = textAt(recordAt(object, 'spec'), 'nodeName') !== '';
    const isEnded = ['Failed', 'Succeeded'].includes(textAt(recordAt(object, 'status'), 'phase'));
    if (!isStarted || isEnded) return { graceSeconds: 0 };
    return { graceSeconds: requestedSeconds ?? specifiedSeconds(object) };
  },
});

function newStatus(pod: Readonly<ApiObject>, nowMs: number): JsonObject {
  const given = textAt(recordAt(pod, 'status'), 'qosClass');
  const status: JsonObject = { phase: 'Pending', qosClass: given || qualityOf(pod) };
  if (recordsAt(recordAt(pod, 'spec'), 'schedulingGates').length > 0) {
    status['conditions'] = [gated(nowMs)];
  }
  return status;
}

/** Old nodes leave out what they do not know: that is no wish to clear it. */
function keepSettled(pod: ApiObject, stored: Readonly<ApiObject>): void {
  const before = recordAt(stored, 'status');
  if (before === undefined) return;
  const status = ensureRecord(pod, 'status');
  for (const name of ['qosClass', 'observedGeneration']) {
    if (isZero(status[name]) && !isZero(before[name])) status[name] = before[name];
  }
  const generations = new Map<string, (JsonValue | undefined)[]>();
  for (const condition of recordsAt(before, 'conditions')) {
    const ofType = generations.get(textAt(condition, 'type')) ?? [];
    generations.set(textAt(condition, 'type'), [...ofType, condition['observedGeneration']]);
  }
  for (const condition of recordsAt(status, 'conditions')) {
    const generation = generations.get(textAt(condition, 'type'))?.shift();
    if (isZero(generation) || !isZero(condition['observedGeneration'])) continue;
    condition['observedGeneration'] = generation;
  }
}

const gated = (nowMs: number): JsonObject => ({
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'Scheduling is blocked due to non-empty scheduling gates',
  lastTransitionTime: formatTime(nowMs),
});

function specifiedSeconds(object: Readonly<ApiObject>): number {
  const given = valueAt(recordAt(object, 'spec'), 'terminationGracePeriodSeconds');
  return Number(given ?? defaultGraceSeconds);
}
