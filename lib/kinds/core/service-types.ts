// What services of each type need, and which fields mean nothing to the others.
import { numberAt, recordsAt, textAt, textsAt, valueAt } from '../../api/json-access.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { NamingProfile } from '../../api/vendor.ts';

/** Deprecated for `topologyModeAnnotation`. */
export const topologyHintsAnnotation = (naming: NamingProfile): string =>
  naming.resolve('service.{kubernetes}.io/topology-aware-hints');

export const topologyModeAnnotation = (naming: NamingProfile): string =>
  naming.resolve('service.{kubernetes}.io/topology-mode');

type Spec = Readonly<JsonObject>;

export const typeOf = (spec: Spec): string => textAt(spec, 'type');

/** Without an address of its own: names lead to pods. */
export function isHeadless(spec: Spec): boolean {
  const addresses = textsAt(spec, 'clusterIPs');
  return addresses.length === 1 && addresses[0] === 'None';
}

export const needsClusterIp = (spec: Spec): boolean => typeOf(spec) !== 'ExternalName';

export const isOnNodes = (spec: Spec): boolean =>
  ['NodePort', 'LoadBalancer'].includes(typeOf(spec));

export const isReachedFromOutside = (spec: Spec): boolean =>
  isOnNodes(spec) || (typeOf(spec) === 'ClusterIP' && textsAt(spec, 'externalIPs').length > 0);

export const needsHealthCheck = (spec: Spec): boolean =>
  typeOf(spec) === 'LoadBalancer' && textAt(spec, 'externalTrafficPolicy') === 'Local';

/** Ports on nodes are chosen where none is stated. */
export const needsNodePorts = (spec: Spec): boolean =>
  typeOf(spec) === 'NodePort' ||
  (typeOf(spec) === 'LoadBalancer' && spec['allocateLoadBalancerNodePorts'] !== false);

export const nodePortsOf = (spec: Spec): readonly number[] =>
  recordsAt(spec, 'ports').flatMap((port) => numberAt(port, 'nodePort') || []);

interface TypeFields {
  /** Types that the fields mean something to. */
  readonly needs: (spec: Spec) => boolean;
  readonly names: readonly string[];
}

/** Fields that go together when a service's type changes. */
const typeFields: readonly TypeFields[] = [
  { needs: needsClusterIp, names: ['clusterIP', 'clusterIPs'] },
  { needs: needsClusterIp, names: ['ipFamilies'] },
  { needs: needsClusterIp, names: ['ipFamilyPolicy'] },
  { needs: needsHealthCheck, names: ['healthCheckNodePort'] },
  { needs: (spec) => typeOf(spec) === 'LoadBalancer', names: ['allocateLoadBalancerNodePorts'] },
  { needs: (spec) => typeOf(spec) === 'LoadBalancer', names: ['loadBalancerClass'] },
  { needs: isReachedFromOutside, names: ['externalTrafficPolicy'] },
];

/** Drops what a new type has no use for, where the client left it as it was. */
export function dropFieldsOfOldType(spec: JsonObject, old: Spec): void {
  for (const { needs, names } of typeFields) {
    if (!needs(old) || needs(spec)) continue;
    if (!names.every((name) => sameJson(valueAt(spec, name), valueAt(old, name)))) continue;
    for (const name of names) Reflect.deleteProperty(spec, name);
  }
  if (!isOnNodes(old) || isOnNodes(spec)) return;
  const before = nodePortsOf(old);
  if (!nodePortsOf(spec).every((port) => before.includes(port))) return;
  for (const port of recordsAt(spec, 'ports')) delete port['nodePort'];
}
