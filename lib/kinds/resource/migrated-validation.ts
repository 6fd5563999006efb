// By hand, the migrated rules of device taints and of requests for the status of resource pools.
// The same rules stand beside the fields; which form decides is up to gates.
import { listAt, numberAt, recordAt, recordsAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { judgeOf, partToJudge } from '../migrated-judge.ts';
import type { Judge } from '../migrated-judge.ts';
import type { Holder, Validator } from '../validator.ts';

const driverProblems = (text: string): readonly string[] =>
  dns1123SubdomainProblems(text.toLowerCase());

function poolProblems(text: string): readonly string[] {
  const tooLong = Buffer.byteLength(text) > 253 ? ['must be no more than 253 bytes'] : [];
  return [...tooLong, ...text.split('/').flatMap(dns1123SubdomainProblems)];
}

export const validateTaintRule: Validator = (write) => {
  const judge = judgeOf(write);
  const taint = recordAt(partToJudge(write, 'spec'), 'taint');
  if (taint === undefined) return;
  const old = recordAt(recordAt(write.old, 'spec'), 'taint');
  judge.within(old).required(taint, old, 'effect', 'spec.taint');
};

export const validatePoolRequest: Validator = (write) => {
  const judge = judgeOf(write);
  const { object, old, errors } = write;
  const spec = partToJudge(write, 'spec');
  const before = recordAt(old, 'spec');
  if (old !== undefined && !sameJson(object.spec, before)) {
    errors.invalid('spec', object.spec, 'field is immutable');
  }
  if (spec !== undefined) {
    const inner = judge.within(before);
    inner.required(spec, before, 'driver', 'spec', driverProblems);
    inner.optional(spec, before, 'poolName', 'spec', poolProblems);
    inner.range(spec, before, 'limit', 'spec', 1, 1_000);
  }
  const status = partToJudge(write, 'status');
  if (status !== undefined) validatePoolStatus(judge, status, recordAt(old, 'status'));
};

const countMax = 1_000;
const conditionsMax = 10;

function validatePoolStatus(judge: Judge, status: JsonObject, old: Holder): void {
  const inner = judge.within(old);
  inner.requiredNumber(status, old, 'poolCount', 'status', 0);
  inner.most(status, old, 'pools', 'status', countMax);
  for (const [at, pool] of recordsAt(status, 'pools').entries()) {
    const twin = recordsAt(old, 'pools')[at];
    validatePool(inner.within(twin), pool, twin, `status.pools[${String(at)}]`);
  }
  const count = listAt(status, 'conditions').length;
  if (count > conditionsMax) inner.most(status, old, 'conditions', 'status', conditionsMax);
  else inner.unique(status, old, 'conditions', 'status', 'type');
}

const counts = ['totalDevices', 'allocatedDevices', 'availableDevices', 'unavailableDevices'];

function validatePool(judge: Judge, pool: JsonObject, old: Holder, path: string): void {
  judge.required(pool, old, 'driver', path, driverProblems);
  judge.required(pool, old, 'poolName', path, poolProblems);
  if ((numberAt(pool, 'generation') ?? 0) === 0) judge.required(pool, old, 'generation', path);
  else judge.least(pool, old, 'generation', path, 0);
  judge.least(pool, old, 'resourceSliceCount', path, 1);
  for (const name of counts) judge.least(pool, old, name, path, 0);
  judge.optional(pool, old, 'nodeName', path, dns1123SubdomainProblems);
  judge.longest(pool, old, 'validationError', path, 256);
}
