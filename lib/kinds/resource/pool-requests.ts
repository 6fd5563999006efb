// Requests for the status of resource pools. Most rules are migrated: they are options of the
// fields, too, and gates choose one of the two.
import { immutableDetail } from '../../api/field-errors.ts';
import { poolNameProblems } from '../../api/formats.ts';
import { numberAt, recordAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import { validateConditions } from '../condition-validation.ts';
import { partOf } from '../part-checks.ts';
import type { PartChecks } from '../part-checks.ts';
import type { Validator } from '../validator.ts';

const driverProblems = (text: string): readonly string[] =>
  dns1123SubdomainProblems(text.toLowerCase());

/** An answer is given once. */
export const validatePoolRequest: Validator = ({ object, old, subresource, errors }) => {
  if (subresource !== 'status') return;
  const status = recordAt(object, 'status');
  const before = recordAt(old, 'status');
  if (before === undefined) validateConditions(status, 'status.conditions', errors);
  else if (!sameJson(status, before)) errors.invalid('status', status, immutableDetail);
};

export const validateMigratedPoolRequest: Validator = (write) => {
  const { object, old, errors } = write;
  if (old !== undefined && !sameJson(object.spec, recordAt(old, 'spec'))) {
    errors.invalid('spec', object.spec, immutableDetail);
  } else {
    const spec = partOf(write, 'spec');
    spec?.required('driver', driverProblems);
    spec?.optionalSet('poolName', poolNameProblems);
    spec?.inRange('limit', { least: 1, most: 1_000 });
  }
  const status = partOf(write, 'status');
  if (status !== undefined) validatePoolStatus(status);
};

const countMax = 1_000;
const conditionsMax = 10;

function validatePoolStatus(status: PartChecks): void {
  status.requiredNumber('poolCount', 0);
  if (status.maxItems('pools', countMax)) {
    for (const pool of status.elements('pools')) validatePool(pool);
  }
  if (status.maxItems('conditions', conditionsMax)) status.unique('conditions', { key: 'type' });
}

const counts = ['totalDevices', 'allocatedDevices', 'availableDevices', 'unavailableDevices'];

function validatePool(pool: PartChecks): void {
  pool.required('driver', driverProblems);
  pool.required('poolName', poolNameProblems);
  if ((numberAt(pool.value, 'generation') ?? 0) === 0) pool.required('generation');
  else pool.atLeast('generation', 0);
  pool.atLeast('resourceSliceCount', 1);
  for (const name of counts) pool.atLeast(name, 0);
  pool.optionalSet('nodeName', dns1123SubdomainProblems);
  pool.maxBytes('validationError', 256);
}
