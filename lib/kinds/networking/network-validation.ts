// Network policies, address ranges of services and single addresses.
import { portNameProblems } from '../../api/formats.ts';
import { isStrictSubnet, parseCidr } from '../../api/ip-address.ts';
import {
  isSet,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
  valueAt,
} from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';

export const validateNetworkPolicy: Validator = (write) => {
  const { object, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  validateLabelSelector(recordAt(spec, 'podSelector'), 'spec.podSelector', errors);
  for (const [direction, peers] of [
    ['ingress', 'from'],
    ['egress', 'to'],
  ] as const) {
    for (const [at, rule] of recordsAt(spec, direction).entries()) {
      const path = `spec.${direction}[${String(at)}]`;
      for (const [index, port] of recordsAt(rule, 'ports').entries()) {
        validatePort(port, `${path}.ports[${String(index)}]`, write);
      }
      for (const [index, peer] of recordsAt(rule, peers).entries()) {
        validatePeer(peer, `${path}.${peers}[${String(index)}]`, write);
      }
    }
  }
};

function validatePort(port: JsonObject, path: string, { errors }: ValidatedWrite): void {
  const number = valueAt(port, 'port');
  const end = numberAt(port, 'endPort');
  if (typeof number === 'string') {
    errors.problems(`${path}.port`, number, portNameProblems(number));
    if (end !== undefined) {
      errors.invalid(`${path}.endPort`, end, 'may not be specified when `port` is non-numeric');
    }
    return;
  }
  if (typeof number !== 'number') {
    if (end !== undefined) {
      errors.invalid(`${path}.endPort`, end, 'may not be specified when `port` is not specified');
    }
    return;
  }
  if (number < 1 || number > 65_535) {
    errors.invalid(`${path}.port`, number, 'must be between 1 and 65535, inclusive');
  }
  if (end === undefined) return;
  if (end < number) {
    errors.invalid(`${path}.endPort`, end, 'must be greater than or equal to `port`');
  } else if (end > 65_535) {
    errors.invalid(`${path}.endPort`, end, 'must be between 1 and 65535, inclusive');
  }
}

function validatePeer(peer: JsonObject, path: string, { errors }: ValidatedWrite): void {
  const kinds = ['podSelector', 'namespaceSelector', 'ipBlock'].filter((name) => isSet(peer, name));
  for (const name of ['podSelector', 'namespaceSelector']) {
    validateLabelSelector(recordAt(peer, name), `${path}.${name}`, errors);
  }
  if (kinds.length === 0) errors.required(path, 'must specify a peer');
  const block = recordAt(peer, 'ipBlock');
  if (block === undefined) return;
  if (kinds.length > 1) {
    errors.forbidden(path, 'may not specify both ipBlock and another peer');
  }
  const outer = parseCidr(textAt(block, 'cidr'));
  for (const [at, except] of textsAt(block, 'except').entries()) {
    const where = `${path}.ipBlock.except[${String(at)}]`;
    const inner = parseCidr(except);
    if (inner === undefined) {
      errors.invalid(
        where,
        except,
        'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
      );
    } else if (outer !== undefined && !isStrictSubnet(inner, outer)) {
      errors.invalid(where, except, 'must be a strict subset of `cidr`');
    }
  }
}

export const validateServiceCidr: Validator = ({ object, old, errors }) => {
  const cidrs = textsAt(recordAt(object, 'spec'), 'cidrs');
  const families = cidrs.map((cidr) => parseCidr(cidr)?.family);
  if (cidrs.length === 2 && families[0] !== undefined && families[0] === families[1]) {
    errors.invalid('spec.cidrs', cidrs, 'may specify no more than one IP for each IP family');
  }
  if (old === undefined) return;
  const before = textsAt(recordAt(old, 'spec'), 'cidrs');
  if (before.every((cidr, at) => cidrs[at] === cidr)) return;
  errors.invalid('spec.cidrs', cidrs, 'field is immutable: a second family may be added');
};
