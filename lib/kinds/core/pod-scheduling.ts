// Where a pod may run: tolerations, node and pod affinity, spreading over topologies.
import type { FieldErrors } from '../../api/field-errors.ts';
import { isSet, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateLabelSelector } from '../label-selectors.ts';
import { isIntegerText } from '../validator.ts';
import type { Holder, Scope } from '../validator.ts';

export function validateTolerations(
  tolerations: readonly JsonObject[],
  path: string,
  { errors, isOn }: Scope,
): void {
  for (const [at, toleration] of tolerations.entries()) {
    const where = `${path}[${String(at)}]`;
    const operator = textAt(toleration, 'operator');
    const value = textAt(toleration, 'value');
    if (textAt(toleration, 'key') === '' && operator !== 'Exists') {
      const detail =
        'operator must be Exists when `key` is empty, which means "match all values and all keys"';
      errors.invalid(`${where}.operator`, operator, detail);
    }
    if (isSet(toleration, 'tolerationSeconds') && textAt(toleration, 'effect') !== 'NoExecute') {
      const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.invalid(`${where}.effect`, textAt(toleration, 'effect'), detail);
    }
    if (operator === 'Exists') {
      const detail = "value must be empty when `operator` is 'Exists'";
      if (value !== '') errors.invalid(`${where}.operator`, value, detail);
    } else if (operator === '' || operator === 'Equal') {
      const problems = labelValueProblems(value);
      if (problems.length > 0) errors.invalid(`${where}.operator`, value, problems.join(';'));
    } else if (operator === 'Lt' || operator === 'Gt') {
      validateComparison(value, operator, where, { errors, isOn });
    } else errors.notSupported(`${where}.operator`, operator, tolerationOperators);
  }
}

const tolerationOperators = ['Equal', 'Exists'];

function validateComparison(
  value: string,
  operator: string,
  path: string,
  { errors, isOn }: Pick<Scope, 'errors' | 'isOn'>,
): void {
  if (!isOn('TaintTolerationComparisonOperators')) {
    errors.notSupported(`${path}.operator`, operator, [...tolerationOperators, 'Gt', 'Lt']);
  } else if (!isIntegerText(value)) {
    errors.invalid(`${path}.value`, value, 'must be an integer for operators Lt and Gt');
  }
}

/** `takesBadValues`: values that no label can have were stored before. */
export function validateNodeSelector(
  selector: Holder,
  path: string,
  errors: FieldErrors,
  { takesBadValues = false }: { readonly takesBadValues?: boolean } = {},
): void {
  for (const [at, term] of recordsAt(selector, 'nodeSelectorTerms').entries()) {
    const where = `${path}.nodeSelectorTerms[${String(at)}]`;
    validateNodeTerm(term, where, { needsLabelValues: !takesBadValues }, errors);
  }
}

export const hasBadValues = (selector: Holder): boolean =>
  recordsAt(selector, 'nodeSelectorTerms')
    .flatMap((term) => recordsAt(term, 'matchExpressions'))
    .flatMap((requirement) => textsAt(requirement, 'values'))
    .some((value) => labelValueProblems(value).length > 0);

/** What is only preferred may name values that no label can have. */
function validateNodeTerm(
  term: Holder,
  path: string,
  { needsLabelValues }: { readonly needsLabelValues: boolean },
  errors: FieldErrors,
): void {
  for (const [at, requirement] of recordsAt(term, 'matchExpressions').entries()) {
    const where = `${path}.matchExpressions[${String(at)}]`;
    validateNodeLabel(requirement, where, errors);
    if (!needsLabelValues) continue;
    for (const [index, value] of textsAt(requirement, 'values').entries()) {
      errors.problems(`${where}.values[${String(index)}]`, value, labelValueProblems(value));
    }
  }
  for (const [at, requirement] of recordsAt(term, 'matchFields').entries()) {
    validateNodeField(requirement, `${path}.matchFields[${String(at)}]`, errors);
  }
}

function validateNodeLabel(requirement: JsonObject, path: string, errors: FieldErrors): void {
  const values = textsAt(requirement, 'values');
  const operator = textAt(requirement, 'operator');
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length > 0) break;
      errors.required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length === 0) break;
      errors.forbidden(
        `${path}.values`,
        "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
      );
      break;
    case 'Gt':
    case 'Lt':
      if (values.length === 1) break;
      errors.required(
        `${path}.values`,
        "must be specified single value when `operator` is 'Lt' or 'Gt'",
      );
      break;
    default:
      errors.invalid(`${path}.operator`, operator, 'not a valid selector operator');
  }
  const key = textAt(requirement, 'key');
  errors.problems(`${path}.key`, key, qualifiedNameProblems(key));
}

function validateNodeField(requirement: JsonObject, path: string, errors: FieldErrors): void {
  const operator = textAt(requirement, 'operator');
  const values = textsAt(requirement, 'values');
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.invalid(`${path}.operator`, operator, 'not a valid selector operator');
  } else if (values.length !== 1) {
    const detail =
      "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    errors.required(`${path}.values`, detail);
  }
  if (textAt(requirement, 'key') !== 'metadata.name') {
    errors.invalid(`${path}.key`, textAt(requirement, 'key'), 'not a valid field selector key');
    return;
  }
  for (const [at, value] of values.entries()) {
    errors.problems(`${path}.values[${String(at)}]`, value, dns1123SubdomainProblems(value));
  }
}

const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';

export function validateAffinity(affinity: Holder, path: string, scope: Scope): void {
  if (affinity === undefined) return;
  const { errors } = scope;
  const node = recordAt(affinity, 'nodeAffinity');
  validateNodeSelector(recordAt(node, required), `${path}.nodeAffinity.${required}`, errors);
  for (const [at, term] of recordsAt(node, preferred).entries()) {
    const where = `${path}.nodeAffinity.${preferred}[${String(at)}].preference`;
    validateNodeTerm(recordAt(term, 'preference'), where, { needsLabelValues: false }, errors);
  }
  for (const kind of ['podAffinity', 'podAntiAffinity']) {
    const pod = recordAt(affinity, kind);
    for (const [at, term] of recordsAt(pod, required).entries()) {
      validatePodTerm(term, `${path}.${kind}.${required}[${String(at)}]`, scope);
    }
    for (const [at, term] of recordsAt(pod, preferred).entries()) {
      const where = `${path}.${kind}.${preferred}[${String(at)}].podAffinityTerm`;
      validatePodTerm(recordAt(term, 'podAffinityTerm') ?? {}, where, scope);
    }
  }
}

function validatePodTerm(term: JsonObject, path: string, { errors }: Scope): void {
  const selector = recordAt(term, 'labelSelector');
  validateLabelSelector(selector, `${path}.labelSelector`, errors);
  validateLabelSelector(recordAt(term, 'namespaceSelector'), `${path}.namespaceSelector`, errors);
  for (const namespace of textsAt(term, 'namespaces')) {
    errors.problems(`${path}.namespace`, namespace, dns1123LabelProblems(namespace));
  }
  validateLabelKeys(term, path, errors);
  const topology = textAt(term, 'topologyKey');
  if (topology === '') errors.required(`${path}.topologyKey`, 'can not be empty');
  errors.problems(`${path}.topologyKey`, topology, qualifiedNameProblems(topology));
}

/** Keys whose values are taken from the pod: they need a selector to be added to. */
function validateLabelKeys(term: JsonObject, path: string, errors: FieldErrors): void {
  const matching = textsAt(term, 'matchLabelKeys');
  const mismatching = textsAt(term, 'mismatchLabelKeys');
  if (matching.length === 0 && mismatching.length === 0) return;
  const selector = recordAt(term, 'labelSelector');
  for (const [name, keys] of [
    ['matchLabelKeys', matching],
    ['mismatchLabelKeys', mismatching],
  ] as const) {
    if (keys.length > 0 && selector === undefined) {
      errors.forbidden(`${path}.${name}`, 'must not be specified when labelSelector is not set');
      continue;
    }
    for (const [at, key] of keys.entries()) {
      errors.problems(`${path}.${name}[${String(at)}]`, key, qualifiedNameProblems(key));
    }
  }
  // The last requirement of a key is the one that a new pod's own label was made into.
  const named = new Set(Object.keys(recordAt(selector, 'matchLabels') ?? {}));
  for (const requirement of recordsAt(selector, 'matchExpressions')) {
    const key = textAt(requirement, 'key');
    const at = matching.lastIndexOf(key);
    if (at >= 0 && named.has(key)) {
      const detail = 'exists in both matchLabelKeys and labelSelector';
      errors.invalid(`${path}[${String(at)}]`, key, detail);
    }
    named.add(key);
  }
  for (const [at, key] of matching.entries()) {
    if (!mismatching.includes(key)) continue;
    const detail = 'exists in both matchLabelKeys and mismatchLabelKeys';
    errors.invalid(`${path}.matchLabelKeys[${String(at)}]`, key, detail);
  }
}

/** Before labels were merged into selectors: no key may be in both. */
function validateUnmergedKeys(constraint: JsonObject, path: string, errors: FieldErrors): void {
  const keys = textsAt(constraint, 'matchLabelKeys');
  if (keys.length === 0) return;
  const selector = recordAt(constraint, 'labelSelector');
  if (selector === undefined) {
    errors.forbidden(path, 'must not be specified when labelSelector is not set');
  }
  const named = new Set([
    ...Object.keys(recordAt(selector, 'matchLabels') ?? {}),
    ...recordsAt(selector, 'matchExpressions').map((one) => textAt(one, 'key')),
  ]);
  for (const [at, key] of keys.entries()) {
    const where = `${path}[${String(at)}]`;
    errors.problems(where, key, qualifiedNameProblems(key));
    if (!named.has(key)) continue;
    errors.invalid(where, key, 'exists in both matchLabelKeys and labelSelector');
  }
}

const unsatisfiableActions = ['DoNotSchedule', 'ScheduleAnyway'];

export function validateSpread(spec: JsonObject, path: string, { errors, isOn }: Scope): void {
  const constraints = recordsAt(spec, 'topologySpreadConstraints');
  const pairs = constraints.map(
    (one) => `{${textAt(one, 'topologyKey')}, ${textAt(one, 'whenUnsatisfiable')}}`,
  );
  const lastOf = new Map(pairs.map((pair, at) => [pair, at]));
  for (const [at, constraint] of constraints.entries()) {
    const where = `${path}.topologySpreadConstraints[${String(at)}]`;
    const unsatisfiable = textAt(constraint, 'whenUnsatisfiable');
    if (!unsatisfiableActions.includes(unsatisfiable)) {
      errors.notSupported(`${where}.whenUnsatisfiable`, unsatisfiable, unsatisfiableActions);
    }
    const pair = pairs[at] ?? '';
    if ((lastOf.get(pair) ?? at) > at) {
      errors.duplicate(`${where}.{topologyKey, whenUnsatisfiable}`, pair);
    }
    if (isSet(constraint, 'minDomains') && unsatisfiable !== 'DoNotSchedule') {
      const detail =
        'can only use minDomains if ' + `whenUnsatisfiable=DoNotSchedule, not ${unsatisfiable}`;
      errors.invalid(`${where}.minDomains`, constraint['minDomains'], detail);
    }
    if (isOn('MatchLabelKeysInPodTopologySpreadSelectorMerge')) {
      validateLabelKeys(constraint, where, errors);
    } else validateUnmergedKeys(constraint, `${where}.matchLabelKeys`, errors);
    validateLabelSelector(recordAt(constraint, 'labelSelector'), `${where}.labelSelector`, errors);
  }
}

/** Tolerations of which no two may be the same (runtime classes). */
export function validateUniqueTolerations(
  tolerations: readonly JsonObject[],
  path: string,
  errors: FieldErrors,
): void {
  const seen = new Set<string>();
  for (const [at, toleration] of tolerations.entries()) {
    const names = ['key', 'operator', 'value', 'effect', 'tolerationSeconds'];
    const identity = JSON.stringify(names.map((name) => toleration[name] ?? ''));
    if (seen.has(identity)) errors.duplicate(`${path}[${String(at)}]`, toleration);
    seen.add(identity);
  }
}
