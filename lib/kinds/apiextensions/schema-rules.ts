// Rules of a schema, as expressions over its values: their texts, that they compile, and what they
// may cost.
import type { FieldErrors } from '../../api/field-errors.ts';
import { isSet, textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';

const reasons = [
  ...['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'],
];
const lineBreak = /[\n\r]/;

/** The form of rules, whatever they say. */
export function validateRuleTexts(
  rules: readonly JsonObject[],
  path: string,
  errors: FieldErrors,
): void {
  for (const [at, rule] of rules.entries()) {
    validateRuleText(rule, `${path}[${String(at)}]`, errors);
  }
}

function validateRuleText(rule: JsonObject, path: string, errors: FieldErrors): void {
  const text = textAt(rule, 'rule').trim();
  const message = textAt(rule, 'message');
  if (text === '') errors.required(`${path}.rule`, 'rule is not specified');
  else if (message !== '' && message.trim() === '') {
    errors.invalid(`${path}.message`, message, 'message must be non-empty if specified');
  } else if (lineBreak.test(message.trim())) {
    errors.invalid(`${path}.message`, message, 'message must not contain line breaks');
  } else if (lineBreak.test(text) && message === '') {
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
    errors.invalid(`${path}.fieldPath`, fieldPath, 'fieldPath must be non-empty if specified');
  }
  if (lineBreak.test(fieldPath)) {
    errors.invalid(`${path}.fieldPath`, fieldPath, 'fieldPath must not contain line breaks');
  }
}
