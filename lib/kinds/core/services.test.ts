import { describe, expect, test } from '@jest/globals';
import { cloneJson } from '../../api/json-value.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { serviceStrategy } from './services.ts';
import { warningsOf } from '../testing/warnings-of.ts';
import { writeContext } from '../testing/write-context.ts';

const context = writeContext();

const isOn = (): boolean => true;

function prepared(spec: JsonObject, old?: JsonObject): JsonObject {
  const object = { spec: cloneJson(spec) };
  const stored = old === undefined ? undefined : { spec: old };
  serviceStrategy.prepare?.(object, stored, context, isOn);
  return object.spec;
}

const type = 'ClusterIP';
const single = { type, clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] };
const dual = { type, clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1', 'fd00::1'] };
const balanced = {
  type: 'LoadBalancer',
  externalTrafficPolicy: 'Local',
  healthCheckNodePort: 30_001,
  loadBalancerClass: 'a',
  allocateLoadBalancerNodePorts: true,
  ports: [
    { name: 'a', nodePort: 30_002 },
    { name: 'b', nodePort: 30_003 },
  ],
};

test('a single address of a new service is all of them', () => {
  expect(prepared({ type, clusterIP: 'None' })).toEqual({
    type,
    clusterIP: 'None',
    clusterIPs: ['None'],
  });
  expect(prepared({ type, clusterIPs: ['10.0.0.1'] })).toEqual({ type, clusterIPs: ['10.0.0.1'] });
});

describe('an update', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['that leaves addresses out keeps them', { type }, dual, dual],
    ['that leaves the list out keeps it', { type, clusterIP: '10.0.0.1' }, dual, dual],
    [
      'of the single address changes the list',
      { ...single, clusterIP: '10.0.0.2' },
      single,
      { type, clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] },
    ],
    [
      'of both says what it means',
      { type, clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2', 'fd00::2'] },
      single,
      { type, clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2', 'fd00::2'] },
    ],
    [
      'to a single stack releases the second address',
      { ...dual, ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4', 'IPv6'] },
      { ...dual, ipFamilyPolicy: 'PreferDualStack', ipFamilies: ['IPv4', 'IPv6'] },
      { ...single, ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] },
    ],
    [
      'to a name elsewhere needs no address',
      { ...single, type: 'ExternalName', ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
      { ...single, ipFamilies: ['IPv4'], ipFamilyPolicy: 'SingleStack' },
      { type: 'ExternalName' },
    ],
    [
      'to a name elsewhere needs no list of addresses either',
      { type: 'ExternalName', clusterIP: '10.0.0.1' },
      single,
      { type: 'ExternalName' },
    ],
    [
      'to a name elsewhere keeps an address that it changes',
      { ...single, type: 'ExternalName', clusterIP: '10.0.0.2' },
      single,
      { type: 'ExternalName', clusterIP: '10.0.0.2', clusterIPs: ['10.0.0.2'] },
    ],
    [
      'keeps the ports on nodes by their names',
      {
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Local',
        ports: [{ name: 'c' }, { name: 'b' }, { name: 'a', nodePort: 30_003 }],
      },
      balanced,
      {
        type: 'LoadBalancer',
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 30_001,
        ports: [{ name: 'c' }, { name: 'b' }, { name: 'a', nodePort: 30_003 }],
      },
    ],
    [
      'to a type within the cluster drops what only balancers have',
      { ...balanced, type },
      balanced,
      { type, ports: [{ name: 'a' }, { name: 'b' }] },
    ],
    [
      'to a type within the cluster keeps what it changes',
      { ...balanced, type, loadBalancerClass: 'b', ports: [{ nodePort: 1 }] },
      balanced,
      { type, loadBalancerClass: 'b', ports: [{ nodePort: 1 }] },
    ],
  ])('%s', (_claim, spec, old, expected) => {
    expect(prepared(spec, old)).toEqual(expected);
  });

  test('of the status changes nothing else', () => {
    const object = { spec: { type } };
    serviceStrategy.prepare?.(
      object,
      { spec: single },
      { ...context, subresource: 'status' },
      isOn,
    );
    expect(object).toEqual({ spec: { type } });
  });

  test('to another type than a balancer ends the balancer', () => {
    const status = { loadBalancer: { ingress: [{ ip: '1.1.1.1' }] } };
    const object = { spec: { type }, status: cloneJson(status) };
    serviceStrategy.prepare?.(object, { spec: balanced, status }, context, isOn);
    expect(object.status).toEqual({ loadBalancer: {} });
  });
});

test('the status of a service is warned of its addresses', () => {
  const status = { loadBalancer: { ingress: [{ hostname: 'a' }, { ip: 'FE80::A' }] } };
  expect(warningsOf('services', { status }, {}, 'status')).toEqual([
    'status.loadBalancer.ingress[1]: IPv6 address "FE80::A" should be in RFC 5952 canonical ' +
      'format ("fe80::a")',
  ]);
});
