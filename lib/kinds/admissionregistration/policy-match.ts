// What admission policies and their bindings are for: requests, and objects with parameters.
import type { FieldErrors } from '../../api/field-errors.ts';
import { recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { dns1035LabelProblems, dns1123SubdomainProblems } from '../../api/name-rules.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import type { Holder, Scope } from '../validator.ts';
import { validateRule } from './webhook-validation.ts';

export function validateConstraints(match: Holder, path: string, scope: Scope): void {
  if (match === undefined) return;
  for (const selector of ['namespaceSelector', 'objectSelector']) {
    validateLabelSelector(recordAt(match, selector), `${path}.${selector}`, scope.errors);
  }
  for (const list of ['resourceRules', 'excludeResourceRules']) {
    for (const [at, rule] of recordsAt(match, list).entries()) {
      validateRule(rule, `${path}.${list}[${String(at)}]`, scope);
    }
  }
}

const mutableOperations = ['*', 'CONNECT', 'CREATE', 'UPDATE'];

/** What is deleted cannot be changed. */
export function validateMutableOperations(match: Holder, path: string, errors: FieldErrors): void {
  for (const rule of recordsAt(match, 'resourceRules')) {
    for (const operation of textsAt(rule, 'operations')) {
      if (mutableOperations.includes(operation)) continue;
      errors.notSupported(`${path}.resourceRules.operations`, operation, mutableOperations);
    }
  }
}

export function validateParamKind(kind: Holder, path: string, errors: FieldErrors): void {
  const apiVersion = textAt(kind, 'apiVersion');
  const where = `${path}.apiVersion`;
  const [first = '', second, ...more] = apiVersion === '/' ? ['', ''] : apiVersion.split('/');
  const [group, version] = second === undefined ? ['', first] : [first, second];
  const joined = (problems: readonly string[]): readonly string[] =>
    problems.length === 0 ? [] : [problems.join(',')];
  if (more.length > 0) {
    errors.invalid(where, apiVersion, `unexpected GroupVersion string: ${apiVersion}`);
  } else if (apiVersion !== '') {
    if (group !== '') errors.problems(where, group, joined(dns1123SubdomainProblems(group)));
    if (version === '') errors.invalid(where, apiVersion, 'version must be specified');
    else errors.problems(where, version, joined(dns1035LabelProblems(version)));
  }
  const name = textAt(kind, 'kind');
  if (name === '') return;
  const [problems] = joined(dns1035LabelProblems(name.toLowerCase()));
  if (problems === undefined) return;
  const detail = `may have mixed case, but should otherwise match: ${problems}`;
  errors.invalid(`${path}.kind`, name, detail);
}
