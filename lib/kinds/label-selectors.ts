// Label selectors inside objects: their rules, whether they are empty, and whether labels match.
import type { FieldErrors } from '../api/field-errors.ts';
import {
  entriesAt,
  listAt,
  recordAt,
  recordIn,
  recordsAt,
  textAt,
  textsAt,
  valueAt,
} from '../api/json-access.ts';
import { labelValueProblems, qualifiedNameProblems } from '../api/name-rules.ts';
import type { JsonObject } from '../api/type-info.ts';
import { validateLabels } from './validator.ts';
import type { Holder } from './validator.ts';

/** False: it selects nothing, for it is wrong. */
export function validateLabelSelector(
  selector: Holder,
  path: string,
  errors: FieldErrors,
  takes: TakenSelectors = {},
): boolean {
  if (selector === undefined) return true;
  const before = errors.list.length;
  validateLabels(recordAt(selector, 'matchLabels'), `${path}.matchLabels`, errors);
  for (const [at, requirement] of recordsAt(selector, 'matchExpressions').entries()) {
    validateRequirement(requirement, `${path}.matchExpressions[${String(at)}]`, errors, takes);
  }
  return errors.list.length === before;
}

interface TakenSelectors {
  /** Operators that nobody knows here are those of newer clients. */
  readonly takesUnknown?: boolean;
  /** Values that no label can have were stored before. */
  readonly takesBadValues?: boolean;
}

export function validateRequirement(
  requirement: JsonObject,
  path: string,
  errors: FieldErrors,
  { takesUnknown = false, takesBadValues = false }: TakenSelectors = {},
): void {
  const operator = textAt(requirement, 'operator');
  const values = textsAt(requirement, 'values');
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length === 0) {
      const detail = "must be specified when `operator` is 'In' or 'NotIn'";
      errors.required(`${path}.values`, detail);
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length > 0) {
      const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      errors.forbidden(`${path}.values`, detail);
    }
  } else if (!takesUnknown) {
    errors.invalid(`${path}.operator`, operator, 'not a valid selector operator');
  }
  const key = textAt(requirement, 'key');
  errors.problems(`${path}.key`, key, qualifiedNameProblems(key));
  if (takesBadValues) return;
  for (const [at, value] of values.entries()) {
    errors.problems(`${path}.values[${String(at)}]`, value, labelValueProblems(value));
  }
}

export const isEmptySelector = (selector: Holder): boolean =>
  entriesAt(selector, 'matchLabels').length === 0 &&
  listAt(selector, 'matchExpressions').length === 0;

export function selectorMatches(selector: Holder, labels: Holder): boolean {
  const label = (key: string): string | undefined => {
    const value = valueAt(labels, key);
    return typeof value === 'string' ? value : undefined;
  };
  for (const [key, value] of entriesAt(selector, 'matchLabels')) {
    if (label(key) !== value) return false;
  }
  return recordsAt(selector, 'matchExpressions').every((requirement) => {
    const value = label(textAt(requirement, 'key'));
    const values = textsAt(requirement, 'values');
    switch (textAt(requirement, 'operator')) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
      default:
        return false;
    }
  });
}

/** The labels of a workload's template; no selector at all selects nothing. */
export function validateTemplateLabels(spec: Holder, path: string, errors: FieldErrors): void {
  const selector = recordAt(spec, 'selector');
  const labels = recordIn(spec, 'template', 'metadata', 'labels');
  if (selector !== undefined && selectorMatches(selector, labels)) return;
  const detail = '`selector` does not match template `labels`';
  errors.invalid(`${path}.template.metadata.labels`, labels ?? null, detail);
}
