// Network policies: their rules, and the ports and peers of each.
import { cidrProblems } from '../../api/address-formats.ts';
import { portNameProblems, portNumberProblems } from '../../api/formats.ts';
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
  const types = textsAt(spec, 'policyTypes');
  if (types.length > policyTypes.length) {
    errors.invalid('spec.policyTypes', types, 'may not specify more than two policyTypes');
    return;
  }
  for (const [at, type] of types.entries()) {
    if (policyTypes.includes(type)) continue;
    errors.notListed(`spec.policyTypes[${String(at)}]`, type, policyTypes);
  }
};

const policyTypes = ['Ingress', 'Egress'];
const protocols = ['TCP', 'UDP', 'SCTP'];

function validatePort(port: JsonObject, path: string, { errors }: ValidatedWrite): void {
  const protocol = textAt(port, 'protocol');
  if (isSet(port, 'protocol') && !protocols.includes(protocol)) {
    errors.notListed(`${path}.protocol`, protocol, protocols);
  }
  const number = valueAt(port, 'port');
  const end = numberAt(port, 'endPort');
  if (typeof number === 'number') {
    errors.problems(`${path}.port`, number, portNumberProblems(number));
    if (end === undefined) return;
    if (end < number) {
      errors.invalid(`${path}.endPort`, end, 'must be greater than or equal to `port`');
    }
    errors.problems(`${path}.endPort`, end, portNumberProblems(end));
    return;
  }
  if (end !== undefined) {
    const why = typeof number === 'string' ? 'non-numeric' : 'not specified';
    errors.invalid(`${path}.endPort`, end, `may not be specified when \`port\` is ${why}`);
  }
  if (typeof number === 'string') errors.problems(`${path}.port`, number, portNameProblems(number));
}

function validatePeer(peer: JsonObject, path: string, write: ValidatedWrite): void {
  const { errors } = write;
  const kinds = ['podSelector', 'namespaceSelector', 'ipBlock'].filter((name) => isSet(peer, name));
  for (const name of ['podSelector', 'namespaceSelector']) {
    validateLabelSelector(recordAt(peer, name), `${path}.${name}`, errors);
  }
  const block = recordAt(peer, 'ipBlock');
  if (block !== undefined) validateBlock(block, `${path}.ipBlock`, write);
  if (kinds.length === 0) errors.required(path, 'must specify a peer');
  if (block !== undefined && kinds.length > 1) {
    errors.forbidden(path, 'may not specify both ipBlock and another peer');
  }
}

/** Without a network there is nothing to except from. */
function validateBlock(block: JsonObject, path: string, { errors }: ValidatedWrite): void {
  const cidr = textAt(block, 'cidr');
  if (cidr === '') return;
  errors.problems(`${path}.cidr`, cidr, cidrProblems(cidr));
  const outer = parseCidr(cidr);
  if (outer === undefined) return;
  for (const [at, except] of textsAt(block, 'except').entries()) {
    const where = `${path}.except[${String(at)}]`;
    errors.problems(where, except, cidrProblems(except));
    const inner = parseCidr(except);
    if (inner === undefined || isStrictSubnet(inner, outer)) continue;
    errors.invalid(where, except, 'must be a strict subset of `cidr`');
  }
}
