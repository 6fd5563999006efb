// What a container, or a pod for all its containers, asks for and may use at most.
import type { FieldErrors } from '../../api/field-errors.ts';
import { isSet, recordAt, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import { dns1123LabelProblems } from '../../api/name-rules.ts';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { shownText } from '../validator.ts';
import type { Holder, Scope } from '../validator.ts';
import { containerTotals } from './pod-defaults.ts';
import type { PodScope } from './pod-scope.ts';
import { nanoOf, quantityOf, validateAmount } from './resource-lists.ts';
import {
  containerResourceNameProblems,
  isHugePages,
  isIntegerResource,
  mayOvercommit,
  resourceNameProblems,
} from './resource-names.ts';

export function validateContainerResources(
  container: JsonObject,
  path: string,
  scope: PodScope,
): void {
  const resources = recordAt(container, 'resources');
  if (resources !== undefined) {
    validateRequirements(resources, `${path}.resources`, validateContainerName, scope);
    validateClaims(resources, `${path}.resources`, scope);
  }
  if (isSet(container, 'resizePolicy')) validateResizePolicies(container, path, scope);
}

/** What one policy says is an option of its fields. */
function validateResizePolicies(container: JsonObject, path: string, scope: PodScope): void {
  const { errors } = scope;
  const at = `${path}.resizePolicy`;
  const mustStay = textAt(scope.spec, 'restartPolicy') === 'Never';
  const seen = new Set<string>();
  for (const [index, policy] of recordsAt(container, 'resizePolicy').entries()) {
    const name = textAt(policy, 'resourceName');
    if (seen.has(name)) errors.duplicate(`${at}[${String(index)}]`, name);
    seen.add(name);
    const restart = textAt(policy, 'restartPolicy');
    if (!mustStay || restart === 'NotRequired') continue;
    const detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
    errors.invalid(at, restart, detail);
  }
}

type NameCheck = (name: string, path: string, scope: Scope) => void;

const validateContainerName: NameCheck = (name, path, { errors, naming }) => {
  errors.problems(path, name, containerResourceNameProblems(name, naming));
};

const podAmounts = ['cpu', 'hugepages-', 'memory'];
const isPodAmount = (name: string): boolean =>
  name === 'cpu' || name === 'memory' || isHugePages(name);

const validatePodName: NameCheck = (name, path, { errors }) => {
  const problems = resourceNameProblems(name);
  errors.problems(path, name, problems);
  if (problems.length > 0 || isPodAmount(name)) return;
  errors.notSupported(path, name, podAmounts);
};

/** Whatever containers run, such as the overhead of a pod, is stated like the limits of one. */
export function validateOverhead(of: Holder, path: string, scope: Scope): void {
  if (of !== undefined) validateRequirements({ limits: of }, path, validateContainerName, scope);
}

function validateRequirements(
  resources: JsonObject,
  path: string,
  validateName: NameCheck,
  scope: Scope,
): void {
  const { errors } = scope;
  const limits = recordAt(resources, 'limits');
  const requests = recordAt(resources, 'requests');
  let hasHugePages = false;
  let hasComputing = false;
  for (const [list, of] of [
    ['limits', limits],
    ['requests', requests],
  ] as const) {
    for (const name in of) {
      const where = `${path}.${list}[${name}]`;
      validateName(name, where, scope);
      validateAmount(of[name] ?? null, where, errors, isIntegerResource(name, scope.naming));
      if (list === 'requests') validateRequest(name, of[name], limits, path, scope);
      if (isHugePages(name)) validatePages(name, of[name], where, errors);
      hasHugePages ||= isHugePages(name);
      hasComputing ||= name === 'cpu' || name === 'memory';
    }
  }
  if (hasHugePages && !hasComputing) {
    errors.forbidden(path, 'HugePages require cpu or memory');
  }
}

/** An amount of pages is a multiple of their size. */
function validatePages(
  name: string,
  value: JsonValue | undefined,
  path: string,
  errors: FieldErrors,
): void {
  const size = quantityOf(name.slice('hugepages-'.length))?.nano ?? 0n;
  if (size > 0n && nanoOf(value) % size === 0n) return;
  const detail = `${shownText(value)} is not positive integer multiple of ${name}`;
  errors.invalid(path, value ?? null, detail);
}

function validateRequest(
  name: string,
  value: JsonValue | undefined,
  limits: Holder,
  path: string,
  { errors, naming }: Scope,
): void {
  const request = nanoOf(value);
  const mustBeEqual = !mayOvercommit(name, naming);
  const limit = valueAt(limits, name);
  if (limit === undefined) {
    if (!mustBeEqual) return;
    errors.required(`${path}.limits`, 'Limit must be set for non overcommitable resources');
    return;
  }
  const most = nanoOf(limit);
  const at = `${path}.requests`;
  if (mustBeEqual && request !== most) {
    errors.invalid(at, value, `must be equal to ${name} limit of ${shownText(limit)}`);
  } else if (request > most) {
    const detail = `must be less than or equal to ${name} limit of ${shownText(limit)}`;
    errors.invalid(at, value, detail);
  }
}

/** Claims of the pod, or of what they bring the part that a request asked for. */
function validateClaims(resources: JsonObject, path: string, scope: PodScope): void {
  const { errors, spec } = scope;
  const claims = recordsAt(resources, 'claims');
  if (claims.length === 0) return;
  const known = recordsAt(spec, 'resourceClaims')
    .map((claim) => textAt(claim, 'name'))
    .filter((name) => name !== '');
  const named = known.length === 0 ? ' which is empty' : `: ${[...known].sort().join(', ')}`;
  const isKnown = new Set(known);
  const seen = new Set<string>();
  /** Claims of which single requests were named. */
  const seenInPart = new Set<string>();
  for (const [at, claim] of claims.entries()) {
    const where = `${path}.claims[${String(at)}]`;
    const name = textAt(claim, 'name');
    const request = textAt(claim, 'request');
    if (name === '') {
      errors.required(where);
      continue;
    }
    const key = request === '' ? name : `${name}/${request}`;
    if (seen.has(name)) errors.duplicate(where, name);
    else {
      if (request !== '') {
        errors.problems(`${where}.request`, request, dns1123LabelProblems(request));
      }
      if (seen.has(key)) errors.duplicate(where, key);
      else if (request === '' && seenInPart.has(name)) errors.duplicate(where, name);
      seen.add(key);
      if (request !== '') seenInPart.add(name);
    }
    if (isKnown.has(name)) continue;
    errors.notFound(where, name, `must be one of the names in pod.spec.resourceClaims${named}`);
  }
}

/** `spec.resources` of a pod. */
export function validatePodResources(scope: PodScope, path: string): void {
  const { spec, errors } = scope;
  const resources = recordAt(spec, 'resources');
  if (resources === undefined) return;
  const where = `${path}.resources`;
  if (scope.osName === 'windows') {
    errors.forbidden(where, 'may not be set for a windows pod');
    return;
  }
  if (isSet(resources, 'claims')) {
    errors.forbidden(`${where}.claims`, 'claims may not be set for Resources at pod-level');
  }
  validateRequirements(resources, where, validatePodName, scope);
  validateClaims(resources, where, scope);
  validateTotals(resources, where, spec, errors);
}

/** Containers together ask for no more than their pod, and each may use no more. */
function validateTotals(
  resources: JsonObject,
  path: string,
  spec: JsonObject,
  errors: FieldErrors,
): void {
  const limits = recordAt(resources, 'limits');
  for (const list of ['requests', 'limits'] as const) {
    const own = recordAt(resources, list);
    for (const [name, total] of Object.entries(containerTotals(spec, list))) {
      const counts = list === 'requests' || isHugePages(name);
      if (!counts || !isSet(own, name) || nanoOf(total) <= nanoOf(own?.[name])) continue;
      const detail =
        'must be greater than or equal to ' + `aggregate container ${list} of ${shownText(total)}`;
      errors.invalid(`${path}.${list}[${name}]`, own?.[name], detail);
    }
  }
  for (const [at, container] of recordsAt(spec, 'containers').entries()) {
    const own = recordAt(recordAt(container, 'resources'), 'limits');
    for (const name in own) {
      if (!isSet(limits, name) || nanoOf(own[name]) <= nanoOf(limits?.[name])) continue;
      const where = `${path}.containers[${String(at)}][${name}].limits`;
      const detail = `must be less than or equal to pod limits of ${shownText(limits?.[name])}`;
      errors.invalid(where, own[name], detail);
    }
  }
}
