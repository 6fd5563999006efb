// Deep equality of decoded values. Unset members, null and empty lists are the same: the forms of
// an absent value that encodings tell apart and users do not. An empty object is not absent, but
// for the members below, which are written even when nothing is in them.
import { isObject } from './json-value.ts';
import { isAbsent } from './presence.ts';
import type { JsonValue } from './type-info.ts';

type Value = JsonValue | undefined;

/** Names of members without tracked presence that are messages. */
export const alwaysThere: ReadonlySet<string> = new Set([
  'acceptedNames',
  'backend',
  'clientConfig',
  'current',
  'daemonEndpoints',
  'describedObject',
  'devices',
  'involvedObject',
  'jobTemplate',
  'kubeletEndpoint',
  'lastState',
  'limitResponse',
  'loadBalancer',
  'metadata',
  'metric',
  'names',
  'nodeInfo',
  'podAffinityTerm',
  'pool',
  'port',
  'preference',
  'priorityLevelConfiguration',
  'resources',
  'roleRef',
  'scaleTargetRef',
  'schedulingPolicy',
  'source',
  'spec',
  'state',
  'status',
  'strategy',
  'taint',
  'target',
  'template',
  'updateStrategy',
]);

/** Absent, or a list of nothing: only lists say by their own shape that empty is absent. */
const isNothing = (value: Value): boolean =>
  isAbsent(value) || (Array.isArray(value) && value.length === 0);

/** Nothing in it, at any depth, of members that are always there. */
function hasNothing(value: Value): boolean {
  if (!isObject(value)) return isNothing(value);
  for (const key of Object.keys(value)) {
    if (!isNothing(value[key]) && !isAbsence(key, value[key])) return false;
  }
  return true;
}

const isNumber = (value: Value): value is number | bigint =>
  typeof value === 'number' || typeof value === 'bigint';

const isSameNumber = (left: Value, right: Value): boolean =>
  isNumber(left) && isNumber(right) && String(left) === String(right);

const isAbsence = (key: string, value: Value): boolean => alwaysThere.has(key) && hasNothing(value);

export function sameJson(left: Value, right: Value): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return (
      left.length === right.length && left.every((element, at) => sameJson(element, right[at]))
    );
  }
  if (isObject(left) && isObject(right)) {
    for (const key of Object.keys(left)) {
      const other = Object.hasOwn(right, key) ? right[key] : undefined;
      if (sameJson(left[key], other)) continue;
      if (!isObject(left[key]) || !isNothing(other) || !isAbsence(key, left[key])) return false;
    }
    for (const key of Object.keys(right)) {
      if (Object.hasOwn(left, key) || isNothing(right[key])) continue;
      if (!isAbsence(key, right[key])) return false;
    }
    return true;
  }
  if (typeof left === 'bigint' || typeof right === 'bigint') return isSameNumber(left, right);
  return isNothing(left) && isNothing(right);
}
