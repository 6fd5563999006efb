// What a ServiceCIDR says of itself, and which addresses would be left without any once it is gone.
// Pure: objects in, objects and answers out.
import { isStrictSubnet, parseCidr } from '../api/ip-address.ts';
import type { Network } from '../api/ip-address.ts';
import { listAt, recordAt, recordsAt, textAt, textsAt } from '../api/json-access.ts';
import { cloneJson, setMember } from '../api/json-value.ts';
import type { JsonObject } from '../api/type-info.ts';
import { formatTime } from '../base/clock.ts';
import type { ApiObject } from '../codec/codec.ts';

type Range = Readonly<ApiObject>;

export interface Readiness {
  readonly isReady: boolean;
  /** '' where there is nothing to explain. */
  readonly reason: string;
  readonly message: string;
}

export const cidrsOf = (range: Range): readonly string[] =>
  textsAt(recordAt(range, 'spec'), 'cidrs');

const networksOf = (range: Range): readonly Network[] =>
  cidrsOf(range).flatMap((cidr) => parseCidr(cidr) ?? []);

/** The condition of type Ready, once somebody has written it. */
export const readyCondition = (range: Range): JsonObject | undefined =>
  recordsAt(recordAt(range, 'status'), 'conditions').find(
    (condition) => textAt(condition, 'type') === 'Ready',
  );

/** The same object with another condition Ready; its time is that of the last change of status. */
export function withReadiness(range: Range, readiness: Readiness, nowMs: number): ApiObject {
  const { isReady, reason, message } = readiness;
  const old = readyCondition(range);
  const status = isReady ? 'True' : 'False';
  const isSame = old !== undefined && textAt(old, 'status') === status;
  const lastTransitionTime = isSame ? textAt(old, 'lastTransitionTime') : formatTime(nowMs);
  const condition = { type: 'Ready', status, lastTransitionTime, reason, message };
  const object = cloneJson(range) as ApiObject;
  const others = listAt(recordAt(range, 'status'), 'conditions').filter((one) => one !== old);
  setMember(object, 'status', {
    ...recordAt(object, 'status'),
    conditions: [...cloneJson(others), condition],
  });
  return object;
}

/** Every address of `outer` includes those of `inner`. */
const covers = (outer: Network, inner: Network): boolean =>
  isStrictSubnet(inner, outer) ||
  (inner.family === outer.family &&
    inner.prefixLength === outer.prefixLength &&
    inner.first === outer.first);

/** Each network of `range` lies in one of the others: no address depends on `range`. */
export function isCovered(range: Range, others: readonly Range[]): boolean {
  const outer = others.flatMap(networksOf);
  return networksOf(range).every((inner) => outer.some((network) => covers(network, inner)));
}

/** Answers for addresses: one lies in `range` and in none of `others`. */
export function dependsOn(range: Range, others: readonly Range[]): (ip: string) => boolean {
  const own = networksOf(range);
  const rest = others.flatMap(networksOf);
  return (ip) => {
    const address = parseCidr(`${ip}/${ip.includes(':') ? '128' : '32'}`);
    if (address === undefined) return false;
    const isIn = (network: Network): boolean => covers(network, address);
    return own.some(isIn) && !rest.some(isIn);
  };
}
