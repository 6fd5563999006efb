// Services: an update keeps what was chosen for the service, and a changed type takes along what
// only the old one needs. Nothing is chosen here.
import { numberAt, recordAt, recordIn, recordsAt, textAt, textsAt } from '../../api/json-access.ts';
import { copyMember } from '../../api/json-value.ts';
import { sameJson } from '../../api/json-equal.ts';
import type { JsonObject } from '../../api/type-info.ts';
import type { ResourceStrategy } from '../strategy.ts';
import {
  dropFieldsOfOldType,
  needsClusterIp,
  needsHealthCheck,
  needsNodePorts,
  nodePortsOf,
  typeOf,
} from './service-types.ts';

export const serviceStrategy: ResourceStrategy = {
  answersDeletedObject: true,
  prepare(object, old, { subresource }) {
    const spec = recordAt(object, 'spec');
    if (spec === undefined || subresource !== '') return;
    const before = recordAt(old, 'spec');
    if (before === undefined) {
      listFirstAddress(spec);
      return;
    }
    keepChosen(spec, before);
    followFirstAddress(spec, before);
    releaseSecond(spec, before);
    dropFieldsOfOldType(spec, before);
    if (typeOf(spec) === 'LoadBalancer') return;
    const balancer = recordIn(object, 'status', 'loadBalancer');
    if (balancer !== undefined) delete balancer['ingress'];
  },
};

/** Clients that know the single address only mean it to be all of them. */
function listFirstAddress(spec: JsonObject): void {
  const single = textAt(spec, 'clusterIP');
  if (single !== '' && textsAt(spec, 'clusterIPs').length === 0) spec['clusterIPs'] = [single];
}

/** What the body leaves out of addresses and ports stays. */
function keepChosen(spec: JsonObject, old: JsonObject): void {
  if (needsClusterIp(old) && needsClusterIp(spec)) {
    if (textAt(spec, 'clusterIP') === '') copyMember(spec, old, 'clusterIP');
    if (textsAt(spec, 'clusterIPs').length === 0) copyMember(spec, old, 'clusterIPs');
  }
  if (needsNodePorts(old) && needsNodePorts(spec)) keepNodePorts(spec, old);
  const port = numberAt(spec, 'healthCheckNodePort') ?? 0;
  if (port !== 0 || !needsHealthCheck(old) || !needsHealthCheck(spec)) return;
  copyMember(spec, old, 'healthCheckNodePort');
}

function keepNodePorts(spec: JsonObject, old: JsonObject): void {
  const stated = new Set(nodePortsOf(spec));
  const chosen = new Map(
    recordsAt(old, 'ports').map((port) => [textAt(port, 'name'), numberAt(port, 'nodePort') ?? 0]),
  );
  for (const port of recordsAt(spec, 'ports')) {
    if ((numberAt(port, 'nodePort') ?? 0) !== 0) continue;
    const before = chosen.get(textAt(port, 'name')) ?? 0;
    if (before !== 0 && !stated.has(before)) port['nodePort'] = before;
  }
}

/** The list goes by the single address, unless the client states another one. */
function followFirstAddress(spec: JsonObject, old: JsonObject): void {
  const [single, before] = [textAt(spec, 'clusterIP'), textAt(old, 'clusterIP')];
  if (single === before) {
    if (textsAt(spec, 'clusterIPs').length === 0) copyMember(spec, old, 'clusterIPs');
    return;
  }
  if (!sameJson(spec['clusterIPs'], old['clusterIPs'])) return;
  if (single === '') delete spec['clusterIPs'];
  else spec['clusterIPs'] = [single];
}

/** A policy that allows one address releases the second, where the client left both. */
function releaseSecond(spec: JsonObject, old: JsonObject): void {
  if (textAt(spec, 'ipFamilyPolicy') !== 'SingleStack') return;
  for (const name of ['clusterIPs', 'ipFamilies']) {
    const [first, second] = textsAt(spec, name);
    if (first === undefined || second === undefined || !sameJson(spec[name], old[name])) continue;
    spec[name] = [first];
  }
}
