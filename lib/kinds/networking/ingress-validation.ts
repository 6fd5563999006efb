// Ingresses and their classes: hosts, paths, backends.
import { portNameProblems, wildcardSubdomainProblems } from '../../api/formats.ts';
import { ipFamily } from '../../api/ip-address.ts';
import { isSet, numberAt, recordAt, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
} from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { validateBalancerStatus } from '../core/load-balancer-status.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';

export const validateIngress: Validator = (write) => {
  const { object, old, errors, naming } = write;
  const spec = recordAt(object, 'spec') ?? {};
  const rules = recordsAt(spec, 'rules');
  const backend = recordAt(spec, 'defaultBackend');
  if (rules.length === 0 && backend === undefined) {
    errors.invalid('spec', rules, 'either `defaultBackend` or `rules` must be specified');
  }
  if (backend !== undefined) validateBackend(backend, 'spec.defaultBackend', write);
  for (const [at, rule] of rules.entries()) validateRule(rule, `spec.rules[${String(at)}]`, write);
  for (const [at, tls] of recordsAt(spec, 'tls').entries()) {
    for (const [index, host] of textsAt(tls, 'hosts').entries()) {
      const path = `spec.tls[${String(at)}].hosts[${String(index)}]`;
      errors.problems(path, host, hostProblems(host));
    }
  }
  const annotation = naming.resolve('{kubernetes}.io/ingress.class');
  const legacy = textAt(recordAt(recordAt(object, 'metadata'), 'annotations'), annotation);
  const className = textAt(spec, 'ingressClassName');
  if (old === undefined && legacy !== '' && className !== '' && legacy !== className) {
    const detail = `must match \`ingressClassName\` when both are specified`;
    errors.invalid(`metadata.annotations.${annotation}`, legacy, detail);
  }
  const status = recordAt(object, 'status');
  if (sameJson(status, recordAt(old, 'status'))) return;
  const points = recordsAt(recordAt(status, 'loadBalancer'), 'ingress');
  validateBalancerStatus(points, { hasMode: false }, errors);
};

const hostProblems = (host: string): readonly string[] =>
  host.includes('*') ? wildcardSubdomainProblems(host) : dns1123SubdomainProblems(host);

function validateRule(rule: JsonObject, path: string, write: ValidatedWrite): void {
  const { errors } = write;
  const host = textAt(rule, 'host');
  if (host !== '') {
    errors.problems(`${path}.host`, host, hostProblems(host));
    if (ipFamily(host) !== undefined) {
      errors.invalid(`${path}.host`, host, 'must be a DNS name, not an IP address');
    }
  }
  for (const [at, one] of recordsAt(recordAt(rule, 'http'), 'paths').entries()) {
    validatePath(one, `${path}.http.paths[${String(at)}]`, write);
  }
}

const pathTypes = ['Exact', 'Prefix', 'ImplementationSpecific'];

function validatePath(one: JsonObject, where: string, write: ValidatedWrite): void {
  const { errors } = write;
  const type = textAt(one, 'pathType');
  const path = textAt(one, 'path');
  const at = `${where}.path`;
  if (type !== '' && !pathTypes.includes(type)) {
    errors.notSupported(`${where}.pathType`, type, pathTypes);
  }
  if (type === 'Exact' || type === 'Prefix') {
    if (!path.startsWith('/')) errors.invalid(at, path, 'must be an absolute path');
    for (const bad of ['//', '/./', '/../', '%2f', '%2F']) {
      if (path.includes(bad)) errors.invalid(at, path, `must not contain '${bad}'`);
    }
    for (const bad of ['/..', '/.']) {
      if (path.endsWith(bad)) errors.invalid(at, path, `cannot end with '${bad}'`);
    }
  } else if (path !== '' && !path.startsWith('/')) {
    errors.invalid(at, path, 'must be an absolute path');
  }
  validateBackend(recordAt(one, 'backend') ?? {}, `${where}.backend`, write);
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
    for (const name of ['kind', 'name']) {
      if (textAt(resource, name) === '') errors.required(`${path}.resource.${name}`);
    }
  } else if (service === undefined) {
    errors.invalid(path, '', 'resource or service backend is required');
  } else {
    const name = textAt(service, 'name');
    const at = `${path}.service.name`;
    if (name === '') errors.required(at);
    else if (isOn('RelaxedServiceNameValidation'))
      errors.problems(at, name, dns1123LabelProblems(name));
    else errors.problems(at, name, dns1035LabelProblems(name));
    validateBackendPort(recordAt(service, 'port'), `${path}.service.port`, errors);
  }
}

function validateBackendPort(
  port: JsonObject | undefined,
  path: string,
  errors: ValidatedWrite['errors'],
): void {
  const name = textAt(port, 'name');
  const number = numberAt(port, 'number') ?? 0;
  if (name !== '' && number !== 0) {
    errors.invalid(path, '', 'cannot set both port name & port number');
  } else if (name === '' && number === 0) {
    errors.required(path, 'port name or number is required');
  } else if (name !== '') {
    errors.problems(`${path}.name`, name, portNameProblems(name));
  } else if (number < 1 || number > 65_535) {
    errors.invalid(`${path}.number`, number, 'must be between 1 and 65535, inclusive');
  }
}

export const validateIngressClass: Validator = ({ object, errors }) => {
  const parameters = recordAt(recordAt(object, 'spec'), 'parameters');
  if (parameters === undefined) return;
  const path = 'spec.parameters';
  const scope = textAt(parameters, 'scope');
  const namespace = textAt(parameters, 'namespace');
  if (scope === 'Namespace') {
    if (namespace === '')
      errors.required(`${path}.namespace`, "is required when scope is 'Namespace'");
    else errors.problems(`${path}.namespace`, namespace, dns1123LabelProblems(namespace));
  } else if (scope === 'Cluster' && isSet(parameters, 'namespace')) {
    errors.forbidden(`${path}.namespace`, "can not be set when scope is 'Cluster'");
  }
};
