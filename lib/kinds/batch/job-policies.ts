// When pods' failures fail a job, and when some indexes are enough for success.
import { isSet, listAt, numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Scope } from '../validator.ts';
import { countIndexes } from './job-indexes.ts';

const exitCodesMax = 255;

export function validateFailurePolicy(
  policy: JsonObject,
  spec: JsonObject,
  path: string,
  { errors }: Scope,
): void {
  const pod = recordAt(recordAt(spec, 'template'), 'spec');
  const names = ['containers', 'initContainers'].flatMap((list) =>
    recordsAt(pod, list).map((container) => textAt(container, 'name')),
  );
  for (const [at, rule] of recordsAt(policy, 'rules').entries()) {
    const where = `${path}.rules[${String(at)}]`;
    if (textAt(rule, 'action') === 'FailIndex' && !isSet(spec, 'backoffLimitPerIndex')) {
      errors.invalid(`${where}.action`, 'FailIndex', 'requires the backoffLimitPerIndex to be set');
    }
    const codes = recordAt(rule, 'onExitCodes');
    const hasConditions = listAt(rule, 'onPodConditions').length > 0;
    if (codes !== undefined && hasConditions) {
      errors.invalidUnshown(
        where,
        'specifying both OnExitCodes and OnPodConditions is not supported',
      );
    } else if (codes === undefined && !hasConditions) {
      errors.invalidUnshown(where, 'specifying one of OnExitCodes and OnPodConditions is required');
    }
    for (const [index, pattern] of recordsAt(rule, 'onPodConditions').entries()) {
      if (textAt(pattern, 'status') !== '') continue;
      errors.required(`${where}.onPodConditions[${String(index)}].status`);
    }
    if (codes !== undefined) validateExitCodes(codes, names, `${where}.onExitCodes`, errors);
  }
}

function validateExitCodes(
  requirement: JsonObject,
  names: readonly string[],
  path: string,
  errors: Scope['errors'],
): void {
  const name = textAt(requirement, 'containerName');
  if (name !== '' && !names.includes(name)) {
    errors.invalid(
      `${path}.containerName`,
      name,
      'must be one of the container or initContainer names in the pod template',
    );
  }
  const values = listAt(requirement, 'values').map(Number);
  const where = `${path}.values`;
  if (values.length === 0) errors.invalid(where, values, 'at least one value is required');
  else if (values.length > exitCodesMax) errors.tooMany(where, values.length, exitCodesMax);
  const seen = new Set<number>();
  let isSorted = true;
  for (const [at, value] of values.entries()) {
    if (seen.has(value)) errors.duplicate(`${where}[${String(at)}]`, value);
    seen.add(value);
    if (at > 0 && value < (values[at - 1] ?? 0)) isSorted = false;
    if (value === 0 && textAt(requirement, 'operator') === 'In') {
      errors.invalid(`${where}[${String(at)}]`, value, 'must not be 0 for the In operator');
    }
  }
  if (!isSorted) errors.invalid(where, values, 'must be ordered');
}

export function validateSuccessPolicy(
  policy: JsonObject,
  completions: number,
  path: string,
  { errors }: Scope,
): void {
  for (const [at, rule] of recordsAt(policy, 'rules').entries()) {
    const where = `${path}.rules[${String(at)}]`;
    const count = numberAt(rule, 'succeededCount');
    const hasIndexes = isSet(rule, 'succeededIndexes');
    if (count === undefined && !hasIndexes) {
      const detail = 'at least one of succeededCount or succeededIndexes must be specified';
      errors.required(where, detail);
    }
    const text = textAt(rule, 'succeededIndexes');
    const read = countIndexes(text, completions);
    if ('problem' in read) {
      const detail = `error parsing succeededIndexes: ${read.problem}`;
      errors.invalid(`${where}.succeededIndexes`, text, detail);
    }
    const validateMost = (most: number, whose: string): void => {
      if (count === undefined || count <= most) return;
      const detail = `must be less than or equal to ${String(most)} (the number of ${whose})`;
      errors.invalid(`${where}.succeededCount`, count, detail);
    };
    validateMost(completions, 'specified completions');
    if (!hasIndexes) continue;
    const total = 'problem' in read ? 0 : read.count;
    validateMost(total, 'indexes in the specified succeededIndexes field');
  }
}
