import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { warningsOf } from './testing/warnings-of.ts';

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
    'endpoints',
    { subsets: [{ notReadyAddresses: [{ ip: '10.0.0.1' }, { ip: 'FD00::1' }] }] },
    [
      'subsets[0].notReadyAddresses[1].ip: IPv6 address "FD00::1" should be in RFC 5952 ' +
        'canonical format ("fd00::1")',
    ],
  ],
  [
    'endpoints',
    {
      metadata: { labels: { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' } },
      subsets: [{ addresses: [{ ip: 'FD00::1' }] }],
    },
    [],
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

const inPod = (spec: JsonObject, annotations: JsonObject = {}): JsonObject => ({
  metadata: { annotations },
  spec,
});
const inContainer = (container: JsonObject): JsonObject =>
  inPod({ containers: [{ name: 'c', ...container }] });
const required = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution';
const nothing = 'a null labelSelector results in matching no pod';

const ofPod = /(^| with )((?:spec|metadata)\.)/g;

describe('of pods', () => {
  test.each<[string, JsonObject, readonly string[]]>([
    [
      'labels that are replaced',
      inPod({
        nodeSelector: { 'beta.kubernetes.io/os': 'linux' },
        affinity: {
          nodeAffinity: {
            [required]: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: 'beta.kubernetes.io/arch' }] }],
            },
            [preferred]: [
              {
                preference: {
                  matchExpressions: [{ key: 'failure-domain.beta.kubernetes.io/zone' }],
                },
              },
            ],
          },
        },
        topologySpreadConstraints: [
          { topologyKey: 'failure-domain.beta.kubernetes.io/region', labelSelector: {} },
        ],
      }),
      [
        'spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use ' +
          '"kubernetes.io/os" instead',
        `spec.affinity.nodeAffinity.${required}.nodeSelectorTerms[0].matchExpressions[0].key: ` +
          'beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead',
        `spec.affinity.nodeAffinity.${preferred}[0].preference.matchExpressions[0].key: ` +
          'failure-domain.beta.kubernetes.io/zone is deprecated since v1.17; use ' +
          '"topology.kubernetes.io/zone" instead',
        'spec.topologySpreadConstraints[0].topologyKey: ' +
          'failure-domain.beta.kubernetes.io/region is deprecated since v1.17; use ' +
          '"topology.kubernetes.io/region" instead',
      ],
    ],
    [
      'selectors that select nothing',
      inPod({
        topologySpreadConstraints: [{ topologyKey: 'a' }],
        affinity: {
          podAffinity: { [required]: [{ topologyKey: 'a' }] },
          podAntiAffinity: { [preferred]: [{ podAffinityTerm: { topologyKey: 'a' } }] },
        },
      }),
      [
        `spec.topologySpreadConstraints[0].labelSelector: ${nothing}`,
        `spec.affinity.podAffinity.${required}[0].labelSelector: ${nothing}`,
        `spec.affinity.podAntiAffinity.${preferred}[0].podAffinityTerm.labelSelector: ${nothing}`,
      ],
    ],
    [
      'annotations that mean nothing',
      inPod(
        { containers: [{ name: 'c' }] },
        {
          'scheduler.alpha.kubernetes.io/critical-pod': '',
          'security.alpha.kubernetes.io/sysctls': '',
          'security.alpha.kubernetes.io/unsafe-sysctls': '',
          'seccomp.security.alpha.kubernetes.io/pod': 'unconfined',
          'container.seccomp.security.alpha.kubernetes.io/c': 'unconfined',
          'container.seccomp.security.alpha.kubernetes.io/d': 'unconfined',
        },
      ),
      [
        'metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in ' +
          'v1.16+; use the "priorityClassName" field instead',
        'metadata.annotations[security.alpha.kubernetes.io/sysctls]: non-functional in v1.11+; ' +
          'use the "sysctls" field instead',
        'metadata.annotations[security.alpha.kubernetes.io/unsafe-sysctls]: non-functional in ' +
          'v1.11+; use the "sysctls" field instead',
        'metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in ' +
          'v1.27+; use the "seccompProfile" field instead',
        'metadata.annotations[container.seccomp.security.alpha.kubernetes.io/c]: non-functional ' +
          'in v1.27+; use the "seccompProfile" field instead',
      ],
    ],
    [
      'lists',
      inPod({
        hostAliases: [{ ip: '1.1.1.1' }, { ip: '1.1.1.1' }, { ip: 'FE80::1' }],
        imagePullSecrets: [{ name: 'a' }, { name: 'a' }, {}],
        dnsConfig: { nameservers: ['010.0.0.1'] },
      }),
      [
        'spec.hostAliases[1].ip: duplicate ip "1.1.1.1"',
        'spec.imagePullSecrets[1].name: duplicate name "a"',
        'spec.imagePullSecrets[2].name: invalid empty name ""',
        'spec.dnsConfig.nameservers[0]: non-standard IP address "010.0.0.1" will be considered ' +
          'invalid in a future Kubernetes release: use "10.0.0.1"',
        'spec.hostAliases[2].ip: IPv6 address "FE80::1" should be in RFC 5952 canonical format ' +
          '("fe80::1")',
      ],
    ],
    [
      'parts of bytes',
      inPod({
        overhead: { memory: '0.0001', cpu: '0.1' },
        containers: [
          {
            name: 'c',
            resources: { limits: { memory: '1.5' }, requests: { 'ephemeral-storage': '1m' } },
          },
        ],
      }),
      [
        'spec.overhead[memory]: fractional byte value "100u" is invalid, must be an integer',
        'spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, ' +
          'must be an integer',
        'spec.containers[0].resources.requests[ephemeral-storage]: fractional byte value "1m" is ' +
          'invalid, must be an integer',
      ],
    ],
    [
      'variables that hide others',
      inContainer({
        env: [
          { name: 'A', value: 'a' },
          { name: 'A', value: '$(A)b' },
          { name: 'A', value: 'b' },
          { name: 'A', valueFrom: {} },
          { name: 'A', value: '$(A)' },
        ],
      }),
      [2, 3, 4].map(
        (at) =>
          `spec.containers[0].env[${String(at)}]: hides previous definition of "A", which may be ` +
          'dropped when using apply',
      ),
    ],
    [
      'ports',
      inContainer({
        ports: [
          { containerPort: 1, protocol: 'TCP', hostIP: '1.1.1.1' },
          { containerPort: 1, protocol: 'UDP' },
          { containerPort: 1, protocol: 'UDP' },
          { containerPort: 2, protocol: 'TCP', hostPort: 3 },
          { containerPort: 2, protocol: 'TCP', hostPort: 3, hostIP: '1.1.1.1' },
          { containerPort: 2, protocol: 'TCP', hostPort: 3, hostIP: '1.1.1.2' },
          { containerPort: 2, protocol: 'TCP' },
          { containerPort: 2, protocol: 'TCP', hostPort: 4 },
        ],
      }),
      [
        '0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:1 Protocol:TCP ' +
          'HostIP:1.1.1.1}',
        '2]: duplicate port definition with spec.containers[0].ports[1]',
        '4]: dangerously ambiguous port definition with spec.containers[0].ports[3]',
        '5]: dangerously ambiguous port definition with spec.containers[0].ports[3]',
        '6]: overlapping port definition with spec.containers[0].ports[3]',
        '6]: overlapping port definition with spec.containers[0].ports[4]',
        '6]: overlapping port definition with spec.containers[0].ports[5]',
        '7]: overlapping port definition with spec.containers[0].ports[6]',
      ].map((text) => `spec.containers[0].ports[${text}`),
    ],
    ['a fine one', inPod({ nodeSelector: { a: 'b' }, affinity: {} }), []],
  ])('%s', (_what, pod, expected) => {
    expect(warningsOf('pods', pod)).toEqual(expected);
    const inTemplate = expected.map((text) => text.replaceAll(ofPod, '$1template.$2'));
    expect(warningsOf('podtemplates', { template: pod })).toEqual(inTemplate);
  });

  test("ports in each other's way do not hold others up", () => {
    const ports = Array.from({ length: 50_000 }, () => ({ containerPort: 1 }));
    expect(warningsOf('pods', inContainer({ ports }))).toHaveLength(1000);
  });

  test('templates alone are warned of what pods are given by those that complete them', () => {
    const key = 'container.apparmor.security.beta.kubernetes.io/c';
    const spec = { terminationGracePeriodSeconds: 0, containers: [{ name: 'c' }] };
    const pod = inPod(spec, { [key]: 'unconfined' });
    expect(warningsOf('pods', pod)).toEqual([]);
    const template = { ...pod, spec: { ...spec, terminationGracePeriodSeconds: -1 } };
    expect(warningsOf('podtemplates', { template })).toEqual([
      `template.metadata.annotations[${key}]: deprecated since v1.30; use the "appArmorProfile" ` +
        'field instead',
      'template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid ' +
        'and will be treated as 1',
    ]);
    const appArmorProfile = { type: 'Unconfined' };
    const armed = { ...pod, spec: { ...spec, securityContext: { appArmorProfile } } };
    expect(warningsOf('podtemplates', { template: armed })).toEqual([]);
  });

  test.each([
    ['pods', "this is used in the Pod's hostname"],
    ['replicationcontrollers', 'this is used in Pod names and hostnames'],
    ['deployments', 'this is used in Pod names and hostnames'],
    ['replicasets', 'this is used in Pod names and hostnames'],
    ['jobs', 'this is used in Pod names and hostnames'],
    ['cronjobs', 'this is used in Pod names and hostnames'],
  ])('names of %s that no host may have', (resource, use) => {
    const named = { metadata: { name: 'a.b' } };
    expect(warningsOf(resource, named)).toEqual([
      `metadata.name: ${use}, which can result in surprising behavior; a DNS label is ` +
        'recommended: [must not contain dots]',
    ]);
    expect(warningsOf(resource, named, named)).toEqual([]);
  });

  test.each(['daemonsets', 'statefulsets', 'podtemplates'])('names of %s are free', (resource) => {
    expect(warningsOf(resource, { metadata: { name: 'a.b' } })).toEqual([]);
  });
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
