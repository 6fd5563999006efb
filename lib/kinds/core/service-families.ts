// Which families the addresses of a service are of, in their order: as asked for, as its addresses
// are, as it was before, or as the cluster's first network is. Nothing is allocated here.
import { FieldErrors } from '../../api/field-errors.ts';
import { ipFamily } from '../../api/ip-address.ts';
import type { IpFamily } from '../../api/ip-address.ts';
import { recordAt, textAt, textsAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { cloneJson } from '../../api/json-value.ts';
import { isEmpty } from '../../api/presence.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { FieldError } from '../../base/status.ts';
import { validateAddresses } from './service-addresses.ts';
import { isHeadless, needsClusterIp, typeOf } from './service-types.ts';

type Spec = Readonly<JsonObject>;

const policyPath = 'spec.ipFamilyPolicy';
const familiesPath = 'spec.ipFamilies';

const other = (family: string | undefined): IpFamily => (family === 'IPv4' ? 'IPv6' : 'IPv4');
const policyOf = (spec: Spec): string => textAt(spec, 'ipFamilyPolicy');
const hasNoSelector = (spec: Spec): boolean => isEmpty(recordAt(spec, 'selector'));

/** A service that others store with its first address only, as it is shown and compared. */
export function completeOldSpec(stored: Spec, families: readonly IpFamily[]): JsonObject {
  const spec = cloneJson(stored) as JsonObject;
  const single = textAt(spec, 'clusterIP');
  if (single !== '' && textsAt(spec, 'clusterIPs').length === 0) spec['clusterIPs'] = [single];
  if (!needsClusterIp(spec) || textsAt(spec, 'ipFamilies').length > 0) return spec;
  const [first = 'IPv4'] = families;
  if (!isHeadless(spec)) {
    const found = textsAt(spec, 'clusterIPs').flatMap((address) => ipFamily(address) ?? []);
    if (found.length === 0) return spec;
    spec['ipFamilies'] = found;
    spec['ipFamilyPolicy'] = found.length > 1 ? 'RequireDualStack' : 'SingleStack';
  } else if (hasNoSelector(spec)) {
    spec['ipFamilies'] = [first, other(first)];
    spec['ipFamilyPolicy'] = 'RequireDualStack';
  } else {
    spec['ipFamilies'] = [first];
    spec['ipFamilyPolicy'] = 'SingleStack';
  }
  return spec;
}

/**
 * Completes `spec`; `families`: those that the cluster has networks of, its default first. The
 * failures say why there is no right answer; then nothing may be allocated.
 */
export function settleFamilies(
  spec: JsonObject,
  old: Spec | undefined,
  families: readonly IpFamily[],
): readonly FieldError[] {
  if (!needsClusterIp(spec) || staysPreferred(spec, old)) return [];
  settlePolicy(spec, old);
  const loose = new FieldErrors();
  validateAddresses(spec, old, loose);
  if (loose.list.length > 0) return loose.list;
  const errors = new FieldErrors();
  if (old !== undefined && policyOf(spec) !== 'SingleStack') refuseLess(spec, old, errors);
  inferFamilies(spec, families, errors);
  if (errors.list.length > 0) return errors.list;
  if (isHeadless(spec) && hasNoSelector(spec)) {
    completeFamilies(spec, families, { always: true });
    return [];
  }
  refuseAbsent(spec, families, errors);
  if (errors.list.length === 0) completeFamilies(spec, families, { always: false });
  return errors.list;
}

/** What prefers two addresses gets no second one because the cluster changed, nor loses it. */
export function staysPreferred(spec: Spec, old: Spec | undefined): boolean {
  if (old === undefined || typeOf(old) !== typeOf(spec)) return false;
  if (policyOf(spec) !== 'PreferDualStack') return false;
  if (!['', 'PreferDualStack'].includes(policyOf(old))) return false;
  return ['clusterIPs', 'ipFamilies'].every((name) =>
    sameJson([...textsAt(spec, name)], [...textsAt(old, name)]),
  );
}

function settlePolicy(spec: JsonObject, old: Spec | undefined): void {
  if (policyOf(spec) !== '') return;
  const before = old === undefined ? '' : policyOf(old);
  const isForAny = isHeadless(spec) && hasNoSelector(spec);
  spec['ipFamilyPolicy'] = before || (isForAny ? 'RequireDualStack' : 'SingleStack');
}

/** The second address, or family, goes by the policy alone. */
function refuseLess(spec: Spec, old: Spec, errors: FieldErrors): void {
  for (const [name, what] of [
    ['clusterIPs', 'cluster IP'],
    ['ipFamilies', 'IP family'],
  ] as const) {
    const count = textsAt(spec, name).length;
    if (count === 0 || count >= textsAt(old, name).length) continue;
    const detail = `must be 'SingleStack' to release the secondary ${what}`;
    errors.invalid(policyPath, policyOf(spec), detail);
  }
}

/** A stated address says its family. */
function inferFamilies(spec: JsonObject, families: readonly IpFamily[], errors: FieldErrors): void {
  if (isHeadless(spec)) return;
  const known = [...textsAt(spec, 'ipFamilies')];
  const addresses = textsAt(spec, 'clusterIPs');
  for (const [at, address] of addresses.entries()) {
    const family = ipFamily(address);
    if (at < known.length || family === undefined) continue;
    if (families.includes(family)) known.push(family);
    else {
      const detail = `${family} is not configured on this cluster`;
      errors.invalid(`spec.clusterIPs[${String(at)}]`, addresses, detail);
    }
  }
  if (known.length > 0) spec['ipFamilies'] = known;
}

/** What the cluster has no network of. */
function refuseAbsent(spec: Spec, families: readonly IpFamily[], errors: FieldErrors): void {
  if (policyOf(spec) === 'RequireDualStack' && families.length < 2) {
    const detail = 'this cluster is not configured for dual-stack services';
    errors.invalid(policyPath, policyOf(spec), detail);
  }
  for (const [at, family] of textsAt(spec, 'ipFamilies').entries()) {
    if (families.some((one) => one === family)) continue;
    errors.invalid(`${familiesPath}[${String(at)}]`, family, 'not configured on this cluster');
  }
}

/** `always`: two where two are asked for, whatever networks the cluster has. */
function completeFamilies(
  spec: JsonObject,
  families: readonly IpFamily[],
  { always }: { readonly always: boolean },
): void {
  const known = [...textsAt(spec, 'ipFamilies')];
  if (known.length === 0) known.push(families[0] ?? 'IPv4');
  const canHaveTwo = always || families.length === 2;
  if (known.length === 1 && canHaveTwo && policyOf(spec) !== 'SingleStack') {
    known.push(other(known[0]));
  }
  spec['ipFamilies'] = known;
}
