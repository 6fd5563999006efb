// By hand, the migrated rules of device taints and of requests for the status of resource pools.
// The same rules are options of the fields; gates choose one of the two.
import { listAt, numberAt, recordAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import { partOf } from '../part-checks.ts';
import type { PartChecks } from '../part-checks.ts';
import type { Validator } from '../validator.ts';

const driverProblems = (text: string): readonly string[] =>
  dns1123SubdomainProblems(text.toLowerCase());

function poolProblems(text: string): readonly string[] {
  const tooLong = Buffer.byteLength(text) > 253 ? ['must be no more than 253 bytes'] : [];
  return [...tooLong, ...text.split('/').flatMap(dns1123SubdomainProblems)];
}

export const validateTaintRule: Validator = (write) => {
  partOf(write, 'spec')?.part('taint')?.required('effect');
};

export const validatePoolRequest: Validator = (write) => {
  const { object, old, errors } = write;
  if (old !== undefined && !sameJson(object.spec, recordAt(old, 'spec'))) {
    errors.invalid('spec', object.spec, 'field is immutable');
  }
  const spec = partOf(write, 'spec');
  spec?.required('driver', driverProblems);
  spec?.optionalSet('poolName', poolProblems);
  spec?.inRange('limit', { least: 1, most: 1_000 });
  const status = partOf(write, 'status');
  if (status !== undefined) validatePoolStatus(status);
};

const countMax = 1_000;
const conditionsMax = 10;

function validatePoolStatus(status: PartChecks): void {
  status.requiredNumber('poolCount', 0);
  status.maxItems('pools', countMax);
  for (const pool of status.elements('pools')) validatePool(pool);
  const count = listAt(status.value, 'conditions').length;
  if (count > conditionsMax) status.maxItems('conditions', conditionsMax);
  else status.unique('conditions', { key: 'type' });
}

const counts = ['totalDevices', 'allocatedDevices', 'availableDevices', 'unavailableDevices'];

function validatePool(pool: PartChecks): void {
  pool.required('driver', driverProblems);
  pool.required('poolName', poolProblems);
  if ((numberAt(pool.value, 'generation') ?? 0) === 0) pool.required('generation');
  else pool.atLeast('generation', 0);
  pool.atLeast('resourceSliceCount', 1);
  for (const name of counts) pool.atLeast(name, 0);
  pool.optionalSet('nodeName', dns1123SubdomainProblems);
  pool.maxBytes('validationError', 256);
}
