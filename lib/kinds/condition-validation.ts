// Conditions of the shared type: one of each type, every member but the message given.
import type { FieldErrors } from '../api/field-errors.ts';
import { isSet, numberAt, recordsAt, textAt } from '../api/json-access.ts';
import { qualifiedNameProblems } from '../api/name-rules.ts';
import type { Holder } from './validator.ts';

const statuses = ['False', 'True', 'Unknown'];
const reasonBytesMax = 1_024;
const messageBytesMax = 32_768;
const reasonText = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonPattern = new RegExp(`^${reasonText}$`);
const reasonRule =
  'a condition reason must start with alphabetic character, optionally followed by a string of ' +
  "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' " +
  "(e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', " +
  `regex used for validation is '${reasonText}')`;

/** The list `conditions` of a status. */
export function validateConditions(status: Holder, path: string, errors: FieldErrors): void {
  const types = new Set<string>();
  for (const [at, condition] of recordsAt(status, 'conditions').entries()) {
    const where = `${path}[${String(at)}]`;
    const type = textAt(condition, 'type');
    if (types.has(type)) errors.duplicate(`${where}.type`, type);
    types.add(type);
    validateCondition(condition, where, errors);
  }
}

function validateCondition(condition: Holder, path: string, errors: FieldErrors): void {
  const type = textAt(condition, 'type');
  errors.problems(`${path}.type`, type, qualifiedNameProblems(type));
  const status = textAt(condition, 'status');
  if (!statuses.includes(status)) errors.notSupported(`${path}.status`, status, statuses);
  const generation = numberAt(condition, 'observedGeneration') ?? 0;
  if (generation < 0) {
    const detail = 'must be greater than or equal to zero';
    errors.invalid(`${path}.observedGeneration`, generation, detail);
  }
  if (!isSet(condition, 'lastTransitionTime')) errors.required(`${path}.lastTransitionTime`);
  const reason = textAt(condition, 'reason');
  if (reason === '') errors.required(`${path}.reason`);
  else {
    if (!reasonPattern.test(reason)) errors.invalid(`${path}.reason`, reason, reasonRule);
    if (Buffer.byteLength(reason) > reasonBytesMax)
      errors.tooLong(`${path}.reason`, reasonBytesMax);
  }
  if (Buffer.byteLength(textAt(condition, 'message')) > messageBytesMax) {
    errors.tooLong(`${path}.message`, messageBytesMax);
  }
}
