// Pods: a new one is pending and knows its quality of service; deletion waits for the node that
// runs the containers; a DELETE always answers the object.
import { recordAt, recordsAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { formatTime } from '../../base/clock.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { isObject, ownMember } from '../../api/json-value.ts';
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
    const isStarted = text(object, 'spec', 'nodeName') !== '';
    const isEnded = ['Failed', 'Succeeded'].includes(text(object, 'status', 'phase'));
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
  const given = isObject(object.spec) ? object.spec.terminationGracePeriodSeconds : undefined;
  return Number(given ?? defaultGraceSeconds);
}

function text(object: Readonly<ApiObject>, part: 'spec' | 'status', name: string): string {
  const record = object[part];
  const value = isObject(record) ? ownMember(record, name) : undefined;
  return typeof value === 'string' ? value : '';
}
