// Nodes and namespaces: what is set once, and what a namespace's phase must be.
import { cidrProblems } from '../../api/address-formats.ts';
import { parseCidr } from '../../api/ip-address.ts';
import {
  entriesAt,
  isSet,
  numberAt,
  recordAt,
  recordIn,
  recordsAt,
  textAt,
  textsAt,
} from '../../api/json-access.ts';
import { isStandardFinalizer } from '../../api/meta.ts';
import { qualifiedNameProblems } from '../../api/name-rules.ts';
import type { Holder, ValidatedWrite, Validator } from '../validator.ts';
import { validateNodeAnnotations, validateTaints } from './node-taints.ts';
import { validateAmount } from './resource-lists.ts';
import { isIntegerResource } from './resource-names.ts';

/** A changed node is looked at as a whole and as a change: what both look at is reported twice. */
export const validateNode: Validator = (write) => {
  if (write.old === undefined || write.subresource === '') validateWhole(write);
  if (write.old !== undefined) validateChange(write, write.old);
};

function validateWhole(write: ValidatedWrite): void {
  const { object, errors } = write;
  validateNodeAnnotations(write);
  validateTaints(recordsAt(recordAt(object, 'spec'), 'taints'), 'metadata.taints', errors);
  validateResources(write);
  const swap = numberAt(recordIn(object, 'status', 'nodeInfo', 'swap'), 'capacity');
  if (swap !== undefined && swap <= 0) {
    errors.invalid('metadata.nodeSwapStatus.capacity', swap, 'must be greater than zero');
  }
  validateFeatures(write);
  validatePodNetworks(write);
}

function validateResources({ object, errors, naming }: ValidatedWrite): void {
  for (const list of ['capacity', 'allocatable']) {
    for (const [name, value] of entriesAt(recordAt(object, 'status'), list)) {
      validateAmount(value, `status.${list}.${name}`, errors, isIntegerResource(name, naming));
    }
  }
}

const featurePattern = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const featureLengthMax = 253;

function featureProblems(name: string): readonly string[] {
  const prefix = `invalid feature name ${JSON.stringify(name)}: must`;
  if (name.length > featureLengthMax) {
    return [`${prefix} be no more than ${String(featureLengthMax)} characters`];
  }
  if (featurePattern.test(name)) return [];
  return [
    `${prefix} start with an UpperCamelCase segment, with subsequent segments separated by '/' ` +
      '(e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters ' +
      'and slashes',
  ];
}

function validateFeatures({ object, errors }: ValidatedWrite): void {
  const features = textsAt(recordAt(object, 'status'), 'declaredFeatures');
  for (const [at, name] of features.entries()) {
    const path = `status.declaredFeatures[${String(at)}]`;
    const before = features[at - 1];
    if (before === name) errors.duplicate(path, name);
    else if (before !== undefined && before > name) {
      errors.invalid(path, name, 'list must be sorted alphabetically');
    }
    errors.problems(path, name, featureProblems(name));
  }
}

function validatePodNetworks({ object, errors }: ValidatedWrite): void {
  const path = 'spec.podCIDRs';
  const cidrs = textsAt(recordAt(object, 'spec'), 'podCIDRs');
  for (const [at, cidr] of cidrs.entries()) {
    errors.problems(`${path}[${String(at)}]`, cidr, cidrProblems(cidr));
  }
  if (cidrs.length < 2) return;
  const families = cidrs.map((cidr) => parseCidr(cidr)?.family);
  const unread = families.indexOf(undefined);
  if (unread >= 0) {
    errors.internal(
      path,
      'invalid PodCIDRs. failed to check with dual stack with error:' +
        `invalid CIDR[${String(unread)}]: <nil> (invalid CIDR address: ${cidrs[unread] ?? ''})`,
    );
  }
  if (unread >= 0 || cidrs.length > 2 || families[0] === families[1]) {
    errors.invalid(path, cidrs, 'may specify no more than one CIDR for each IP family');
  }
  for (const [at, cidr] of cidrs.entries()) {
    if (cidrs.indexOf(cidr) < at) errors.duplicate(`${path}[${String(at)}]`, cidr);
  }
}

function validateChange(write: ValidatedWrite, old: Holder): void {
  const { object, errors } = write;
  const [spec, before] = [recordAt(object, 'spec'), recordAt(old, 'spec')];
  validateNodeAnnotations(write);
  validateResources(write);
  validateFeatures(write);
  const addresses = new Set<string>();
  for (const [at, address] of recordsAt(recordAt(object, 'status'), 'addresses').entries()) {
    const identity = JSON.stringify([textAt(address, 'type'), textAt(address, 'address')]);
    if (addresses.has(identity)) errors.duplicate(`status.addresses[${String(at)}]`, address);
    addresses.add(identity);
  }
  const oldCidrs = textsAt(before, 'podCIDRs');
  const cidrs = textsAt(spec, 'podCIDRs');
  if (oldCidrs.length > 0) {
    const changes = oldCidrs.filter((cidr, at) => cidrs[at] !== cidr).length;
    const count = oldCidrs.length === cidrs.length ? changes : 1;
    for (let at = 0; at < count; at += 1) {
      errors.forbidden('spec.podCIDRs', onlyOnce('podCIDR'));
    }
  }
  const provider = textAt(before, 'providerID');
  if (provider !== '' && provider !== textAt(spec, 'providerID')) {
    errors.forbidden('spec.providerID', onlyOnce('providerID'));
  }
  validateTaints(recordsAt(spec, 'taints'), 'metadata.taints', errors);
  if (textAt(before, 'externalID') !== textAt(spec, 'externalID')) {
    errors.forbidden('spec.externalID', 'may not be updated');
  }
}

const onlyOnce = (name: string): string =>
  `node updates may not change ${name} except from "" to valid`;

export const validateNamespace: Validator = ({ object, old, errors, naming, subresource }) => {
  const finalizers = textsAt(recordAt(object, 'spec'), 'finalizers');
  for (const [at, value] of finalizers.entries()) {
    const path = old === undefined ? 'spec.finalizers' : `spec.finalizers[${String(at)}]`;
    errors.problems(path, value, qualifiedNameProblems(value));
    if (value.includes('/') || isStandardFinalizer(value, naming)) continue;
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    errors.invalid(path, value, detail);
  }
  if (old === undefined || subresource !== 'status') return;
  const phase = textAt(recordAt(object, 'status'), 'phase');
  const isDeleting = isSet(recordAt(object, 'metadata'), 'deletionTimestamp');
  if (phase === (isDeleting ? 'Terminating' : 'Active')) return;
  const detail = isDeleting
    ? "may only be 'Terminating' if `deletionTimestamp` is not empty"
    : "may only be 'Active' if `deletionTimestamp` is empty";
  errors.invalid('status.Phase', phase, detail);
};
