// Endpoints: addresses that pods can have, and ports with names where there are several.
import { ipProblems } from '../../api/address-formats.ts';
import { specialIpProblems } from '../../api/ip-address.ts';
import { recordsAt, textAt } from '../../api/json-access.ts';
import type { Validator } from '../validator.ts';

export const validateEndpoints: Validator = ({ object, errors }) => {
  for (const [at, subset] of recordsAt(object, 'subsets').entries()) {
    const path = `subsets[${String(at)}]`;
    const lists = ['addresses', 'notReadyAddresses'] as const;
    if (lists.every((name) => recordsAt(subset, name).length === 0)) {
      errors.required(path, 'must specify `addresses` or `notReadyAddresses`');
    }
    for (const name of lists) {
      for (const [index, address] of recordsAt(subset, name).entries()) {
        const ip = textAt(address, 'ip');
        const problems = ipProblems(ip);
        const where = `${path}.${name}[${String(index)}].ip`;
        errors.problems(where, ip, [...problems, ...specialIpProblems(ip)]);
      }
    }
    const ports = recordsAt(subset, 'ports');
    for (const [index, port] of ports.entries()) {
      if (ports.length < 2 || textAt(port, 'name') !== '') continue;
      errors.required(`${path}.ports[${String(index)}].name`);
    }
  }
};
