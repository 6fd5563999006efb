// What a container, or a pod for all its containers, asks for and may use at most.
import { entriesAt, isSet, recordAt, recordsAt, textAt, valueAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { shownText } from '../validator.ts';
import type { Holder } from '../validator.ts';
import type { PodScope } from './pod-scope.ts';
import { nanoOf, validateAmount } from './resource-lists.ts';
import {
  containerResourceNameProblems,
  isExtendedResource,
  isHugePages,
  isStandardContainerResource,
} from './resource-names.ts';

export function validateContainerResources(
  container: JsonObject,
  path: string,
  scope: PodScope,
): void {
  const resources = recordAt(container, 'resources');
  if (resources !== undefined) {
    validateRequirements(resources, `${path}.resources`, scope);
    validateClaims(resources, `${path}.resources`, scope);
  }
  const policies = recordsAt(container, 'resizePolicy');
  const seen = new Set<string>();
  for (const [at, policy] of policies.entries()) {
    const where = `${path}.resizePolicy[${String(at)}]`;
    const name = textAt(policy, 'resourceName');
    if (name !== '' && seen.has(name)) scope.errors.duplicate(`${where}.resourceName`, name);
    seen.add(name);
    const mustStay = textAt(scope.spec, 'restartPolicy') === 'Never';
    if (mustStay && textAt(policy, 'restartPolicy') === 'RestartContainer') {
      scope.errors.invalid(
        `${where}.restartPolicy`,
        'RestartContainer',
        "must be 'NotRequired' when `restartPolicy` is 'Never'",
      );
    }
  }
}

function validateRequirements(resources: JsonObject, path: string, scope: PodScope): void {
  const limits = recordAt(resources, 'limits');
  const requests = recordAt(resources, 'requests');
  const { errors, naming } = scope;
  let hasHugePages = false;
  let hasComputing = false;
  for (const [list, of] of [
    ['limits', limits],
    ['requests', requests],
  ] as const) {
    for (const [name, value] of Object.entries(of ?? {})) {
      const where = `${path}.${list}[${name}]`;
      if (!isStandardContainerResource(name)) {
        errors.problems(`${path}.${list}`, name, containerResourceNameProblems(name, naming));
      }
      const isWhole = isHugePages(name) || isExtendedResource(name, naming);
      validateAmount(value ?? null, where, errors, isWhole);
      hasHugePages ||= isHugePages(name);
      hasComputing ||= name === 'cpu' || name === 'memory';
    }
  }
  for (const [name, value] of Object.entries(requests ?? {})) {
    validateRequest(name, nanoOf(value), limits, `${path}.requests`, scope);
  }
  if (hasHugePages && !hasComputing) {
    errors.forbidden(path, 'HugePages require cpu or memory');
  }
}

function validateRequest(
  name: string,
  request: bigint,
  limits: Holder,
  path: string,
  { errors, naming }: PodScope,
): void {
  const mustBeEqual = isHugePages(name) || isExtendedResource(name, naming);
  const limit = valueAt(limits, name);
  if (limit === undefined) {
    if (mustBeEqual) errors.required(path, 'Limit must be set for non overcommitable resources');
    return;
  }
  const most = nanoOf(limit);
  if (mustBeEqual && request !== most) {
    errors.invalid(path, name, `must be equal to ${name} limit of ${shownText(limit)}`);
  } else if (request > most) {
    const detail = `must be less than or equal to ${name} limit of ${shownText(limit)}`;
    errors.invalid(path, name, detail);
  }
}

function validateClaims(resources: JsonObject, path: string, scope: PodScope): void {
  const { errors, spec } = scope;
  const claims = recordsAt(resources, 'claims');
  if (claims.length === 0) return;
  const known = new Set(recordsAt(spec, 'resourceClaims').map((claim) => textAt(claim, 'name')));
  const seen = new Set<string>();
  for (const [at, claim] of claims.entries()) {
    const where = `${path}.claims[${String(at)}]`;
    const name = textAt(claim, 'name');
    if (name === '') {
      errors.required(`${where}.name`);
      continue;
    }
    const key = `${name}/${textAt(claim, 'request')}`;
    if (seen.has(key)) errors.duplicate(where, claim);
    else if (!known.has(name)) errors.notFound(`${where}.name`, name);
    seen.add(key);
  }
}

/** `spec.resources` of a pod. */
export function validatePodResources(scope: PodScope, path: string): void {
  const { spec, errors } = scope;
  const resources = recordAt(spec, 'resources');
  if (resources === undefined) return;
  const where = `${path}.resources`;
  validateRequirements(resources, where, scope);
  if (recordsAt(resources, 'claims').length > 0) {
    errors.forbidden(`${where}.claims`, 'may not be set for Resources at pod-level');
  }
  for (const list of ['limits', 'requests']) {
    for (const [name] of entriesAt(resources, list)) {
      if (name === 'cpu' || name === 'memory' || isHugePages(name)) continue;
      errors.notSupported(`${where}.${list}[${name}]`, name, ['cpu', 'hugepages-', 'memory']);
    }
  }
  const containers = recordsAt(spec, 'containers');
  const requests = recordAt(resources, 'requests');
  for (const [name, value] of Object.entries(requests ?? {})) {
    const total = containers.reduce(
      (sum, one) => sum + nanoOf(recordAt(recordAt(one, 'resources'), 'requests')?.[name]),
      0n,
    );
    if (nanoOf(value) >= total) continue;
    const detail = `must be greater than or equal to aggregate container requests`;
    errors.invalid(`${where}.requests[${name}]`, value, detail);
  }
  validateContainerLimits(containers, recordAt(resources, 'limits'), path, scope);
}

function validateContainerLimits(
  containers: readonly JsonObject[],
  limits: Holder,
  path: string,
  { errors }: PodScope,
): void {
  for (const [at, container] of containers.entries()) {
    const own = recordAt(recordAt(container, 'resources'), 'limits');
    for (const [name, value] of Object.entries(own ?? {})) {
      if (!isSet(limits, name) || nanoOf(value) <= nanoOf(limits?.[name])) continue;
      const where = `${path}.containers[${String(at)}].resources.limits`;
      const detail = `must be less than or equal to pod limits of ${shownText(limits?.[name])}`;
      errors.invalid(where, value, detail);
    }
  }
}
