// Conditions that must hold, or must not, before pods are bound: both lists or none, and no name in
// both or twice.
import type { FieldErrors } from '../../api/field-errors.ts';
import { textsAt } from '../../api/json-access.ts';
import { qualifiedNameProblems } from '../../api/name-rules.ts';
import type { Holder } from '../validator.ts';

const conditionsMax = 4;
const lists = ['bindingConditions', 'bindingFailureConditions'] as const;

/** Of a device in a slice, or of one that was allocated. */
export function validateBindingConditions(of: Holder, path: string, errors: FieldErrors): void {
  const [wanted, failures] = [textsAt(of, lists[0]), textsAt(of, lists[1])];
  for (const name of lists) validateNames(textsAt(of, name), `${path}.${name}`, errors);
  reportTwice(wanted, `${path}.${lists[0]}`, errors);
  reportTwice(failures, `${path}.${lists[1]}`, errors);
  for (const [at, name] of failures.entries()) {
    if (!wanted.includes(name)) continue;
    const detail = 'bindingFailureConditions must not overlap with bindingConditions';
    errors.invalid(`${path}.${lists[1]}[${String(at)}]`, name, detail);
  }
  if (wanted.length === 0 && failures.length > 0) {
    const detail = 'bindingConditions are required to use bindingFailureConditions';
    errors.invalid(`${path}.${lists[0]}`, null, detail);
  }
  if (failures.length === 0 && wanted.length > 0) {
    const detail = 'bindingFailureConditions are required to use bindingConditions';
    errors.invalid(`${path}.${lists[1]}`, null, detail);
  }
}

function validateNames(names: readonly string[], path: string, errors: FieldErrors): void {
  if (names.length > conditionsMax) {
    errors.tooMany(path, names.length, conditionsMax);
    return;
  }
  for (const [at, name] of names.entries()) {
    errors.problems(`${path}[${String(at)}]`, name, qualifiedNameProblems(name));
  }
}

function reportTwice(names: readonly string[], path: string, errors: FieldErrors): void {
  for (const [at, name] of names.entries()) {
    if (names.indexOf(name) < at) errors.duplicate(`${path}[${String(at)}]`, name);
  }
}
