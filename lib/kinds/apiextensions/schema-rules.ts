// The form of rules of a schema, whatever their expressions say.
import type { FieldErrors } from '../../api/field-errors.ts';
import { isSet, textAt } from '../../api/json-access.ts';
import type { JsonObject, ValueInfo } from '../../api/type-info.ts';
import { FieldPathError, relativeFieldPath } from '../../cel/schema/field-path.ts';

const reasons = [
  ...['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'],
];
const lineBreak = /[\n\r]/;

/** The form of a rule, whatever it says; `value` is what it is about, where that is known. */
export function validateRuleText(
  rule: JsonObject,
  path: string,
  value: ValueInfo | undefined,
  errors: FieldErrors,
): void {
  const text = textAt(rule, 'rule').trim();
  const message = textAt(rule, 'message');
  if (text === '') errors.required(`${path}.rule`, 'rule is not specified');
  else if (message !== '' && message.trim() === '') {
    errors.invalid(`${path}.message`, message, 'must be non-empty if specified');
  } else if (lineBreak.test(message.trim())) {
    errors.invalid(`${path}.message`, message, 'must not contain line breaks');
  } else if (lineBreak.test(text) && message.trim() === '') {
    errors.required(`${path}.message`, 'message must be specified if rule contains line breaks');
  }
  const expression = textAt(rule, 'messageExpression');
  if (expression !== '' && expression.trim() === '') {
    const detail = 'messageExpression must be non-empty if specified';
    errors.required(`${path}.messageExpression`, detail);
  }
  const reason = textAt(rule, 'reason');
  if (isSet(rule, 'reason') && !reasons.includes(reason)) {
    errors.notSupported(`${path}.reason`, reason, reasons);
  }
  const fieldPath = textAt(rule, 'fieldPath');
  if (fieldPath !== '' && fieldPath.trim() === '') {
    errors.invalid(`${path}.fieldPath`, fieldPath, 'must be non-empty if specified');
  }
  if (lineBreak.test(fieldPath)) {
    errors.invalid(`${path}.fieldPath`, fieldPath, 'must not contain line breaks');
  }
  if (fieldPath !== '' && value !== undefined && !isFieldPath(fieldPath, value)) {
    errors.invalid(`${path}.fieldPath`, fieldPath, 'must be a valid path');
  }
}

function isFieldPath(fieldPath: string, value: ValueInfo): boolean {
  try {
    relativeFieldPath(fieldPath, value);
    return true;
  } catch (error) {
    if (error instanceof FieldPathError) return false;
    throw error;
  }
}
