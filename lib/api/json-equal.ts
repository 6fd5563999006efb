// Deep equality of decoded values. Unset members, null and empty lists are the same: the forms of
// an absent value that encodings tell apart and users do not. An empty object is not absent, but
// for the members below, which are written even when nothing is in them.
import { isObject, ownMember } from './json-value.ts';
import { isAbsent } from './presence.ts';
import type { JsonObject, JsonValue } from './type-info.ts';

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
  if (Array.isArray(left) && Array.isArray(right)) return sameElements(left, right);
  if (isObject(left) && isObject(right)) return sameMembers(left, right);
  if (typeof left === 'bigint' || typeof right === 'bigint') return isSameNumber(left, right);
  return isNothing(left) && isNothing(right);
}

function sameElements(left: readonly JsonValue[], right: readonly JsonValue[]): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at += 1) if (!sameJson(left[at], right[at])) return false;
  return true;
}

function sameMembers(left: Readonly<JsonObject>, right: Readonly<JsonObject>): boolean {
  for (const key in left) {
    const member = left[key];
    const other = ownMember(right, key);
    if (member === other || sameJson(member, other)) continue;
    if (!isObject(member) || !isNothing(other) || !isAbsence(key, member)) return false;
  }
  for (const key in right) {
    if (Object.hasOwn(left, key) || isNothing(right[key])) continue;
    if (!isAbsence(key, right[key])) return false;
  }
  return true;
}
