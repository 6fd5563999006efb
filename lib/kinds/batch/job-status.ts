// The status of a job: counters never go down, and a job that has ended stays as it ended.
import { isSet, numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ValidatedWrite } from '../validator.ts';

const conditionOf = (status: JsonObject | undefined, type: string): boolean =>
  recordsAt(status, 'conditions').some(
    (one) => textAt(one, 'type') === type && textAt(one, 'status') === 'True',
  );

export function validateJobStatus(write: ValidatedWrite, spec: JsonObject): void {
  const { object, old, errors, subresource } = write;
  if (subresource !== 'status') return;
  const status = recordAt(object, 'status');
  const before = recordAt(old, 'status');
  for (const name of ['active', 'succeeded', 'failed', 'ready', 'terminating']) {
    const count = numberAt(status, name) ?? 0;
    if (count < 0) {
      errors.invalid(`status.${name}`, count, 'must be greater than or equal to 0');
    }
  }
  for (const name of ['succeeded', 'failed']) {
    const [now, then] = [numberAt(status, name) ?? 0, numberAt(before, name) ?? 0];
    const isElastic = name === 'succeeded' && textAt(spec, 'completionMode') === 'Indexed';
    if (now >= then || isElastic) continue;
    errors.invalid(`status.${name}`, now, `must not decrement the ${name} counter`);
  }
  const isComplete = conditionOf(status, 'Complete');
  const isFailed = conditionOf(status, 'Failed');
  for (const type of ['Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget']) {
    if (!conditionOf(before, type) || conditionOf(status, type)) continue;
    errors.invalid('status.conditions', type, `cannot disable the terminal ${type}=True condition`);
  }
  if (isComplete && isFailed) {
    errors.invalid(
      'status.conditions',
      'Complete',
      'cannot set Complete=True and Failed=True conditions',
    );
  }
  const completion = status?.['completionTime'];
  if (isComplete && !isSet(status, 'completionTime')) {
    errors.required('status.completionTime', 'completionTime is required for Complete jobs');
  }
  if (!isComplete && isSet(status, 'completionTime')) {
    errors.invalid(
      'status.completionTime',
      completion,
      'cannot set completionTime when there is no Complete=True condition',
    );
  }
  if ((isComplete || isFailed) && !isSet(status, 'startTime')) {
    errors.required('status.startTime', 'startTime is required for finished jobs');
  }
  if (isComplete || isFailed) {
    const active = numberAt(status, 'active') ?? 0;
    if (active > 0) errors.invalid('status.active', active, 'active>0 is invalid for finished job');
  }
}
