// The quality-of-service class of a pod: what its requests and limits of processor and memory say.
// A pod that states resources for all its containers together gets its class from those.
import { recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import { compareQuantities, parseQuantity } from '../../api/quantity.ts';
import type { Quantity } from '../../api/quantity.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';

export type QualityClass = 'Guaranteed' | 'Burstable' | 'BestEffort';
type Amounts = Map<string, Quantity>;

const computeNames = ['cpu', 'memory'];

export function qualityOf(pod: Readonly<ApiObject>): QualityClass {
  const spec = recordAt(pod, 'spec');
  const whole = recordAt(spec, 'resources');
  const parts =
    whole === undefined
      ? [...recordsAt(spec, 'containers'), ...recordsAt(spec, 'initContainers')].map((one) =>
          recordAt(one, 'resources'),
        )
      : [whole];
  const requests: Amounts = new Map();
  const limits: Amounts = new Map();
  let isLimited = true;
  for (const part of parts) {
    add(requests, recordAt(part, 'requests'));
    const found = add(limits, recordAt(part, 'limits'));
    if (found < computeNames.length) isLimited = false;
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  const isExact =
    isLimited &&
    requests.size === limits.size &&
    [...requests].every(([name, amount]) => {
      const limit = limits.get(name);
      return limit !== undefined && compareQuantities(limit, amount) === 0;
    });
  return isExact ? 'Guaranteed' : 'Burstable';
}

/** Adds what counts; the number of resources that it named. */
function add(sums: Amounts, amounts: JsonObject | undefined): number {
  let count = 0;
  for (const name of computeNames) {
    const amount = parseQuantity(textAt(amounts, name));
    if (amount === undefined || amount.nano <= 0n) continue;
    count += 1;
    const known = sums.get(name);
    sums.set(name, known === undefined ? amount : { ...known, nano: known.nano + amount.nano });
  }
  return count;
}
