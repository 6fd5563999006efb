import { describe, expect, test } from '@jest/globals';
import { formatQuantity } from '../../api/quantity.ts';
import type { ResourceInfo } from '../../api/type-info.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { widgetResource } from '../../codec/testing/sample-types.ts';
import { naming, resourceOf, scheme } from '../testing/asked.ts';
import type { UsageParts } from './measure.ts';
import { measureOf, usageOf } from './usage.ts';

const nowMs = Date.parse('2026-01-01T00:01:00Z');

const partsOf = (
  objects: Readonly<Record<string, object>> = {},
  off: readonly string[] = [],
): UsageParts => ({
  naming,
  gates: { isEnabled: (gate) => !off.includes(gate) },
  nowMs: () => nowMs,
  find: (resource, { name }) => objects[`${resource}/${name}`] as ApiObject | undefined,
});

function used(
  resource: ResourceInfo,
  object: object,
  parts = partsOf(),
): Readonly<Record<string, string>> {
  const amounts = usageOf(resource, object as ApiObject, parts);
  return Object.fromEntries([...amounts].map(([name, amount]) => [name, formatQuantity(amount)]));
}

const pods = resourceOf('pods');
const container = (requests: object, limits: object = {}, more: object = {}): object => ({
  name: 'c',
  resources: { requests, limits },
  ...more,
});
const pod = (spec: object, status: object = {}, metadata: object = {}): object => ({
  metadata: { name: 'p', namespace: 'a', ...metadata },
  spec,
  status,
});

describe('what a pod takes', () => {
  test('q.pods: what its containers request and may use, by the names of quotas', () => {
    const requests = {
      cpu: '100m',
      memory: '1Gi',
      'ephemeral-storage': '1G',
      'hugepages-2Mi': '4Mi',
      'example.com/gpu': '2',
      'deviceclass.resource.svc.io/fast': '1',
      'svc.io/own': '5',
    };
    const limits = { cpu: '1', memory: '2Gi', 'ephemeral-storage': '2G', 'example.com/gpu': '2' };
    expect(used(pods, pod({ containers: [container(requests, limits)] }))).toEqual({
      pods: '1',
      'count/pods': '1',
      cpu: '100m',
      'requests.cpu': '100m',
      'limits.cpu': '1',
      memory: '1Gi',
      'requests.memory': '1Gi',
      'limits.memory': '2Gi',
      'ephemeral-storage': '1G',
      'requests.ephemeral-storage': '1G',
      'limits.ephemeral-storage': '2G',
      'hugepages-2Mi': '4Mi',
      'requests.hugepages-2Mi': '4Mi',
      'requests.example.com/gpu': '2',
      'requests.deviceclass.resource.svc.io/fast': '1',
    });
  });

  const cpu = (amount: string, more: object = {}): object => container({ cpu: amount }, {}, more);
  const stays = { restartPolicy: 'Always' };
  const status = (name: string, more: object): object => ({
    containerStatuses: [{ name, ...more }],
  });
  const infeasible = { conditions: [{ type: 'PodResizePending', reason: 'Infeasible' }] };

  test.each<[string, object, string, object]>([
    ['the sum of its containers', { containers: [cpu('1'), cpu('500m')] }, '1500m', {}],
    ['its largest init container', { containers: [cpu('1')], initContainers: [cpu('3')] }, '3', {}],
    [
      'all that stays',
      { containers: [cpu('1')], initContainers: [cpu('2', stays), cpu('500m', stays)] },
      '3500m',
      {},
    ],
    [
      'an init container with those that stay before it, not after it',
      {
        containers: [cpu('1')],
        initContainers: [cpu('1', stays), cpu('4'), cpu('1', stays)],
      },
      '5',
      {},
    ],
    ['its overhead too', { containers: [cpu('1')], overhead: { cpu: '250m' } }, '1250m', {}],
    [
      'what it states for all its containers',
      { containers: [cpu('1')], resources: { requests: { cpu: '2', 'example.com/gpu': '1' } } },
      '2',
      {},
    ],
    [
      'what is in force, if more is',
      { containers: [cpu('1')] },
      '3',
      status('c', { resources: { requests: { cpu: '3' } } }),
    ],
    [
      'what the node has reserved, if it is more',
      { containers: [cpu('1')] },
      '4',
      status('c', { resources: { requests: { cpu: '3' } }, allocatedResources: { cpu: '4' } }),
    ],
    [
      'what it wants, if less is in force',
      { containers: [cpu('5')] },
      '5',
      status('c', { resources: { requests: { cpu: '3' } } }),
    ],
    [
      'not what the node can never give',
      { containers: [cpu('5')] },
      '3',
      { ...status('c', { resources: { requests: { cpu: '3' } } }), ...infeasible },
    ],
    [
      'what it wants, where its status says nothing of resources',
      { containers: [cpu('5')] },
      '5',
      { ...status('c', { allocatedResources: { cpu: '9' } }), ...infeasible },
    ],
    [
      'what is in force for all its containers, if more is',
      { containers: [cpu('1')], resources: { requests: { cpu: '2' } } },
      '6',
      { resources: { requests: { cpu: '6' } } },
    ],
  ])('q.pods-amount: %s', (_claim, spec, expected, podStatus) => {
    expect(used(pods, pod(spec, podStatus))['requests.cpu']).toBe(expected);
  });

  test('q.pods-amount: overhead is added to limits that there are, and to no other', () => {
    const spec = {
      containers: [container({}, { cpu: '1' })],
      overhead: { cpu: '1', memory: '1Gi' },
    };
    const { 'limits.cpu': ofCpu, 'limits.memory': ofMemory } = used(pods, pod(spec));
    expect([ofCpu, ofMemory]).toEqual(['2', undefined]);
  });

  test('q.pods-amount: without its gate nothing is stated for all containers', () => {
    const spec = { containers: [cpu('1')], resources: { requests: { cpu: '2' } } };
    const parts = partsOf({}, ['PodLevelResources']);
    expect(used(pods, pod(spec), parts)['requests.cpu']).toBe('1');
  });

  const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };
  const spec = { containers: [cpu('1')] };

  test.each<[string, object, object, boolean]>([
    ['has succeeded', { phase: 'Succeeded' }, {}, true],
    ['has failed', { phase: 'Failed' }, {}, true],
    ['is longer in deletion than it was given', { phase: 'Running' }, deleted, true],
    ['is in deletion', {}, { ...deleted, deletionGracePeriodSeconds: 60 }, false],
    ['runs', { phase: 'Running' }, {}, false],
  ])('q.pods-terminal: one that %s', (_claim, podStatus, metadata, hasEnded) => {
    const names = Object.keys(used(pods, pod(spec, podStatus, metadata)));
    if (hasEnded) expect(names).toEqual(['count/pods']);
    else expect(names).toContain('requests.cpu');
  });
});

const service = (spec: object): object => ({ spec });
const ports = [{ port: 1, nodePort: 30_001 }, { port: 2 }];

test.each<[object, string, string]>([
  [{ type: 'ClusterIP', ports }, '0', '0'],
  [{ type: 'NodePort', ports }, '2', '0'],
  [{ type: 'LoadBalancer', ports }, '2', '1'],
  [{ type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: true }, '2', '1'],
  [{ type: 'LoadBalancer', ports, allocateLoadBalancerNodePorts: false }, '1', '1'],
  [{ type: 'ExternalName' }, '0', '0'],
])('q.services: %j takes ports of nodes and load balancers', (spec, nodePorts, balancers) => {
  expect(used(resourceOf('services'), service(spec))).toEqual({
    services: '1',
    'count/services': '1',
    'services.nodeports': nodePorts,
    'services.loadbalancers': balancers,
  });
});

describe('what a claim of storage takes', () => {
  const claim = (storage: string | undefined, more: object = {}, status: object = {}): object => ({
    spec: { resources: { requests: storage === undefined ? {} : { storage } }, ...more },
    status,
  });
  const gold = { storageClassName: 'gold' };
  const claims = resourceOf('persistentvolumeclaims');

  test('q.claims: itself and its bytes, for all and for its class', () => {
    expect(used(claims, claim('1Gi', gold))).toEqual({
      persistentvolumeclaims: '1',
      'count/persistentvolumeclaims': '1',
      'requests.storage': '1Gi',
      'gold.storageclass.storage.svc.io/persistentvolumeclaims': '1',
      'gold.storageclass.storage.svc.io/requests.storage': '1Gi',
    });
  });

  test('q.claims: the annotation of its class wins over the field', () => {
    const annotations = { 'volume.beta.svc.io/storage-class': 'silver' };
    const names = Object.keys(used(claims, { ...claim('1', gold), metadata: { annotations } }));
    expect(names).toContain('silver.storageclass.storage.svc.io/requests.storage');
    expect(names).not.toContain('gold.storageclass.storage.svc.io/requests.storage');
  });

  test.each<[string | undefined, string | undefined, string | undefined]>([
    ['1500m', undefined, '2'],
    ['1', '2Gi', '2Gi'],
    ['3Gi', '2Gi', '3Gi'],
    ['1', '100m', '1'],
    [undefined, '2Gi', undefined],
  ])('q.claims: asked %s, set aside %s: takes %s', (asked, allocated, expected) => {
    const status = { allocatedResources: allocated === undefined ? {} : { storage: allocated } };
    expect(used(claims, claim(asked, {}, status))['requests.storage']).toBe(expected);
  });
});

describe('what a claim of devices takes', () => {
  const claims = resourceOf('resourceclaims', 'resource.{v}');
  const exactly = (deviceClassName: string, count: number, mode = 'ExactCount'): object => ({
    name: `${deviceClassName}${String(count)}`,
    exactly: { deviceClassName, allocationMode: mode, ...(mode === 'All' ? {} : { count }) },
  });
  const any = (...choices: object[]): object => ({
    firstAvailable: choices.map((one) => (one as { readonly exactly: object }).exactly),
  });
  const claim = (requests: readonly object[], metadata: object = {}): object => ({
    metadata: { name: 'c', namespace: 'a', ...metadata },
    spec: { devices: { requests } },
  });
  const off = partsOf({}, ['DRAExtendedResource']);

  test.each<[string, readonly object[], Readonly<Record<string, string>>]>([
    [
      'exact counts add up',
      [exactly('a', 2), exactly('a', 3), exactly('b', 1)],
      { a: '5', b: '1' },
    ],
    ['all are 32', [exactly('a', 0, 'All')], { a: '32' }],
    [
      'of alternatives the largest of each class counts',
      [any(exactly('a', 2), exactly('a', 1), exactly('b', 4)), exactly('b', 1)],
      { a: '2', b: '5' },
    ],
    ['a mode of a newer release is nothing', [exactly('a', 2, 'Other')], { a: '0' }],
    ['a request that nobody knows is nothing', [{ name: 'x' }], {}],
  ])('q.resourceclaims: %s', (_claim, requests, expected) => {
    const entries = Object.entries(expected).map(
      ([name, count]) => [`${name}.deviceclass.resource.svc.io/devices`, count] as const,
    );
    expect(used(claims, claim(requests), off)).toEqual({
      'count/resourceclaims.resource.svc.io': '1',
      ...Object.fromEntries(entries),
    });
  });

  const gpu = { spec: { extendedResourceName: 'example.com/gpu' } };
  const ofPod = {
    annotations: { 'resource.svc.io/extended-resource-claim': 'true' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u', controller: true }],
  };
  const owner = (requests: object, status: object = {}): object =>
    pod({ containers: [container(requests)] }, status, { uid: 'u' });
  const bySpecial = 'requests.deviceclass.resource.svc.io/gpu';
  const byName = 'requests.example.com/gpu';

  test.each<[string, object, object | undefined, object]>([
    [
      'devices count by the names that containers use',
      {},
      undefined,
      { [bySpecial]: '2', [byName]: '2' },
    ],
    ['less what the pod pays', ofPod, owner({ 'example.com/gpu': '2' }), { [bySpecial]: '2' }],
    [
      'less a part that the pod pays',
      ofPod,
      owner({ 'example.com/gpu': '1', 'deviceclass.resource.svc.io/gpu': '1' }),
      { [bySpecial]: '1', [byName]: '1' },
    ],
    [
      'the claim of another pod pays itself',
      ofPod,
      owner(
        { 'example.com/gpu': '2' },
        { extendedResourceClaimStatus: { resourceClaimName: 'd' } },
      ),
      { [bySpecial]: '2', [byName]: '2' },
    ],
    ['without its pod', ofPod, undefined, { [bySpecial]: '2', [byName]: '2' }],
  ])('q.resourceclaims: %s', (_claim, metadata, ofOwner, expected) => {
    const known = { 'deviceclasses/gpu': gpu, ...(ofOwner && { 'pods/p': ofOwner }) };
    const found = used(claims, claim([exactly('gpu', 2)], metadata), partsOf(known));
    expect(found).toEqual({
      'count/resourceclaims.resource.svc.io': '1',
      'gpu.deviceclass.resource.svc.io/devices': '2',
      ...expected,
    });
  });
});

describe('q.counts', () => {
  test.each<[string, string, readonly string[]]>([
    ['configmaps', '', ['count/configmaps', 'configmaps']],
    ['secrets', '', ['count/secrets', 'secrets']],
    ['replicationcontrollers', '', ['count/replicationcontrollers', 'replicationcontrollers']],
    ['resourcequotas', '', ['count/resourcequotas', 'resourcequotas']],
    ['serviceaccounts', '', ['count/serviceaccounts']],
    ['deployments', 'apps', ['count/deployments.apps']],
    ['leases', 'coordination.{v}', ['count/leases.coordination.svc.io']],
  ])('q.counts: %s of "%s"', (resource, group, names) => {
    expect(Object.keys(used(resourceOf(resource, group), {}))).toEqual(names);
  });

  test('q.counts: custom kinds too', () => {
    expect(used(widgetResource, {})).toEqual({
      [`count/${widgetResource.resource}.${widgetResource.group}`]: '1',
    });
  });

  test('q.counts: not events, reviews, bindings, and what is of the cluster', () => {
    const ignored = scheme.resources
      .filter((resource) => measureOf(resource, naming) === undefined)
      .filter(({ namespaced }) => namespaced)
      .map(({ group, resource }) => `${resource}.${group}`);
    expect([...new Set(ignored)].sort()).toEqual([
      'bindings.',
      'events.',
      'events.events.svc.io',
      'localsubjectaccessreviews.authorization.svc.io',
    ]);
    expect(measureOf(resourceOf('nodes'), naming)).toBeUndefined();
  });
});
