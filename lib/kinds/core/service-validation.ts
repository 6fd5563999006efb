// Services: ports, affinity, and what each type of service may state. Failures of addresses are
// told alone: without right ones nothing else of a service is known.
import { cidrProblems, ipProblems } from '../../api/address-formats.ts';
import { FieldErrors, immutableDetail } from '../../api/field-errors.ts';
import { portNumberProblems } from '../../api/formats.ts';
import { specialIpProblems } from '../../api/ip-address.ts';
import { sameJson } from '../../api/json-equal.ts';
import {
  isSet,
  listAt,
  numberAt,
  recordAt,
  recordIn,
  recordsAt,
  textAt,
  textsAt,
  valueAt,
} from '../../api/json-access.ts';
import {
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  qualifiedNameProblems,
} from '../../api/name-rules.ts';
import { isZero } from '../../api/presence.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { invalid } from '../../base/status.ts';
import type { Holder, ValidatedWrite, Validator } from '../validator.ts';
import { validateLabels } from '../validator.ts';
import { validatePort } from './container-handlers.ts';
import { pointsOf, validateBalancerStatus } from './load-balancer-status.ts';
import { validateAddressChange, validateAddresses } from './service-addresses.ts';
import {
  isHeadless,
  isReachedFromOutside,
  needsHealthCheck,
  topologyHintsAnnotation,
  topologyModeAnnotation,
  typeOf,
} from './service-types.ts';

export const validateService: Validator = (write) => {
  const { object, old, errors, subresource } = write;
  const spec = recordAt(object, 'spec') ?? {};
  if (subresource === 'status') {
    validateStatus(write, spec);
    return;
  }
  const before = recordAt(old, 'spec');
  if (!sameJson(spec, before)) refuseAddresses(write, spec, before);
  if (before !== undefined) validateChange(spec, before, errors);
  validateSpec(spec, write);
};

/** @throws StatusError 422 before anything else of the service is looked at. */
function refuseAddresses({ object }: ValidatedWrite, spec: JsonObject, before: Holder): void {
  const errors = new FieldErrors();
  validateAddresses(spec, before, errors);
  if (errors.list.length === 0) return;
  throw invalid({ group: '', kind: 'Service' }, object.metadata?.name ?? '', errors.list);
}

function validateSpec(spec: JsonObject, write: ValidatedWrite): void {
  const { errors } = write;
  validateTopology(write);
  if (listAt(spec, 'ports').length === 0 && !isHeadless(spec) && typeOf(spec) !== 'ExternalName') {
    errors.required('spec.ports');
  }
  validateType(spec, errors);
  validatePorts(spec, errors);
  validateLabels(recordAt(spec, 'selector'), 'spec.selector', errors);
  validateAffinity(spec, errors);
  const stored = new Set(textsAt(recordAt(write.old, 'spec'), 'externalIPs'));
  for (const [at, ip] of textsAt(spec, 'externalIPs').entries()) {
    const problems = ipProblems(ip, stored);
    const found = problems.length > 0 ? problems : specialIpProblems(ip);
    errors.problems(`spec.externalIPs[${String(at)}]`, ip, found);
  }
  validateNodePorts(spec, errors);
  validateSourceRanges(spec, write);
  if (isSet(spec, 'allocateLoadBalancerNodePorts') && typeOf(spec) !== 'LoadBalancer') {
    errors.forbidden('spec.allocateLoadBalancerNodePorts', onlyBalanced);
  }
  validateBalancerClass(spec, errors);
  validateTraffic(spec, errors);
}

const onlyBalanced = "may only be used when `type` is 'LoadBalancer'";

function validateBalancerClass(spec: JsonObject, errors: FieldErrors): void {
  if (!isSet(spec, 'loadBalancerClass')) return;
  const name = textAt(spec, 'loadBalancerClass');
  const path = 'spec.loadBalancerClass';
  if (typeOf(spec) !== 'LoadBalancer') errors.forbidden(path, onlyBalanced);
  else errors.problems(path, name, qualifiedNameProblems(name));
}

/** The older annotation and the newer one do not contradict each other. */
function validateTopology({ object, errors, naming }: ValidatedWrite): void {
  const annotations = recordIn(object, 'metadata', 'annotations');
  const hints = topologyHintsAnnotation(naming);
  const mode = topologyModeAnnotation(naming);
  if (!isSet(annotations, hints) || !isSet(annotations, mode)) return;
  const value = textAt(annotations, mode);
  if (value === textAt(annotations, hints)) return;
  const detail = `must match annotations[${hints}] when both are specified`;
  errors.invalid(`metadata.annotations[${mode}]`, value, detail);
}

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

function validateType(spec: JsonObject, errors: FieldErrors): void {
  const type = typeOf(spec);
  if (!types.includes(type)) errors.notSupported('spec.type', type, types);
  if ((type === 'NodePort' || type === 'LoadBalancer') && isHeadless(spec)) {
    errors.invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`);
  }
  if (type !== 'ExternalName') return;
  const detail = 'may not be set for ExternalName services';
  for (const name of ['clusterIPs', 'ipFamilies']) {
    if (listAt(spec, name).length > 0) errors.forbidden(`spec.${name}`, detail);
  }
  if (isSet(spec, 'ipFamilyPolicy')) errors.forbidden('spec.ipFamilyPolicy', detail);
  const name = textAt(spec, 'externalName').replace(/\.$/, '');
  if (name === '') errors.required('spec.externalName');
  else errors.problems('spec.externalName', name, dns1123SubdomainProblems(name));
}

const protocols = ['SCTP', 'TCP', 'UDP'];

function validatePorts(spec: JsonObject, errors: FieldErrors): void {
  const ports = recordsAt(spec, 'ports');
  const names = new Set<string>();
  for (const [at, port] of ports.entries()) {
    const path = `spec.ports[${String(at)}]`;
    const name = textAt(port, 'name');
    if (name !== '') {
      errors.problems(`${path}.name`, name, dns1123LabelProblems(name));
      if (names.has(name)) errors.duplicate(`${path}.name`, name);
      names.add(name);
    } else if (ports.length > 1) errors.required(`${path}.name`);
    const number = numberAt(port, 'port') ?? 0;
    errors.problems(`${path}.port`, number, portNumberProblems(number));
    const protocol = textAt(port, 'protocol');
    if (!protocols.includes(protocol)) {
      errors.notSupported(`${path}.protocol`, protocol, protocols);
    }
    const target = valueAt(port, 'targetPort');
    validatePort(isZero(target) ? 0 : target, `${path}.targetPort`, errors);
    const appProtocol = textAt(port, 'appProtocol');
    if (!isSet(port, 'appProtocol')) continue;
    errors.problems(`${path}.appProtocol`, appProtocol, qualifiedNameProblems(appProtocol));
  }
}

/** Ports, here and on nodes, are told apart by number and protocol. */
function validateNodePorts(spec: JsonObject, errors: FieldErrors): void {
  const ports = recordsAt(spec, 'ports');
  const nodePorts = new Set<string>();
  const identities = new Set<string>();
  for (const [at, port] of ports.entries()) {
    const nodePort = numberAt(port, 'nodePort') ?? 0;
    const path = `spec.ports[${String(at)}].nodePort`;
    if (nodePort === 0) continue;
    if (typeOf(spec) === 'ClusterIP') {
      errors.forbidden(path, "may not be used when `type` is 'ClusterIP'");
    }
    const identity = `${textAt(port, 'protocol')}/${String(nodePort)}`;
    if (nodePorts.has(identity)) errors.duplicate(path, nodePort);
    nodePorts.add(identity);
  }
  for (const [at, port] of ports.entries()) {
    const [protocol, number] = [textAt(port, 'protocol'), numberAt(port, 'port') ?? 0];
    const identity = `${protocol}/${String(number)}`;
    if (identities.has(identity)) {
      const shown = { Protocol: protocol, AppProtocol: null, Port: number };
      errors.duplicate(`spec.ports[${String(at)}]`, {
        Name: '',
        ...shown,
        TargetPort: 0,
        NodePort: 0,
      });
    }
    identities.add(identity);
  }
}

const affinities = ['ClientIP', 'None'];
const affinitySecondsMax = 86_400;

function validateAffinity(spec: JsonObject, errors: FieldErrors): void {
  const affinity = textAt(spec, 'sessionAffinity');
  if (!affinities.includes(affinity)) {
    errors.notSupported('spec.sessionAffinity', affinity, affinities);
  }
  const path = 'spec.sessionAffinityConfig';
  if (affinity === 'None' && isSet(spec, 'sessionAffinityConfig')) {
    errors.forbidden(path, 'must not be set when session affinity is None');
  }
  if (affinity !== 'ClientIP') return;
  const seconds = numberAt(recordIn(spec, 'sessionAffinityConfig', 'clientIP'), 'timeoutSeconds');
  if (seconds !== undefined && seconds > 0 && seconds <= affinitySecondsMax) return;
  const detail = `must be greater than 0 and less than ${String(affinitySecondsMax)}`;
  errors.invalid(`${path}.clientIP.timeoutSeconds`, seconds ?? 0, detail);
}

/** In the field, or in the annotation that came before it. */
function validateSourceRanges(
  spec: JsonObject,
  { object, old, errors, naming }: ValidatedWrite,
): void {
  const ranges = textsAt(spec, 'loadBalancerSourceRanges');
  const key = naming.resolve('service.beta.{kubernetes}.io/load-balancer-source-ranges');
  const annotations = recordIn(object, 'metadata', 'annotations');
  const isInField = ranges.length > 0;
  if (!isInField && !isSet(annotations, key)) return;
  const path = isInField ? 'spec.LoadBalancerSourceRanges' : `metadata.annotations[${key}]`;
  if (typeOf(spec) !== 'LoadBalancer') {
    errors.forbidden(path, onlyBalanced);
  }
  const before = textsAt(recordAt(old, 'spec'), 'loadBalancerSourceRanges');
  const stored = new Set(before.map((range) => range.trim()));
  for (const [at, range] of ranges.entries()) {
    const text = range.trim();
    errors.problems(`${path}[${String(at)}]`, text, cidrProblems(text, stored));
  }
  const annotation = textAt(annotations, key);
  const isStored = textAt(recordIn(old, 'metadata', 'annotations'), key) === annotation;
  if (isInField || isStored || annotation.trim() === '') return;
  for (const range of annotation.split(',')) {
    errors.problems(path, range.trim(), cidrProblems(range.trim()));
  }
}

const policies = ['Cluster', 'Local'];
const distributions = ['PreferClose', 'PreferSameZone', 'PreferSameNode'];

function validateTraffic(spec: JsonObject, errors: FieldErrors): void {
  const external = textAt(spec, 'externalTrafficPolicy');
  if (!isReachedFromOutside(spec)) {
    const detail = 'may only be set for externally-accessible services';
    if (external !== '') errors.invalid('spec.externalTrafficPolicy', external, detail);
  } else if (!policies.includes(external)) {
    errors.notSupported('spec.externalTrafficPolicy', external, policies);
  }
  const health = numberAt(spec, 'healthCheckNodePort') ?? 0;
  if (health !== 0 && needsHealthCheck(spec)) {
    errors.problems('spec.healthCheckNodePort', health, portNumberProblems(health));
  } else if (health !== 0) {
    const detail =
      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    errors.invalid('spec.healthCheckNodePort', health, detail);
  }
  for (const [name, supported] of [
    ['internalTrafficPolicy', policies],
    ['trafficDistribution', distributions],
  ] as const) {
    const value = textAt(spec, name);
    if (!isSet(spec, name) || supported.includes(value)) continue;
    errors.notListed(`spec.${name}`, value, supported);
  }
}

/** A class is looked at in both: what is wrong with it is told twice. */
function validateChange(spec: JsonObject, old: JsonObject, errors: FieldErrors): void {
  validateAddressChange(spec, old, errors);
  const isBalanced = [spec, old].every((one) => typeOf(one) === 'LoadBalancer');
  const balancer = valueAt(spec, 'loadBalancerClass');
  if (isBalanced && balancer !== valueAt(old, 'loadBalancerClass')) {
    errors.invalid('spec.loadBalancerClass', balancer ?? null, 'may not change once set');
  }
  validateBalancerClass(spec, errors);
  if (!needsHealthCheck(spec) || !needsHealthCheck(old)) return;
  const [port, before] = [
    numberAt(spec, 'healthCheckNodePort'),
    numberAt(old, 'healthCheckNodePort'),
  ];
  if ((port ?? 0) !== (before ?? 0) && (before ?? 0) !== 0) {
    errors.forbidden('spec.healthCheckNodePort', immutableDetail);
  }
}

function validateStatus({ object, old, errors }: ValidatedWrite, spec: JsonObject): void {
  const [points, stored] = pointsOf({ object, old });
  if (points.length > 0 && typeOf(spec) !== 'LoadBalancer') {
    const detail = "may only be used when `spec.type` is 'LoadBalancer'";
    errors.forbidden('status.loadBalancer.ingress', detail);
    return;
  }
  validateBalancerStatus(points, { hasMode: true, stored }, errors);
}
