// What one limit of a range finds wrong with what is asked for, one text each.
import { recordAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Amounts } from '../../kinds/core/pod-totals.ts';
import { nanoOf } from '../../kinds/core/resource-lists.ts';

/** Of a container, or of a whole pod. */
export const usageProblems = (
  type: string,
  limit: JsonObject,
  { requests, limits }: Amounts,
): readonly string[] => [
  ...bounds(limit, 'min').flatMap(([name, least]) => {
    const text = `minimum ${name} usage per ${type} is ${least}`;
    if (!Object.hasOwn(requests, name)) return [`${text}.  No request is specified`];
    if (isBelow(requests[name], least))
      return [`${text}, but request is ${textAt(requests, name)}`];
    const isLimitBelow = Object.hasOwn(limits, name) && isBelow(limits[name], least);
    return isLimitBelow ? [`${text}, but limit is ${textAt(limits, name)}`] : [];
  }),
  ...bounds(limit, 'max').flatMap(([name, most]) => {
    const text = `maximum ${name} usage per ${type} is ${most}`;
    if (!Object.hasOwn(limits, name)) return [`${text}.  No limit is specified`];
    if (isBelow(most, limits[name])) return [`${text}, but limit is ${textAt(limits, name)}`];
    const isRequestAbove = Object.hasOwn(requests, name) && isBelow(most, requests[name]);
    return isRequestAbove ? [`${text}, but request is ${textAt(requests, name)}`] : [];
  }),
  ...bounds(limit, 'maxLimitRequestRatio').flatMap(([name, most]) => {
    const text = `${name} max limit to request ratio per ${type} is ${most}`;
    const [request, stated] = [nanoOf(requests[name]), nanoOf(limits[name])];
    if (request === 0n) return [`${text}, but no request is specified or request is 0`];
    if (stated === 0n) return [`${text}, but no limit is specified or limit is 0`];
    if (stated * nanoPerUnit <= nanoOf(most) * request) return [];
    return [`${text}, but provided ratio is ${(Number(stated) / Number(request)).toFixed(6)}`];
  }),
];

/** Of a claim, which has requests alone. */
export const claimProblems = (
  limit: JsonObject,
  requests: Readonly<JsonObject>,
): readonly string[] => [
  ...bounds(limit, 'min').flatMap(([name, least]) => {
    const text = `minimum ${name} usage per PersistentVolumeClaim is ${least}`;
    return claimProblem(text, name, requests, (request) => isBelow(request, least));
  }),
  ...bounds(limit, 'max').flatMap(([name, most]) => {
    const text = `maximum ${name} usage per PersistentVolumeClaim is ${most}`;
    return claimProblem(text, name, requests, (request) => isBelow(most, request));
  }),
];

function claimProblem(
  text: string,
  name: string,
  requests: Readonly<JsonObject>,
  isWrong: (request: JsonObject[string]) => boolean,
): readonly string[] {
  if (!Object.hasOwn(requests, name)) return [`${text}.  No request is specified`];
  return isWrong(requests[name]) ? [`${text}, but request is ${textAt(requests, name)}`] : [];
}

const nanoPerUnit = 1_000_000_000n;

/** By name, so that texts come in one order. */
function bounds(limit: JsonObject, part: string): readonly (readonly [string, string])[] {
  const amounts = recordAt(limit, part) ?? {};
  return Object.keys(amounts)
    .sort()
    .map((name) => [name, textAt(amounts, name)] as const);
}

const isBelow = (left: JsonObject[string], right: JsonObject[string]): boolean =>
  nanoOf(left) < nanoOf(right);
