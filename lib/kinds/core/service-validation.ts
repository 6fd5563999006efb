// Services: ports, addresses, and what each type of service may state.
import {
  isSet,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
  valueAt,
} from '../../api/json-access.ts';
import { cidrProblems, ipProblems } from '../../api/address-formats.ts';
import { ipFamily, specialIpProblems } from '../../api/ip-address.ts';
import { sameJson } from '../../api/json-equal.ts';
import { dns1123SubdomainProblems } from '../../api/name-rules.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ValidatedWrite, Validator } from '../validator.ts';
import { validateLabels } from '../validator.ts';
import { validatePort } from './container-handlers.ts';

export const validateService: Validator = (write) => {
  const { object, old, errors } = write;
  const spec = recordAt(object, 'spec') ?? {};
  validateLabels(recordAt(spec, 'selector'), 'spec.selector', errors);
  validatePorts(spec, write);
  validateType(spec, write);
  validateAddresses(spec, write);
  validateLoadBalancer(spec, write);
  validateTraffic(spec, write);
  if (old !== undefined) validateUpdate(spec, recordAt(old, 'spec') ?? {}, write);
  validateStatus(write, spec);
};

const typeOf = (spec: JsonObject): string => textAt(spec, 'type') || 'ClusterIP';
const isHeadless = (spec: JsonObject): boolean =>
  textsAt(spec, 'clusterIPs')[0] === 'None' || textAt(spec, 'clusterIP') === 'None';

function validatePorts(spec: JsonObject, { errors }: ValidatedWrite): void {
  const ports = recordsAt(spec, 'ports');
  const type = typeOf(spec);
  if (ports.length === 0 && !isHeadless(spec) && type !== 'ExternalName') {
    errors.required('spec.ports');
  }
  const names = new Set<string>();
  const seen = new Set<string>();
  const nodePorts = new Set<string>();
  for (const [at, port] of ports.entries()) {
    const path = `spec.ports[${String(at)}]`;
    const name = textAt(port, 'name');
    if (name === '' && ports.length > 1) errors.required(`${path}.name`);
    if (name !== '' && names.has(name)) errors.duplicate(`${path}.name`, name);
    names.add(name);
    const target = valueAt(port, 'targetPort');
    const isNone = target === undefined || target === 0 || target === '';
    if (!isNone) validatePort(target, `${path}.targetPort`, errors);
    const number = numberAt(port, 'port') ?? 0;
    if (isHeadless(spec) && typeof target === 'number' && target !== 0 && target !== number) {
      const detail = "must be equal to the value of 'port' when clusterIP = None";
      errors.invalid(`${path}.targetPort`, target, detail);
    }
    const protocol = textAt(port, 'protocol') || 'TCP';
    const key = `${protocol}/${String(number)}`;
    if (seen.has(key)) errors.duplicate(path, port);
    seen.add(key);
    const nodePort = numberAt(port, 'nodePort') ?? 0;
    if (nodePort === 0) continue;
    if (type === 'ClusterIP' || type === 'ExternalName') {
      errors.forbidden(`${path}.nodePort`, `may not be used when \`type\` is '${type}'`);
    }
    const nodeKey = `${protocol}/${String(nodePort)}`;
    if (nodePorts.has(nodeKey)) errors.duplicate(`${path}.nodePort`, nodePort);
    nodePorts.add(nodeKey);
  }
}

function validateType(spec: JsonObject, { errors }: ValidatedWrite): void {
  const type = typeOf(spec);
  const exposed = type === 'NodePort' || type === 'LoadBalancer';
  if (exposed && isHeadless(spec)) {
    const detail = `may not be set to 'None' for ${type} services`;
    errors.invalid('spec.clusterIPs[0]', 'None', detail);
  }
  if (type === 'ExternalName') {
    for (const name of ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy']) {
      const value = valueAt(spec, name);
      if (value === undefined || value === '' || (Array.isArray(value) && value.length === 0)) {
        continue;
      }
      errors.forbidden(`spec.${name}`, 'may not be set for ExternalName services');
    }
    const name = textAt(spec, 'externalName').replace(/\.$/, '');
    if (name === '') errors.required('spec.externalName');
    else errors.problems('spec.externalName', name, dns1123SubdomainProblems(name));
  }
  const affinity = textAt(spec, 'sessionAffinity');
  const config = recordAt(spec, 'sessionAffinityConfig');
  if (affinity === 'ClientIP') {
    if (config === undefined) return;
    if (!isSet(recordAt(config, 'clientIP'), 'timeoutSeconds')) {
      const detail = "must be specified when `sessionAffinity` is 'ClientIP'";
      errors.required('spec.sessionAffinityConfig.clientIP.timeoutSeconds', detail);
    }
  } else if (config !== undefined) {
    const detail = `must not be set when session affinity is ${affinity || 'None'}`;
    errors.forbidden('spec.sessionAffinityConfig', detail);
  }
}

function validateAddresses(spec: JsonObject, { errors }: ValidatedWrite): void {
  for (const [at, ip] of textsAt(spec, 'externalIPs').entries()) {
    errors.problems(`spec.externalIPs[${String(at)}]`, ip, specialIpProblems(ip));
  }
  if (typeOf(spec) === 'ExternalName') return;
  const ips = textsAt(spec, 'clusterIPs');
  const single = textAt(spec, 'clusterIP');
  const path = 'spec.clusterIPs';
  if (ips.length === 0) {
    if (single !== '' && single !== 'None') {
      errors.problems('spec.clusterIP', single, ipProblems(single));
    }
  } else if (ips[0] !== single) {
    errors.invalid(path, ips, 'first value must match `clusterIP`');
  }
  if (ips.length > 2) errors.invalid(path, ips, 'may only hold up to 2 values');
  for (const [at, ip] of ips.entries()) {
    if (ip === 'None') {
      if (ips.length > 1) {
        errors.invalid(`${path}[${String(at)}]`, ip, 'must be the only entry when it is None');
      }
      continue;
    }
    if (ip !== '') errors.problems(`${path}[${String(at)}]`, ip, ipProblems(ip));
  }
  const families = ips.map(ipFamily);
  if (ips.length === 2 && families[0] === families[1]) {
    errors.invalid(path, ips, 'may specify no more than one IP for each IP family');
  }
  for (const [at, family] of textsAt(spec, 'ipFamilies').entries()) {
    const own = families[at];
    if (own === undefined || own === family) continue;
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${String(at)}]\``;
    errors.invalid(`${path}[${String(at)}]`, ips[at], detail);
  }
  if (textAt(spec, 'ipFamilyPolicy') === 'SingleStack' && ips.length > 1) {
    errors.invalid(
      'spec.ipFamilyPolicy',
      'SingleStack',
      'must be RequireDualStack or PreferDualStack for two clusterIPs',
    );
  }
}

function validateLoadBalancer(spec: JsonObject, { errors, old }: ValidatedWrite): void {
  const isBalancer = typeOf(spec) === 'LoadBalancer';
  const ranges = textsAt(spec, 'loadBalancerSourceRanges');
  if (ranges.length > 0 && !isBalancer) {
    const detail = "may only be used when `type` is 'LoadBalancer'";
    errors.forbidden('spec.loadBalancerSourceRanges', detail);
  }
  for (const [at, range] of ranges.entries()) {
    const text = range.trim();
    errors.problems(`spec.loadBalancerSourceRanges[${String(at)}]`, range, cidrProblems(text));
  }
  if (textAt(spec, 'loadBalancerClass') !== '' && !isBalancer) {
    const detail = "may only be used when `type` is 'LoadBalancer'";
    errors.forbidden('spec.loadBalancerClass', detail);
  }
  const before = recordAt(old, 'spec');
  if (isBalancer && before !== undefined && typeOf(before) === 'LoadBalancer') {
    const [now, was] = [valueAt(spec, 'loadBalancerClass'), valueAt(before, 'loadBalancerClass')];
    if (now !== was)
      errors.invalid('spec.loadBalancerClass', now ?? null, 'may not change once set');
  }
  if (isSet(spec, 'allocateLoadBalancerNodePorts')) {
    if (isBalancer) return;
    const detail = "may only be used when `type` is 'LoadBalancer'";
    errors.forbidden('spec.allocateLoadBalancerNodePorts', detail);
  }
}

function validateTraffic(spec: JsonObject, { errors }: ValidatedWrite): void {
  const type = typeOf(spec);
  const external = textAt(spec, 'externalTrafficPolicy');
  const hasExternal =
    type === 'NodePort' ||
    type === 'LoadBalancer' ||
    (type === 'ClusterIP' && textsAt(spec, 'externalIPs').length > 0);
  if (external !== '' && !hasExternal) {
    const detail = 'may only be set for externally-accessible services';
    errors.invalid('spec.externalTrafficPolicy', external, detail);
  }
  const health = numberAt(spec, 'healthCheckNodePort') ?? 0;
  if (health !== 0 && (type !== 'LoadBalancer' || external !== 'Local')) {
    const detail =
      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.invalid('spec.healthCheckNodePort', health, detail);
  }
}

function validateUpdate(spec: JsonObject, old: JsonObject, { errors }: ValidatedWrite): void {
  const type = typeOf(spec);
  const before = typeOf(old);
  const health = numberAt(spec, 'healthCheckNodePort') ?? 0;
  const oldHealth = numberAt(old, 'healthCheckNodePort') ?? 0;
  if (health !== oldHealth && health !== 0 && oldHealth !== 0) {
    errors.invalid('spec.healthCheckNodePort', health, 'field is immutable');
  }
  if (type === 'ExternalName' || before === 'ExternalName') return;
  const [ips, oldIps] = [textsAt(spec, 'clusterIPs'), textsAt(old, 'clusterIPs')];
  if (oldIps[0] !== undefined && oldIps[0] !== '') {
    if (ips[0] === undefined) {
      errors.invalid('spec.clusterIPs[0]', ips, 'primary clusterIP can not be unset');
    } else if (ips[0] !== oldIps[0]) {
      errors.invalid('spec.clusterIPs[0]', ips, 'may not change once set');
    }
  }
  const [families, oldFamilies] = [textsAt(spec, 'ipFamilies'), textsAt(old, 'ipFamilies')];
  if (oldFamilies[0] !== undefined && families[0] !== undefined && families[0] !== oldFamilies[0]) {
    errors.invalid('spec.ipFamilies[0]', families, 'may not change once set');
  }
  const isSingle = textAt(spec, 'ipFamilyPolicy') === 'SingleStack';
  const second = oldIps[1];
  if (second !== undefined && ips[1] !== undefined && ips[1] !== second && !isSingle) {
    errors.invalid('spec.clusterIPs[1]', ips, 'may not change once set');
  }
}

function validateStatus({ object, old, errors }: ValidatedWrite, spec: JsonObject): void {
  const status = recordAt(object, 'status');
  if (sameJson(status, recordAt(old, 'status'))) return;
  const ingress = recordsAt(recordAt(status, 'loadBalancer'), 'ingress');
  if (ingress.length > 0 && typeOf(spec) !== 'LoadBalancer') {
    const detail = "may only be used when `spec.type` is 'LoadBalancer'";
    errors.forbidden('status.loadBalancer.ingress', detail);
  }
  validateIngressPoints(ingress, { path: 'status.loadBalancer.ingress', hasMode: true }, errors);
}

/** Points of a load balancer, of services and of ingresses. */
export function validateIngressPoints(
  points: readonly JsonObject[],
  { path, hasMode }: { readonly path: string; readonly hasMode: boolean },
  errors: ValidatedWrite['errors'],
): void {
  for (const [at, point] of points.entries()) {
    const where = `${path}[${String(at)}]`;
    const ip = textAt(point, 'ip');
    const mode = textAt(point, 'ipMode');
    const hostname = textAt(point, 'hostname');
    if (ip !== '') errors.problems(`${where}.ip`, ip, ipProblems(ip));
    if (hasMode && ip === '' && isSet(point, 'ipMode')) {
      errors.forbidden(`${where}.ipMode`, 'may not be specified when `ip` is not set');
    } else if (hasMode && mode !== '' && mode !== 'VIP' && mode !== 'Proxy') {
      errors.notSupported(`${where}.ipMode`, mode, ['Proxy', 'VIP']);
    }
    if (hostname === '') continue;
    errors.problems(`${where}.hostname`, hostname, dns1123SubdomainProblems(hostname));
    if (ipFamily(hostname) !== undefined) {
      errors.invalid(`${where}.hostname`, hostname, 'must be a DNS name, not an IP address');
    }
  }
}

export const validateEndpoints: Validator = ({ object, errors }) => {
  for (const [at, subset] of recordsAt(object, 'subsets').entries()) {
    const path = `subsets[${String(at)}]`;
    const ready = recordsAt(subset, 'addresses');
    const notReady = recordsAt(subset, 'notReadyAddresses');
    if (ready.length === 0 && notReady.length === 0) {
      errors.required(path, 'must specify `addresses` or `notReadyAddresses`');
    }
    for (const [list, addresses] of [
      ['addresses', ready],
      ['notReadyAddresses', notReady],
    ] as const) {
      for (const [index, address] of addresses.entries()) {
        const ip = textAt(address, 'ip');
        const where = `${path}.${list}[${String(index)}].ip`;
        const problems = ipProblems(ip);
        errors.problems(where, ip, problems);
        if (problems.length > 0) errors.invalid(where, ip, 'must be a valid IP address');
        else errors.problems(where, ip, specialIpProblems(ip));
      }
    }
    const ports = recordsAt(subset, 'ports');
    for (const [index, port] of ports.entries()) {
      if (ports.length > 1 && textAt(port, 'name') === '') {
        errors.required(`${path}.ports[${String(index)}].name`);
      }
    }
  }
};
