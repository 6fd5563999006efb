// Ingresses: hosts, paths, backends.
import type { FieldErrors } from '../../api/field-errors.ts';
import {
  portNameProblems,
  portNumberProblems,
  wildcardSubdomainProblems,
} from '../../api/formats.ts';
import { ipFamily } from '../../api/ip-address.ts';
import {
  isSet,
  numberAt,
  recordAt,
  recordIn,
  recordsAt,
  textAt,
  textsAt,
  valueAt,
} from '../../api/json-access.ts';
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  pathSegmentProblems,
} from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { pointsOf, validateBalancerStatus } from '../core/load-balancer-status.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';
import { validateGroup } from './ingress-class-validation.ts';
import { classAnnotation } from './network-warnings.ts';

export const validateIngress: Validator = (write) => {
  const { object, old, errors, subresource } = write;
  if (subresource === 'status') {
    const [points, stored] = pointsOf(write);
    validateBalancerStatus(points, { hasMode: false, stored }, errors);
    return;
  }
  const spec = recordAt(object, 'spec') ?? {};
  const rules = recordsAt(spec, 'rules');
  const backend = recordAt(spec, 'defaultBackend');
  if (rules.length === 0 && backend === undefined) {
    const detail = 'either `defaultBackend` or `rules` must be specified';
    errors.invalid('spec', valueAt(spec, 'rules') ?? null, detail);
  }
  if (backend !== undefined) validateBackend(backend, 'spec.defaultBackend', write);
  for (const [at, rule] of rules.entries()) validateRule(rule, `spec.rules[${String(at)}]`, write);
  for (const [at, tls] of recordsAt(spec, 'tls').entries()) {
    validateTls(tls, `spec.tls[${String(at)}]`, write);
  }
  if (!isSet(spec, 'ingressClassName')) return;
  const name = textAt(spec, 'ingressClassName');
  errors.problems('spec.ingressClassName', name, dns1123SubdomainProblems(name));
  if (old === undefined) validateOldClass(name, write);
};

/** A new ingress may name its class in the annotation as well. */
function validateOldClass(name: string, { object, errors, naming }: ValidatedWrite): void {
  const annotation = naming.resolve(classAnnotation);
  const annotations = recordIn(object, 'metadata', 'annotations');
  const given = textAt(annotations, annotation);
  if (!isSet(annotations, annotation) || given === name) return;
  const detail = 'must match `ingressClassName` when both are specified';
  errors.invalid(`annotations.${annotation}`, given, detail);
}

function validateTls(tls: JsonObject, path: string, { errors }: ValidatedWrite): void {
  for (const [at, host] of textsAt(tls, 'hosts').entries()) {
    errors.problems(`${path}.hosts[${String(at)}]`, host, hostProblems(host));
  }
  const secret = textAt(tls, 'secretName');
  if (secret !== '')
    errors.problems(`${path}.secretName`, secret, dns1123SubdomainProblems(secret));
}

const hostProblems = (host: string): readonly string[] =>
  host.includes('*') ? wildcardSubdomainProblems(host) : dns1123SubdomainProblems(host);

function validateRule(rule: JsonObject, path: string, write: ValidatedWrite): void {
  const { errors } = write;
  const host = textAt(rule, 'host');
  if (host !== '') {
    if (ipFamily(host) !== undefined) {
      errors.invalid(`${path}.host`, host, 'must be a DNS name, not an IP address');
    }
    errors.problems(`${path}.host`, host, hostProblems(host));
  }
  for (const [at, one] of recordsAt(recordAt(rule, 'http'), 'paths').entries()) {
    validatePath(one, `${path}.http.paths[${String(at)}]`, write);
  }
}

const pathTypes = ['Exact', 'Prefix', 'ImplementationSpecific'];

/** Without a type nothing of a path is known. */
function validatePath(one: JsonObject, where: string, write: ValidatedWrite): void {
  const { errors } = write;
  if (!isSet(one, 'pathType')) {
    errors.required(`${where}.pathType`, 'pathType must be specified');
    return;
  }
  const type = textAt(one, 'pathType');
  const path = textAt(one, 'path');
  if (!pathTypes.includes(type)) errors.notSupported(`${where}.pathType`, type, pathTypes);
  else errors.problems(`${where}.path`, path, pathProblems(path, type));
  validateBackend(recordAt(one, 'backend') ?? {}, `${where}.backend`, write);
}

function pathProblems(path: string, type: string): readonly string[] {
  const isFree = type === 'ImplementationSpecific';
  if (isFree && path === '') return [];
  const problems = path.startsWith('/') ? [] : ['must be an absolute path'];
  if (isFree) return problems;
  for (const bad of ['//', '/./', '/../', '%2f', '%2F']) {
    if (path.includes(bad)) problems.push(`must not contain '${bad}'`);
  }
  for (const bad of ['/..', '/.']) {
    if (path.endsWith(bad)) problems.push(`cannot end with '${bad}'`);
  }
  return problems;
}

function validateBackend(
  backend: JsonObject,
  path: string,
  { errors, isOn }: ValidatedWrite,
): void {
  const service = recordAt(backend, 'service');
  const resource = recordAt(backend, 'resource');
  if (service !== undefined && resource !== undefined) {
    errors.invalid(path, '', 'cannot set both resource and service backends');
  } else if (resource !== undefined) {
    validateReference(resource, `${path}.resource`, errors);
  } else if (service === undefined) {
    errors.invalid(path, '', 'resource or service backend is required');
  } else {
    const name = textAt(service, 'name');
    const at = `${path}.service.name`;
    if (name === '') errors.required(at);
    else if (isOn('RelaxedServiceNameValidation'))
      errors.problems(at, name, dns1123LabelProblems(name));
    else errors.problems(at, name, dns1035LabelProblems(name));
    validateBackendPort(recordAt(service, 'port'), path, errors);
  }
}

function validateReference(reference: JsonObject, path: string, errors: FieldErrors): void {
  validateGroup(reference, path, errors);
  for (const name of ['kind', 'name']) {
    const value = textAt(reference, name);
    if (value === '') errors.required(`${path}.${name}`);
    else errors.problems(`${path}.${name}`, value, pathSegmentProblems(value));
  }
}

/** `path`: of the backend, which has a name or a number of a port. */
function validateBackendPort(
  port: JsonObject | undefined,
  path: string,
  errors: FieldErrors,
): void {
  const name = textAt(port, 'name');
  const number = numberAt(port, 'number') ?? 0;
  if (name !== '' && number !== 0) {
    errors.invalid(path, '', 'cannot set both port name & port number');
  } else if (name !== '') {
    errors.problems(`${path}.service.port.name`, name, portNameProblems(name));
  } else if (number !== 0) {
    errors.problems(`${path}.service.port.number`, number, portNumberProblems(number));
  } else errors.required(path, 'port name or number is required');
}
