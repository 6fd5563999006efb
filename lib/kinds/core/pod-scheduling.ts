// Where a pod may run: tolerations, node and pod affinity, spreading over topologies.
import type { FieldErrors } from '../../api/field-errors.ts';
import { isSet, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import {
  dns1123LabelProblems,
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
        "operator must be Exists when `key` is empty, which means 'match all values and all keys'";
      errors.invalid(`${where}.operator`, operator, detail);
    }
    if (isSet(toleration, 'tolerationSeconds') && textAt(toleration, 'effect') !== 'NoExecute') {
      const detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
      errors.invalid(`${where}.effect`, textAt(toleration, 'effect'), detail);
    }
    const compares = isOn('TaintTolerationComparisonOperators');
    if (operator === 'Exists') {
      const detail = "value must be empty when `operator` is 'Exists'";
      if (value !== '') errors.invalid(`${where}.operator`, value, detail);
    } else if (operator === '' || operator === 'Equal') {
      errors.problems(`${where}.operator`, value, labelValueProblems(value));
    } else if (compares && (operator === 'Lt' || operator === 'Gt')) {
      if (!isIntegerText(value)) {
        errors.invalid(`${where}.value`, value, 'must be an integer for operators Lt and Gt');
      }
    } else {
      const supported = ['Equal', 'Exists', ...(compares ? ['Gt', 'Lt'] : [])];
      errors.notSupported(`${where}.operator`, operator, supported);
    }
  }
}

const nodeOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'];

export function validateNodeSelector(selector: Holder, path: string, errors: FieldErrors): void {
  for (const [at, term] of recordsAt(selector, 'nodeSelectorTerms').entries()) {
    validateNodeTerm(term, `${path}.nodeSelectorTerms[${String(at)}]`, errors);
  }
}

function validateNodeTerm(term: Holder, path: string, errors: FieldErrors): void {
  for (const [at, requirement] of recordsAt(term, 'matchExpressions').entries()) {
    const where = `${path}.matchExpressions[${String(at)}]`;
    const key = textAt(requirement, 'key');
    const values = textsAt(requirement, 'values');
    const operator = textAt(requirement, 'operator');
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) {
        errors.required(`${where}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
      }
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) {
        const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
        errors.forbidden(`${where}.values`, detail);
      }
    } else if (operator === 'Gt' || operator === 'Lt') {
      if (values.length !== 1) {
        const detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
        errors.required(`${where}.values`, detail);
      } else if (!isIntegerText(values[0] ?? '')) {
        errors.invalid(`${where}.values[0]`, values[0], 'must be an integer for Lt and Gt');
      }
    } else {
      const detail = `not a valid selector operator: use one of ${nodeOperators.join(', ')}`;
      errors.invalid(`${where}.operator`, operator, detail);
    }
    errors.problems(`${where}.key`, key, qualifiedNameProblems(key));
  }
  for (const [at, requirement] of recordsAt(term, 'matchFields').entries()) {
    validateNodeField(requirement, `${path}.matchFields[${String(at)}]`, errors);
  }
}

function validateNodeField(requirement: JsonObject, path: string, errors: FieldErrors): void {
  const operator = textAt(requirement, 'operator');
  const values = textsAt(requirement, 'values');
  if (operator !== 'In' && operator !== 'NotIn') {
    errors.invalid(`${path}.operator`, operator, 'not a valid selector operator: use In or NotIn');
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
    const problems = value.includes('.') ? [] : dns1123LabelProblems(value);
    errors.problems(`${path}.values[${String(at)}]`, value, problems);
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
    validateNodeTerm(recordAt(term, 'preference'), where, errors);
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
  for (const [at, namespace] of textsAt(term, 'namespaces').entries()) {
    errors.problems(
      `${path}.namespaces[${String(at)}]`,
      namespace,
      dns1123LabelProblems(namespace),
    );
  }
  validateLabelKeys(term, 'matchLabelKeys', path, errors);
  validateLabelKeys(term, 'mismatchLabelKeys', path, errors);
  const mismatched = textsAt(term, 'mismatchLabelKeys');
  for (const [at, key] of textsAt(term, 'matchLabelKeys').entries()) {
    if (!mismatched.includes(key)) continue;
    const detail = 'exists in both matchLabelKeys and mismatchLabelKeys';
    errors.invalid(`${path}.matchLabelKeys[${String(at)}]`, key, detail);
  }
}

/** Keys whose values the scheduler takes from the pod: they need a selector to be added to. */
function validateLabelKeys(
  term: JsonObject,
  name: string,
  path: string,
  errors: FieldErrors,
): void {
  const keys = textsAt(term, name);
  if (keys.length === 0) return;
  const selector = recordAt(term, 'labelSelector');
  if (selector === undefined) {
    errors.forbidden(`${path}.${name}`, 'must not be specified when labelSelector is not set');
  }
  const used = new Set([
    ...Object.keys(recordAt(selector, 'matchLabels') ?? {}),
    ...recordsAt(selector, 'matchExpressions')
      .filter((one) => !isMerged(one))
      .map((one) => textAt(one, 'key')),
  ]);
  for (const [at, key] of keys.entries()) {
    const where = `${path}.${name}[${String(at)}]`;
    errors.problems(where, key, qualifiedNameProblems(key));
    if (used.has(key))
      errors.invalid(where, key, 'exists in both matchLabelKeys and labelSelector');
  }
}

/** The requirement that a new pod's own label was made into. */
const isMerged = (requirement: JsonObject): boolean =>
  ['In', 'NotIn'].includes(textAt(requirement, 'operator')) &&
  textsAt(requirement, 'values').length === 1;

export function validateSpread(spec: JsonObject, path: string, { errors }: Scope): void {
  const pairs = new Set<string>();
  for (const [at, constraint] of recordsAt(spec, 'topologySpreadConstraints').entries()) {
    const where = `${path}.topologySpreadConstraints[${String(at)}]`;
    const unsatisfiable = textAt(constraint, 'whenUnsatisfiable');
    const pair = `{${textAt(constraint, 'topologyKey')}, ${unsatisfiable}}`;
    if (pairs.has(pair)) errors.duplicate(`${where}.{topologyKey, whenUnsatisfiable}`, pair);
    pairs.add(pair);
    if (isSet(constraint, 'minDomains') && unsatisfiable !== 'DoNotSchedule') {
      const detail =
        'can only use minDomains if ' + `whenUnsatisfiable=DoNotSchedule, not ${unsatisfiable}`;
      errors.invalid(`${where}.minDomains`, constraint['minDomains'], detail);
    }
    validateLabelSelector(recordAt(constraint, 'labelSelector'), `${where}.labelSelector`, errors);
    validateLabelKeys(constraint, 'matchLabelKeys', where, errors);
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
