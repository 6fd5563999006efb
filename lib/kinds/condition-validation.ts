// Rules of conditions as all kinds share them, for the kinds whose status is checked so closely.
import type { FieldErrors } from '../api/field-errors.ts';
import { isSet, numberAt, textAt } from '../api/json-access.ts';
import { qualifiedNameProblems } from '../api/name-rules.ts';
import type { JsonObject } from '../api/type-info.ts';

const statuses = ['True', 'False', 'Unknown'];
const reasonBytesMax = 1024;
const messageBytesMax = 32_768;

const reasonText = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';
const reasonPattern = new RegExp(`^${reasonText}$`);
const reasonDetail =
  'a condition reason must start with alphabetic character, optionally followed by a string of ' +
  "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. " +
  "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex " +
  `used for validation is '${reasonText}')`;

export function validateConditions(
  conditions: readonly JsonObject[],
  path: string,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [at, condition] of conditions.entries()) {
    const where = `${path}[${String(at)}]`;
    const type = textAt(condition, 'type');
    if (seen.has(type)) errors.duplicate(`${where}.type`, type);
    seen.add(type);
    validateCondition(condition, where, errors);
  }
}

function validateCondition(condition: JsonObject, path: string, errors: FieldErrors): void {
  const type = textAt(condition, 'type');
  errors.problems(`${path}.type`, type, qualifiedNameProblems(type));
  const status = textAt(condition, 'status');
  if (!statuses.includes(status)) errors.notSupported(`${path}.status`, status, statuses);
  const generation = numberAt(condition, 'observedGeneration') ?? 0;
  if (generation < 0) {
    errors.invalid(`${path}.observedGeneration`, generation, 'must be greater than or equal to 0');
  }
  if (!isSet(condition, 'lastTransitionTime')) errors.required(`${path}.lastTransitionTime`);
  const reason = textAt(condition, 'reason');
  if (reason === '') errors.required(`${path}.reason`);
  else {
    if (!reasonPattern.test(reason)) errors.invalid(`${path}.reason`, reason, reasonDetail);
    if (Buffer.byteLength(reason) > reasonBytesMax)
      errors.tooLong(`${path}.reason`, reasonBytesMax);
  }
  const messageBytes = Buffer.byteLength(textAt(condition, 'message'));
  if (messageBytes > messageBytesMax) errors.tooLong(`${path}.message`, messageBytesMax);
}
