// What a pod asks for as a whole: the sum of its containers, or what it states for all of them
// together where it states that.
import { recordAt, textAt } from '../../api/json-access.ts';
import { isEmpty } from '../../api/presence.ts';
import { sumQuantities } from '../../api/quantity.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { isPodLevelResource } from './container-totals.ts';
import { containerTotals } from './pod-defaults.ts';

export interface Amounts {
  readonly requests: Readonly<JsonObject>;
  readonly limits: Readonly<JsonObject>;
}

/** `hasOverhead`: what its sandbox takes is requested, too. */
export function podTotals(
  spec: JsonObject,
  counted: { readonly hasPodLevel: boolean; readonly hasOverhead: boolean },
): Amounts {
  const requests = totals(spec, 'requests', counted.hasPodLevel);
  if (counted.hasOverhead) {
    const overhead = recordAt(spec, 'overhead') ?? {};
    for (const name of Object.keys(overhead)) {
      const sum = sumQuantities([textAt(requests, name), textAt(overhead, name)]);
      if (sum !== undefined) requests[name] = sum;
    }
  }
  return { requests, limits: totals(spec, 'limits', counted.hasPodLevel) };
}

function totals(spec: JsonObject, part: 'requests' | 'limits', hasPodLevel: boolean): JsonObject {
  const sums = containerTotals(spec, part);
  const stated = hasPodLevel ? recordAt(recordAt(spec, 'resources'), part) : undefined;
  if (stated === undefined || isEmpty(stated)) return sums;
  for (const name of Object.keys(stated)) {
    if (isPodLevelResource(name)) sums[name] = stated[name];
  }
  return sums;
}
