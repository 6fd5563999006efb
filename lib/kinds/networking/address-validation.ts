// Single addresses and whom they are given to, and ranges that services take addresses from.
import { canonicalCidrProblems } from '../../api/address-formats.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { immutableDetail } from '../../api/field-errors.ts';
import { parseCidr } from '../../api/ip-address.ts';
import { recordAt, recordIn, textAt, textsAt, valueAt } from '../../api/json-access.ts';
import { dns1123SubdomainProblems, pathSegmentProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Validator } from '../validator.ts';

export const validateIpAddress: Validator = ({ object, errors }) => {
  const path = 'spec.parentRef';
  const parent = recordIn(object, 'spec', 'parentRef');
  const group = textAt(parent, 'group');
  if (group !== '') errors.problems(`${path}.group`, group, dns1123SubdomainProblems(group));
  for (const name of ['resource', 'name', 'namespace']) {
    const value = textAt(parent, name);
    if (value !== '') errors.problems(`${path}.${name}`, value, pathSegmentProblems(value));
  }
};

const path = 'spec.cidrs';

/** A range stays as it is; one of the other family may join a single one. */
export const validateServiceCidr: Validator = ({ object, old, errors, subresource }) => {
  if (subresource !== '') return;
  const spec = recordAt(object, 'spec') ?? {};
  if (old === undefined) {
    validateRanges(spec, errors);
    return;
  }
  const cidrs = textsAt(spec, 'cidrs');
  const before = textsAt(recordAt(old, 'spec'), 'cidrs');
  const isJoined = before.length === 1 && cidrs.length === 2;
  if (!isJoined && before.length !== cidrs.length) {
    errors.invalid(path, valueAt(spec, 'cidrs') ?? null, immutableDetail);
    return;
  }
  for (const [at, cidr] of before.entries()) {
    if (cidrs[at] !== cidr) errors.invalid(`${path}[${String(at)}]`, cidrs[at], immutableDetail);
  }
  if (isJoined) validateRanges(spec, errors);
};

function validateRanges(spec: JsonObject, errors: FieldErrors): void {
  const cidrs = textsAt(spec, 'cidrs');
  if (cidrs.length === 0) errors.required(path, 'at least one CIDR required');
  if (cidrs.length > 2) {
    errors.invalid(path, { CIDRs: cidrs }, 'may only hold up to 2 values');
    return;
  }
  for (const [at, cidr] of cidrs.entries()) {
    errors.problems(`${path}[${String(at)}]`, cidr, canonicalCidrProblems(cidr));
  }
  const [first, second] = cidrs.map((cidr) => parseCidr(cidr)?.family);
  if (first === undefined || first !== second) return;
  const detail =
    'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
  errors.invalid(path, cidrs, detail);
}
