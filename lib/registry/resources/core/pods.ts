// Pods: deletion waits for the node that runs the containers; a DELETE always answers the object.
// Defaults, validation and the other subresources are not here.
import type { ApiObject } from '../../../codec/codec.ts';
import { isObject, ownMember } from '../../json-value.ts';
import type { ResourceStrategy } from '../../strategy.ts';

const defaultGraceSeconds = 30;

export const podStrategy: ResourceStrategy = {
  answersDeletedObject: true,
  deletion(object, requestedSeconds) {
    const isStarted = text(object, 'spec', 'nodeName') !== '';
    const isEnded = ['Failed', 'Succeeded'].includes(text(object, 'status', 'phase'));
    if (!isStarted || isEnded) return { graceSeconds: 0 };
    return { graceSeconds: requestedSeconds ?? specifiedSeconds(object) };
  },
};

function specifiedSeconds(object: Readonly<ApiObject>): number {
  const given = isObject(object.spec) ? object.spec.terminationGracePeriodSeconds : undefined;
  return Math.max(Number(given ?? defaultGraceSeconds), 0);
}

function text(object: Readonly<ApiObject>, part: 'spec' | 'status', name: string): string {
  const record = object[part];
  const value = isObject(record) ? ownMember(record, name) : undefined;
  return typeof value === 'string' ? value : '';
}
