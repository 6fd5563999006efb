// Endpoint slices: addresses of one type, ports with names of their own.
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import { canonicalIp, ipFamily, specialIpProblems } from '../../api/ip-address.ts';
import { recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { Validator } from '../validator.ts';

export const validateEndpointSlice: Validator = ({ object, old, errors }) => {
  const type = textAt(object, 'addressType');
  const before = recordsAt(old, 'endpoints');
  for (const [at, endpoint] of recordsAt(object, 'endpoints').entries()) {
    const path = `endpoints[${String(at)}]`;
    for (const [index, address] of textsAt(endpoint, 'addresses').entries()) {
      if (textsAt(before[at], 'addresses').includes(address)) continue;
      const problems = addressProblems(type, address);
      errors.problems(`${path}.addresses[${String(index)}]`, address, problems);
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
  if (type === 'FQDN') return dns1123SubdomainProblems(address);
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  if (ipFamily(address) !== type) return [`must be a valid ${type} address`];
  const canonical = canonicalIp(address);
  if (canonical !== address) return [`must be in canonical form ("${canonical ?? ''}")`];
  return specialIpProblems(address);
}
