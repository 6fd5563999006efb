// Pods: a new one is pending and knows its quality of service; deletion waits for the node that
// runs the containers; a DELETE always answers the object.
import { recordAt, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { formatTime } from '../../base/clock.ts';
import type { ApiObject } from '../../codec/codec.ts';
import type { ResourceStrategy } from '../strategy.ts';
import { qualityOf } from './pod-quality.ts';
import { mergeLabelKeys } from './pod-selectors.ts';

const defaultGraceSeconds = 30;

export const podStrategy: ResourceStrategy = {
  prepare(pod, stored, { nowMs }) {
    if (stored !== undefined) return;
    mergeLabelKeys(pod);
    const status: JsonObject = { phase: 'Pending', qosClass: qualityOf(pod) };
    if (recordsAt(recordAt(pod, 'spec'), 'schedulingGates').length > 0) {
      status['conditions'] = [gated(nowMs)];
    }
    pod.status = status;
  },
  answersDeletedObject: true,
  deletion(object, requestedSeconds) {
    const isStarted = textAt(recordAt(object, 'spec'), 'nodeName') !== '';
    const isEnded = ['Failed', 'Succeeded'].includes(textAt(recordAt(object, 'status'), 'phase'));
    if (!isStarted || isEnded) return { graceSeconds: 0 };
    return { graceSeconds: requestedSeconds ?? specifiedSeconds(object) };
  },
};

const gated = (nowMs: number): JsonObject => ({
  type: 'PodScheduled',
  status: 'False',
  reason: 'SchedulingGated',
  message: 'the pod waits until its scheduling gates are gone',
  lastTransitionTime: formatTime(nowMs),
});

function specifiedSeconds(object: Readonly<ApiObject>): number {
  const given = valueAt(recordAt(object, 'spec'), 'terminationGracePeriodSeconds');
  return Number(given ?? defaultGraceSeconds);
}
