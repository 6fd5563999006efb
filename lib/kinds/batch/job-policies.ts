// When pods' failures fail a job, and when some indexes are enough for success.
import { isSet, listAt, numberAt, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { Scope } from '../validator.ts';

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
      errors.invalid(where, '', 'specifying both onExitCodes and onPodConditions is not supported');
    } else if (codes === undefined && !hasConditions) {
      errors.invalid(where, '', 'specifying one of onExitCodes and onPodConditions is required');
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
    if (count === undefined && !isSet(rule, 'succeededIndexes')) {
      errors.required(
        where,
        'at least one of succeededCount or succeededIndexes must be specified',
      );
      continue;
    }
    let most = completions;
    if (isSet(rule, 'succeededIndexes')) {
      const text = textAt(rule, 'succeededIndexes');
      const total = countIndexes(text, completions);
      if (total === undefined) {
        const detail =
          'must be a list of rising indexes and intervals below completions, such as 1,3-5';
        errors.invalid(`${where}.succeededIndexes`, text, detail);
      } else most = total;
    }
    if (count !== undefined && count > most) {
      const detail =
        `must be less than or equal to ${String(most)}, ` + 'the number of indexes it is about';
      errors.invalid(`${where}.succeededCount`, count, detail);
    }
  }
}

/** How many indexes `1,3-5` names; undefined: it does not name indexes below `completions`. */
function countIndexes(text: string, completions: number): number | undefined {
  let last = -1;
  let total = 0;
  for (const part of text.split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (match === null) return undefined;
    const from = Number(match[1]);
    const to = match[2] === undefined ? from : Number(match[2]);
    if (from <= last || to < from || to >= completions) return undefined;
    total += to - from + 1;
    last = to;
  }
  return total;
}
