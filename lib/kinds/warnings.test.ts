import { expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { kindStrategies } from './built-in-kinds.ts';
import type { WriteContext } from './strategy.ts';
import { profile, scheme } from './testing/shown-cells.ts';

const context: WriteContext = {
  user: { name: 'tester', uid: '', groups: [], extra: {} },
  dryRun: false,
  fieldManager: '',
  subresource: '',
  warnings: [],
  nowMs: 0,
  apiVersion: 'v1',
};
const strategyOf = kindStrategies({ naming: profile, eventTtlSeconds: 1 });

function warningsOf(resource: string, object: JsonObject, old?: JsonObject): readonly string[] {
  const info = scheme.resources.find((one) => one.resource === resource);
  if (info === undefined) throw new Error(`${resource} is not known`);
  return strategyOf(info).warnings?.(object, old, context) ?? [];
}

const volumes = (source: JsonObject): JsonObject => ({ volumes: [{ name: 'v', ...source }] });
const scaleIO = { spec: volumes({ scaleIO: {} }) };
const since = 'spec.volumes[0].scaleIO: deprecated in v1.16, non-functional in v1.22+';

test.each<[string, JsonObject, readonly string[]]>([
  ['pods', scaleIO, [since]],
  ['podtemplates', { template: scaleIO }, [`template.${since}`]],
  ['replicationcontrollers', { spec: { template: scaleIO } }, [`spec.template.${since}`]],
  ['deployments', { spec: { template: scaleIO } }, [`spec.template.${since}`]],
  [
    'cronjobs',
    { spec: { jobTemplate: { spec: { template: scaleIO } } } },
    [`spec.jobTemplate.spec.template.${since}`],
  ],
  [
    'pods',
    { spec: volumes({ gitRepo: {} }) },
    ['spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+'],
  ],
  ['pods', { spec: volumes({ emptyDir: {} }) }, []],
  ...['deployments', 'replicasets', 'replicationcontrollers', 'jobs', 'cronjobs'].map(
    (resource): [string, JsonObject, readonly string[]] => [
      resource,
      { metadata: { name: 'a.b' } },
      [
        'metadata.name: this is used in Pod names and hostnames, which can result in surprising ' +
          'behavior; a DNS label is recommended: [must not contain dots]',
      ],
    ],
  ),
  ['daemonsets', { metadata: { name: 'a.b' } }, []],
  [
    'statefulsets',
    { spec: { revisionHistoryLimit: -1 } },
    [
      'spec.revisionHistoryLimit: a negative value retains all historical revisions; ' +
        'a value >= 0 is recommended',
    ],
  ],
  [
    'statefulsets',
    {
      spec: {
        volumeClaimTemplates: [
          { spec: { resources: { requests: { storage: '1500m' }, limits: { storage: '2' } } } },
        ],
      },
    },
    [
      'spec.volumeClaimTemplates[0].resources.requests[storage]: ' +
        'fractional byte value "1500m" is invalid, must be an integer',
    ],
  ],
  [
    'jobs',
    { spec: { completionMode: 'Indexed', completions: 100_001, parallelism: 10_001 } },
    [expect.stringMatching(/^spec: In Indexed Jobs/) as unknown as string],
  ],
  [
    'services',
    {
      metadata: { annotations: { 'service.kubernetes.io/topology-aware-hints': 'auto' } },
      spec: {
        type: 'ClusterIP',
        externalIPs: ['2001:DB8::1'],
        externalName: 'a',
        trafficDistribution: 'PreferClose',
        loadBalancerIP: '010.0.0.1',
      },
    },
    [
      'annotation service.kubernetes.io/topology-aware-hints is deprecated, please use ' +
        'service.kubernetes.io/topology-mode instead',
      'spec.externalIPs is deprecated and may no longer be implemented in some clusters',
      'spec.externalName is ignored when spec.type is not "ExternalName"',
      'spec.externalIPs[0]: IPv6 address "2001:DB8::1" should be in RFC 5952 canonical format ' +
        '("2001:db8::1")',
      'spec.loadBalancerIP: non-standard IP address "010.0.0.1" will be considered invalid in a ' +
        'future Kubernetes release: use "10.0.0.1"',
      'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ],
  ],
  [
    'services',
    {
      spec: {
        type: 'ClusterIP',
        clusterIP: 'None',
        clusterIPs: ['None'],
        externalIPs: ['1.1.1.1'],
        loadBalancerIP: '1.1.1.1',
        sessionAffinity: 'ClientIP',
      },
    },
    [
      'spec.loadBalancerIP is ignored for headless services',
      'spec.externalIPs is ignored for headless services',
      'spec.SessionAffinity is ignored for headless services',
    ],
  ],
  [
    'services',
    { spec: { type: 'ExternalName', externalName: 'a', externalIPs: ['1.1.1.1'] } },
    ['spec.externalIPs is ignored when spec.type is "ExternalName"'],
  ],
  [
    'endpointslices',
    { addressType: 'FQDN', endpoints: [{ addresses: ['a.b'] }] },
    ['spec.addressType: FQDN endpoints are deprecated'],
  ],
  [
    'endpointslices',
    {
      metadata: {
        labels: { 'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io' },
      },
      endpoints: [{ addresses: ['FE80::1'] }],
    },
    [],
  ],
  [
    'nodes',
    { spec: { externalID: 'x', podCIDRs: ['10.0.0.0/24', '2001:DB8::/64'] } },
    [
      'spec.externalID: this field is deprecated, and is unused by Kubernetes',
      'spec.podCIDRs[1]: IPv6 CIDR value "2001:DB8::/64" should be in RFC 5952 canonical format ' +
        '("2001:db8::/64")',
    ],
  ],
])('a new one of %s with %j', (resource, object, expected) => {
  expect(warningsOf(resource, object)).toEqual(expected);
});

const deployment = (generation: number): JsonObject => ({
  metadata: { generation },
  spec: { template: scaleIO },
});

test('an endpoint slice is warned of its addresses whenever it is written', () => {
  const slice = { addressType: 'FQDN', endpoints: [{ addresses: ['10.0.0.1', 'FE80::A'] }] };
  expect(warningsOf('endpointslices', slice, slice)).toEqual([
    'endpoints[0].addresses[1]: IPv6 address "FE80::A" should be in RFC 5952 canonical format ' +
      '("fe80::a")',
  ]);
});

test('an update is warned of when it makes a generation of a template', () => {
  expect(warningsOf('deployments', deployment(2), deployment(1))).toHaveLength(1);
  expect(warningsOf('deployments', deployment(2), deployment(2))).toEqual([]);
  expect(warningsOf('pods', scaleIO, scaleIO)).toEqual([]);
});
