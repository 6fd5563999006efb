// Storage version migrations: the resource is a name that never changes; an outcome is final, and
// there is but one.
import { immutableDetail } from '../../api/field-errors.ts';
import { recordAt, recordIn, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../../api/name-rules.ts';
import { validateConditions } from '../condition-validation.ts';
import type { Holder, ValidatedWrite, Validator } from '../validator.ts';

export const validateMigration: Validator = (write) => {
  if (write.subresource === 'status') validateStatus(write);
  else validateSpec(write);
};

function validateSpec({ object, old, errors }: ValidatedWrite): void {
  const wanted = recordIn(object, 'spec', 'resource');
  const resource = textAt(wanted, 'resource');
  const problems = dns1035LabelProblems(resource);
  const path = 'spec.resource';
  if (resource === '') errors.required(`${path}.resource`, 'resource is required to be set');
  else if (problems.length > 0) errors.invalid(`${path}.resource`, resource, problems.join(','));
  const group = textAt(wanted, 'group');
  const wrong = group === '' ? [] : dns1123SubdomainProblems(group);
  if (wrong.length > 0) errors.invalid(`${path}.group`, group, wrong.join(','));
  if (old === undefined || sameJson(object.spec, recordAt(old, 'spec'))) return;
  errors.invalid('spec', object.spec, immutableDetail);
}

function validateStatus({ object, old, errors }: ValidatedWrite): void {
  const status = recordAt(object, 'status');
  const version = textAt(status, 'resourceVersion');
  const path = 'status.resourceVersion';
  if (!/^[1-9]\d*$/.test(version)) {
    errors.invalid(path, version, `resource version is not well formed: ${version}`);
  }
  validateConditions(status, 'status.conditions', errors);
  const before = recordAt(old, 'status');
  const known = textAt(before, 'resourceVersion');
  if (known !== '' && version !== known) errors.invalid(path, version, immutableDetail);
  const refuse = (detail: string): void => {
    errors.invalid('status.conditions', valueAt(status, 'conditions') ?? null, detail);
  };
  const [isDone, isFailed] = [holds(status, 'Succeeded'), holds(status, 'Failed')];
  if (isDone && isFailed) refuse('only one of Succeeded and Failed may be true');
  for (const outcome of ['Succeeded', 'Failed']) {
    if (holds(status, outcome)) {
      if (holds(status, 'Running')) refuse(`Running may not be true when ${outcome} is`);
    } else if (holds(before, outcome)) refuse(`${outcome} stays true once it is`);
  }
}

const holds = (status: Holder, type: string): boolean =>
  recordsAt(status, 'conditions').some(
    (one) => textAt(one, 'type') === type && textAt(one, 'status') === 'True',
  );
