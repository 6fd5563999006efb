// Endpoint slices: addresses of one type, ports with names of their own.
import { ipProblems } from '../../api/address-formats.ts';
import { ipFamily, specialIpProblems } from '../../api/ip-address.ts';
import { recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123LabelProblems, dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { Validator } from '../validator.ts';

export const validateEndpointSlice: Validator = ({ object, old, errors }) => {
  const type = textAt(object, 'addressType');
  const before = recordsAt(old, 'endpoints');
  for (const [at, endpoint] of recordsAt(object, 'endpoints').entries()) {
    const path = `endpoints[${String(at)}]`;
    for (const [index, address] of textsAt(endpoint, 'addresses').entries()) {
      if (textsAt(before[at], 'addresses').includes(address)) continue;
      const where = `${path}.addresses[${String(index)}]`;
      if (type === 'FQDN' && address === '') errors.required(where);
      else errors.problems(where, address, addressProblems(type, address));
    }
  }
  if (old !== undefined && sameJson(object['ports'], old['ports'])) return;
  const names = new Set<string>();
  for (const [at, port] of recordsAt(object, 'ports').entries()) {
    const name = textAt(port, 'name');
    if (names.has(name)) errors.duplicate(`ports[${String(at)}].name`, name);
    names.add(name);
  }
};

function addressProblems(type: string, address: string): readonly string[] {
  if (type === 'FQDN') return domainNameProblems(address.replace(/\.$/, ''));
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const problems = ipProblems(address);
  if (problems.length > 0) return problems;
  if (ipFamily(address) !== type) return [`must be a valid ${type} address`];
  return specialIpProblems(address);
}

/** A name that leads somewhere from anywhere. */
function domainNameProblems(name: string): readonly string[] {
  const problems = dns1123SubdomainProblems(name);
  if (problems.length > 0) return [problems.join(',')];
  const labels = name.split('.');
  if (labels.length < 2) {
    return ['should be a domain with at least two segments separated by dots'];
  }
  return labels.flatMap((label) => {
    const found = dns1123LabelProblems(label);
    return found.length === 0 ? [] : [found.join(',')];
  });
}
