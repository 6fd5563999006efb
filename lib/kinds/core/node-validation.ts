// Nodes and namespaces: what is set once, and what a namespace's phase must be.
import { isSet, recordAt, textAt, textsAt, valueAt } from '../../api/json-access.ts';
import { ipFamily } from '../../api/ip-address.ts';
import { sameJson } from '../../api/json-equal.ts';
import { qualifiedNameProblems } from '../../api/name-rules.ts';
import type { Validator } from '../validator.ts';
import { validateResourceList } from './resource-lists.ts';

export const validateNode: Validator = (write) => {
  const { object, old, errors } = write;
  const spec = recordAt(object, 'spec');
  const status = recordAt(object, 'status');
  const cidrs = textsAt(spec, 'podCIDRs');
  const families = cidrs.map((cidr) => ipFamily(cidr.split('/')[0] ?? ''));
  if (cidrs.length > 2 || new Set(families).size < families.length) {
    errors.invalid('spec.podCIDRs', cidrs, 'may specify no more than one CIDR for each IP family');
  }
  for (const name of ['capacity', 'allocatable']) {
    validateResourceList(status, name, 'status', write);
  }
  const features = textsAt(status, 'declaredFeatures');
  if (features.some((one, at) => at > 0 && one < (features[at - 1] ?? ''))) {
    errors.invalid('status.declaredFeatures', features, 'list must be sorted');
  }
  const before = recordAt(old, 'spec');
  if (isSet(spec, 'configSource') && !sameJson(spec?.['configSource'], before?.['configSource'])) {
    const detail = 'configSource must be specified the same as before: it is no longer settable';
    errors.invalid('spec.configSource', spec?.['configSource'], detail);
  }
  if (old === undefined) return;
  for (const name of ['podCIDRs', 'providerID']) {
    if (!isSet(before, name) || sameJson(valueAt(before, name), valueAt(spec, name))) continue;
    const detail = 'node updates may not change it once it is set';
    errors.forbidden(`spec.${name}`, detail);
  }
  if (textAt(before, 'externalID') !== textAt(spec, 'externalID')) {
    errors.forbidden('spec.externalID', 'may not be updated');
  }
};

export const validateNamespace: Validator = ({ object, old, errors, naming, subresource }) => {
  for (const [at, value] of textsAt(recordAt(object, 'spec'), 'finalizers').entries()) {
    const path = `spec.finalizers[${String(at)}]`;
    const problems = qualifiedNameProblems(value);
    errors.problems(path, value, problems);
    if (problems.length > 0 || value.includes('/') || value === naming.namespaceFinalizer) continue;
    const detail = 'name is neither a standard finalizer name nor is it fully qualified';
    errors.invalid(path, value, detail);
  }
  if (old === undefined || subresource !== 'status') return;
  const phase = textAt(recordAt(object, 'status'), 'phase');
  const isDeleting = isSet(recordAt(object, 'metadata'), 'deletionTimestamp');
  if (phase === (isDeleting ? 'Terminating' : 'Active')) return;
  const detail = isDeleting
    ? 'may only be Terminating if `deletionTimestamp` is not empty'
    : 'may only be Active if `deletionTimestamp` is empty';
  errors.invalid('status.phase', phase, detail);
};
