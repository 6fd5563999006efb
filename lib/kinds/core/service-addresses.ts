// Addresses of services within the cluster: one of each family, and what of them may change.
import { ipProblems } from '../../api/address-formats.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { ipFamily, withoutZeros } from '../../api/ip-address.ts';
import { isSet, recordAt, textAt, textsAt } from '../../api/json-access.ts';
import { isEmpty } from '../../api/presence.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Holder } from '../validator.ts';
import { isHeadless, needsClusterIp } from './service-types.ts';

const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const families = ['IPv4', 'IPv6'];
const addressesPath = 'spec.clusterIPs';
const policyPath = 'spec.ipFamilyPolicy';

export function validateAddresses(spec: JsonObject, old: Holder, errors: FieldErrors): void {
  if (!needsClusterIp(spec)) return;
  const count = errors.list.length;
  validateFirst(spec, errors);
  validateFamilies(spec, errors);
  validateList(spec, new Set(textsAt(old, 'clusterIPs')), errors);
  if (errors.list.length === count) validatePolicy(spec, old, errors);
}

/** The single address is the first of the list. */
function validateFirst(spec: JsonObject, errors: FieldErrors): void {
  const single = textAt(spec, 'clusterIP');
  const all = textsAt(spec, 'clusterIPs');
  if (single === '' && all.length > 0) {
    errors.invalid(addressesPath, all, 'must be empty when `clusterIP` is not specified');
  } else if (single !== '' && all.length === 0) errors.required(addressesPath);
  else if (single !== '' && single !== all[0]) {
    errors.invalid(addressesPath, all, 'first value must match `clusterIP`');
  }
}

function validateFamilies(spec: JsonObject, errors: FieldErrors): void {
  const given = textsAt(spec, 'ipFamilies');
  const seen = new Set<string>();
  for (const [at, family] of given.entries()) {
    const path = `spec.ipFamilies[${String(at)}]`;
    if (!families.includes(family)) errors.notSupported(path, family, families);
    if (seen.has(family)) errors.duplicate(path, family);
    seen.add(family);
  }
  const policy = textAt(spec, 'ipFamilyPolicy');
  if (isSet(spec, 'ipFamilyPolicy') && !familyPolicies.includes(policy)) {
    errors.notSupported(policyPath, policy, familyPolicies);
  }
}

function validateList(spec: JsonObject, stored: ReadonlySet<string>, errors: FieldErrors): void {
  const all = textsAt(spec, 'clusterIPs');
  const count = errors.list.length;
  for (const [at, address] of all.entries()) {
    if (at === 0 && address === 'None') {
      if (all.length > 1) {
        errors.invalid(addressesPath, all, "'None' must be the first and only value");
      }
    } else errors.problems(`${addressesPath}[${String(at)}]`, address, ipProblems(address, stored));
  }
  const areRight = errors.list.length === count;
  if (all.length > 2) errors.invalid(addressesPath, all, 'may only hold up to 2 values');
  if (!areRight) return;
  const found = all.map((address) => ipFamily(withoutZeros(address)));
  if (all.length > 1 && new Set(found).size < 2) {
    errors.invalid(addressesPath, all, 'may specify no more than one IP for each IP family');
  }
  if (isHeadless(spec)) return;
  for (const [at, family] of textsAt(spec, 'ipFamilies').slice(0, all.length).entries()) {
    if (!families.includes(family) || found[at] === family) continue;
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${String(at)}]\``;
    errors.invalid(`${addressesPath}[${String(at)}]`, all[at], detail);
  }
}

/** Two addresses, or families, need a policy that allows two. */
function validatePolicy(spec: JsonObject, old: Holder, errors: FieldErrors): void {
  if (policyOf(spec, old) !== 'SingleStack') return;
  for (const [name, many] of [
    ['clusterIPs', 'cluster IPs'],
    ['ipFamilies', 'IP families'],
  ] as const) {
    if (textsAt(spec, name).length !== 2) continue;
    const two = "'RequireDualStack' or 'PreferDualStack'";
    const detail = `must be ${two} when multiple ${many} are specified`;
    errors.invalid(policyPath, spec['ipFamilyPolicy'] ?? 'SingleStack', detail);
  }
}

function policyOf(spec: JsonObject, old: Holder): string {
  const policy = textAt(spec, 'ipFamilyPolicy') || textAt(old, 'ipFamilyPolicy');
  if (policy !== '') return policy;
  const isForAny = isHeadless(spec) && isEmpty(recordAt(spec, 'selector'));
  return isForAny ? 'RequireDualStack' : 'SingleStack';
}

/** The first address stays; a second one comes, and goes with the policy that demands none. */
export function validateAddressChange(
  spec: JsonObject,
  old: JsonObject,
  errors: FieldErrors,
): void {
  if (!needsClusterIp(spec) || !needsClusterIp(old)) return;
  const wasHeadless = isHeadless(old);
  if (wasHeadless && isHeadless(spec)) return;
  validateListChange('clusterIPs', 'clusterIP', { spec, old, errors });
  if (!wasHeadless && !isHeadless(spec)) {
    validateListChange('ipFamilies', 'ipFamily', { spec, old, errors });
  }
}

interface Change {
  readonly spec: JsonObject;
  readonly old: JsonObject;
  readonly errors: FieldErrors;
}

function validateListChange(name: string, single: string, { spec, old, errors }: Change): void {
  const [now, before] = [textsAt(spec, name), textsAt(old, name)];
  const path = `spec.${name}`;
  const final = 'may not change once set';
  if (now.length === before.length) {
    for (const [at, value] of before.entries()) {
      if (now[at] === value) continue;
      const place = name === 'ipFamilies' ? 0 : at;
      errors.invalid(`${path}[${String(place)}]`, now, final);
    }
    return;
  }
  if (now.length === 0 && textsAt(spec, 'clusterIPs').length === 0) {
    errors.invalid(`${path}[0]`, now, `primary ${single} can not be unset`);
  }
  if (now.length > 0 && before.length > 0 && now[0] !== before[0]) {
    errors.invalid(`${path}[0]`, textsAt(spec, 'clusterIPs'), final);
  }
  if (now.length === 1 && before.length > 1 && textAt(spec, 'ipFamilyPolicy') !== 'SingleStack') {
    const detail = `must be set to 'SingleStack' when releasing the secondary ${single}`;
    errors.invalid(policyPath, spec['ipFamilyPolicy'] ?? null, detail);
  }
}
