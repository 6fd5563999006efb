// Short lists and values of a pod's spec: gates, claims of devices, aliases of hosts, its system.
import { childPath } from '../../api/field-errors.ts';
import type { FieldErrors } from '../../api/field-errors.ts';
import { ipProblems } from '../../api/address-formats.ts';
import { isSet, recordAt, recordsAt, textAt } from '../../api/json-access.ts';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  qualifiedNameProblems,
} from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { PodScope } from './pod-scope.ts';

export function validateGates({ spec, errors }: PodScope, path: string): void {
  for (const [at, gate] of recordsAt(spec, 'readinessGates').entries()) {
    const type = textAt(gate, 'conditionType');
    const where = `${path}.readinessGates[${String(at)}].conditionType`;
    errors.problems(where, type, qualifiedNameProblems(type));
  }
  const names = new Set<string>();
  for (const [at, gate] of recordsAt(spec, 'schedulingGates').entries()) {
    const name = textAt(gate, 'name');
    const where = `${path}.schedulingGates[${String(at)}]`;
    errors.problems(where, name, qualifiedNameProblems(name));
    if (names.has(name)) errors.duplicate(where, name);
    names.add(name);
  }
}

/** `isStatic`: the pod mirrors one that a node runs by itself. */
export function validateResourceClaims(
  { spec, errors }: PodScope,
  path: string,
  { isStatic }: { readonly isStatic: boolean },
): void {
  const names = new Set<string>();
  for (const [at, claim] of recordsAt(spec, 'resourceClaims').entries()) {
    if (isStatic) {
      errors.forbidden('', 'static pods do not support resource claims');
      continue;
    }
    const where = `${path}.resourceClaims[${String(at)}]`;
    const name = textAt(claim, 'name');
    if (name === '') errors.required(`${where}.name`);
    else if (names.has(name)) errors.duplicate(`${where}.name`, name);
    else errors.problems(`${where}.name`, name, dns1123LabelProblems(name));
    names.add(name);
    const sources = ['resourceClaimName', 'resourceClaimTemplateName'];
    const given = sources.filter((source) => isSet(claim, source));
    if (given.length > 1) {
      const detail =
        'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
      errors.invalid(where, claim, detail);
    } else if (given.length === 0) {
      const detail = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`';
      errors.invalid(where, claim, detail);
    }
    for (const source of given) {
      const text = textAt(claim, source);
      errors.problems(`${where}.${source}`, text, dns1123SubdomainProblems(text));
    }
  }
}

export function validateHostAliases({ spec, errors }: PodScope, path: string): void {
  for (const [at, alias] of recordsAt(spec, 'hostAliases').entries()) {
    const ip = textAt(alias, 'ip');
    errors.problems(`${path}.hostAliases[${String(at)}].ip`, ip, ipProblems(ip));
  }
}

const systems = ['linux', 'windows'];

/** A system that nobody knows is reported for the whole of it. */
export function validateSystemName({ spec, errors, osName }: PodScope, path: string): void {
  if (recordAt(spec, 'os') === undefined) return;
  if (osName === '') errors.required(`${path}.os.name`);
  else if (!systems.includes(osName)) errors.notSupported(`${path}.os`, osName, systems);
}

const preemptionPolicies = ['PreemptLowerPriority', 'Never'];

export function validatePreemption(of: JsonObject, path: string, errors: FieldErrors): void {
  if (!isSet(of, 'preemptionPolicy')) return;
  const policy = textAt(of, 'preemptionPolicy');
  const at = childPath(path, 'preemptionPolicy');
  if (policy === '') errors.required(at);
  else if (!preemptionPolicies.includes(policy)) {
    errors.notSupported(at, policy, preemptionPolicies);
  }
}
