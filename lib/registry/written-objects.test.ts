import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { ResourceStore } from './resource-store.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';

import type { Replica } from './testing/registry-on-etcd.ts';
import { bytesOf, fresh, scope, sent, VerbDriver } from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
const group = (name: string): string => replica.naming.resolve(name);
const store = (name: string, version?: string): ResourceStore =>
  replica.store(group(name), version);

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
});

afterAll(async () => {
  await registry.stop();
});

type Members = Record<string, unknown>;
const at = (object: unknown, path: string): unknown =>
  path.split('/').reduce<unknown>((value, name) => (value as Members | undefined)?.[name], object);
const podSpec = (more: object = {}): object => ({
  containers: [{ name: 'c', image: 'registry.example/app:1' }],
  ...more,
});
const make = (name: string, body: object, metadata: object = {}): Promise<Sent> =>
  verbs.create(store(name), { metadata: { name: fresh(), ...metadata }, ...body });
const update = async (
  resources: ResourceStore,
  name: string,
  body: object,
  more: { readonly subresource?: string } = {},
): Promise<Sent> => sent((await verbs.update(resources, name, body, more)).item);
const change = (name: string, old: Sent, more: object): Promise<Sent> =>
  update(store(name), old.metadata.name, { ...old, ...more });
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

describe('pods', () => {
  const resources = (requests: object, limits: object): object => ({ requests, limits });
  const both = { cpu: '1', memory: '1Gi' };
  test.each([
    ['BestEffort', {}],
    ['Burstable', { resources: resources({ cpu: '1' }, {}) }],
    ['Burstable', { resources: resources({ cpu: '1', memory: '1Gi' }, { cpu: '1' }) }],
    ['Guaranteed', { resources: resources({}, both) }],
    ['Guaranteed', { resources: resources({ cpu: '1000m', memory: '1024Mi' }, both) }],
  ])('begin pending, quality of service %s', async (qosClass, container) => {
    const containers = [{ name: 'c', image: 'app:1', ...container }];
    const pod = await make('pods', { spec: { containers }, status: { phase: 'Running' } });
    expect(pod['status']).toEqual({ phase: 'Pending', qosClass });
  });

  test('with scheduling gates say that they wait', async () => {
    const pod = await make('pods', { spec: podSpec({ schedulingGates: [{ name: 'a.b/c' }] }) });
    expect(at(pod, 'status/conditions/0')).toMatchObject({
      type: 'PodScheduled',
      status: 'False',
      reason: 'SchedulingGated',
    });
  });

  test('match the values of their own labels in affinity and spread', async () => {
    const term = {
      topologyKey: 'zone',
      labelSelector: { matchLabels: { app: 'x' } },
      matchLabelKeys: ['hash', 'absent'],
      mismatchLabelKeys: ['tenant'],
    };
    const required = { requiredDuringSchedulingIgnoredDuringExecution: [term] };
    const weighted = [{ weight: 1, podAffinityTerm: term }];
    const spec = podSpec({
      affinity: {
        podAffinity: required,
        podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: weighted },
      },
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'zone',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: {},
          matchLabelKeys: ['hash'],
        },
      ],
    });
    const pod = await make('pods', { spec }, { labels: { hash: 'h', tenant: 't' } });
    const own = { key: 'hash', operator: 'In', values: ['h'] };
    const others = { key: 'tenant', operator: 'NotIn', values: ['t'] };
    const rule = 'DuringSchedulingIgnoredDuringExecution/0';
    const affinity = at(pod, 'spec/affinity');
    const chosen = 'labelSelector/matchExpressions';
    expect(at(affinity, `podAffinity/required${rule}/${chosen}`)).toEqual([own, others]);
    expect(at(affinity, `podAntiAffinity/preferred${rule}/podAffinityTerm/${chosen}`)).toEqual([
      own,
      others,
    ]);
    expect(at(pod, `spec/topologySpreadConstraints/0/${chosen}`)).toEqual([own]);
  });

  test('keep their status through a write of the pod', async () => {
    const pod = await make('pods', { spec: podSpec() });
    const next = await change('pods', pod, { status: { phase: 'Running' } });
    expect(at(next, 'status/phase')).toBe('Pending');
  });
});

test(
  'a namespace without labels is labelled ' + 'with its name, also under a generated one',
  async () => {
    const label = replica.naming.namespaceNameLabel;
    const made = await verbs.create(store('namespaces'), { metadata: { generateName: 'gen-' } });
    expect(at(made, 'metadata/labels')).toEqual({ [label]: made.metadata.name });
    expect(made['status']).toEqual({ phase: 'Active' });
  },
);

test('a node keeps the status it registers with; remote configuration is dropped', async () => {
  const spec = {
    configSource: { configMap: { name: 'a', namespace: 'b', kubeletConfigKey: 'c' } },
  };
  const status = { capacity: { cpu: '4' } };
  const node = await make('nodes', { spec, status });
  expect(node['spec']).toEqual({});
  expect(at(node, 'status/allocatable')).toEqual({ cpu: '4' });
  expect(at(await change('nodes', node, { spec }), 'spec')).toEqual({});
});

describe('volumes', () => {
  const spec = {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    hostPath: { path: '/x' },
  };
  test('begin pending; each change of the phase has its time', async () => {
    const volume = await make('persistentvolumes', { spec, status: { phase: 'Bound' } });
    expect(volume['status']).toEqual({
      phase: 'Pending',
      lastPhaseTransitionTime: expect.stringMatching(time),
    });
    const old = '2020-01-01T00:00:00Z';
    const asOld = { ...volume, status: { phase: 'Pending', lastPhaseTransitionTime: old } };
    const name = volume.metadata.name;
    const same = await update(store('persistentvolumes'), name, asOld, {
      subresource: 'status',
    });
    expect(at(same, 'status/lastPhaseTransitionTime')).toBe(old);
    const bound = { ...same, status: { ...(same['status'] as object), phase: 'Bound' } };
    const next = await update(store('persistentvolumes'), name, bound, {
      subresource: 'status',
    });
    expect(at(next, 'status/phase')).toBe('Bound');
    expect(at(next, 'status/lastPhaseTransitionTime')).not.toBe(old);
  });

  test('a claim begins pending and names its source in both fields', async () => {
    const source = { kind: 'PersistentVolumeClaim', name: 'other' };
    const claimSpec = {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1' } },
    };
    const claims = 'persistentvolumeclaims';
    const byOld = await make(claims, { spec: { ...claimSpec, dataSource: source } });
    const byNew = await make(claims, { spec: { ...claimSpec, dataSourceRef: source } });
    for (const claim of [byOld, byNew]) {
      expect(claim['spec']).toMatchObject({ dataSource: source, dataSourceRef: source });
      expect(claim['status']).toEqual({ phase: 'Pending' });
    }
  });
});

test('a limit range without a name gets a unique one', async () => {
  const limits = [{ type: 'Container', max: { cpu: '2' } }];
  const made = await verbs.create(store('limitranges'), { spec: { limits } });
  expect(made.metadata.name).toMatch(/^[0-9a-f-]{36}$/);
});

test('the template of a daemon set is counted', async () => {
  const annotation = 'deprecated.daemonset.template.generation';
  const spec = (image: string): object => ({
    selector: { matchLabels: { a: 'b' } },
    template: {
      metadata: { labels: { a: 'b' } },
      spec: { containers: [{ name: 'c', image }] },
    },
  });
  const made = await make('apps/daemonsets', { spec: spec('a:1') });
  const countOf = (one: Sent): unknown => at(one, `metadata/annotations/${annotation}`);
  expect(countOf(made)).toBe('1');
  const same = await change('apps/daemonsets', made, {
    metadata: { ...made.metadata, annotations: {} },
  });
  expect(countOf(same)).toBe('1');
  expect(countOf(await change('apps/daemonsets', same, { spec: spec('a:2') }))).toBe('2');
});

describe('jobs', () => {
  const template = { spec: podSpec({ restartPolicy: 'Never' }) };
  test('select their pods by their own uid', async () => {
    const job = await make('batch/jobs', { spec: { template } });
    const [prefix, { name, uid }] = [group('batch.{kubernetes}.io'), job.metadata];
    const labels = {
      [`${prefix}/controller-uid`]: uid,
      [`${prefix}/job-name`]: name,
      'controller-uid': uid,
      'job-name': name,
    };
    const chosen = { [`${prefix}/controller-uid`]: uid };
    expect(at(job, 'spec/selector')).toEqual({ matchLabels: chosen });
    expect(at(job, 'spec/template/metadata/labels')).toEqual(labels);
    expect(job.metadata['labels']).toEqual(labels);
    const next = await change('batch/jobs', job, { metadata: { ...job.metadata, labels: {} } });
    expect(at(next, 'spec/selector')).toEqual({ matchLabels: chosen });
  });

  test('leave that to the user who asks for it', async () => {
    const selector = { matchLabels: { a: 'b' } };
    const labelled = { ...template, metadata: { labels: { a: 'b' } } };
    const spec = { manualSelector: true, selector, template: labelled };
    const job = await make('batch/jobs', { spec });
    expect(job['spec']).toMatchObject({ selector, template: { metadata: { labels: { a: 'b' } } } });
  });
});

test('a service account keeps nothing of its secrets but their names', async () => {
  const secrets = [{ kind: 'Secret', name: 's', namespace: 'far' }];
  const made = await make('serviceaccounts', { secrets });
  expect(made['secrets']).toEqual([{ name: 's' }]);
});

test('a secret without a type is Opaque, in an update, too', async () => {
  expect(await make('secrets', {})).toMatchObject({ type: 'Opaque' });
  const typed = await make('secrets', { type: 'example.com/own' });
  const { type: _left, ...rest } = typed;
  const name = typed.metadata.name;
  await expect(update(store('secrets'), name, rest)).rejects.toThrow(
    'type: Invalid value: "Opaque"',
  );
});

test('text of a secret becomes data, over data of the same name', async () => {
  const data = { a: 'eA==', b: 'eA==' };
  const secret = await make('secrets', { data, stringData: { b: 'ü', constructor: 'y' } });
  expect(secret['data']).toEqual({ a: 'eA==', b: 'w7w=', constructor: 'eQ==' });
  expect(secret['stringData']).toBeUndefined();
  const { name } = secret.metadata;
  const next = await verbs.patch(store('secrets'), name, { stringData: { a: 'z' } });
  expect(next['data']).toEqual({ a: 'eg==', b: 'w7w=', constructor: 'eQ==' });
});

test('an object that was stored without defaults is complete when it is read', async () => {
  const labels = { a: 'b' };
  const name = fresh();
  const metadata = { name, namespace: 'ns', uid: 'u', creationTimestamp: '2020-01-02T03:04:05Z' };
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels } } };
  const stored = { kind: 'Deployment', apiVersion: 'apps/v1', metadata, spec };
  const { signal } = scope();
  const key = `/registry/deployments/ns/${name}`;
  const { ok } = await replica.storage.put(key, bytesOf(stored), { expected: 0 }, signal);
  expect(ok).toBe(true);
  const read = await verbs.get(store('apps/deployments'), name);
  expect(read['spec']).toMatchObject({
    replicas: 1,
    strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
    template: { spec: { dnsPolicy: 'ClusterFirst' } },
  });
});

test('a custom resource definition remembers every storage version', async () => {
  const schema = { openAPIV3Schema: { type: 'object' } };
  const version = (name: string, storage: boolean): object => ({
    name,
    storage,
    served: true,
    schema,
  });
  const spec = (stored: string): object => ({
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: ['v1', 'v2'].map((name) => version(name, name === stored)),
  });
  const name = 'apiextensions.{v}/customresourcedefinitions';
  const made = await verbs.create(store(name), {
    metadata: { name: 'widgets.example.com' },
    spec: spec('v1'),
    status: { storedVersions: ['v9'], acceptedNames: { plural: 'p', kind: 'K' } },
  });
  expect(at(made, 'status/storedVersions')).toEqual(['v1']);
  expect(at(made, 'spec/names')).toMatchObject({ singular: 'widget', listKind: 'WidgetList' });
  const next = await change(name, made, { spec: { ...(made['spec'] as object), ...spec('v2') } });
  expect(at(next, 'status/storedVersions')).toEqual(['v1', 'v2']);
});

test('kinds with a status subresource begin without the status of the body', async () => {
  const labels = { a: 'b' };
  const template = { metadata: { labels }, spec: podSpec() };
  const spec = { selector: { matchLabels: labels }, template };
  const made = await make('apps/deployments', { spec, status: { replicas: 7 } });
  expect(made['status']).toEqual({});
  const next = await change('apps/deployments', made, { status: { replicas: 7 } });
  expect(next['status']).toEqual({});
  expect(next.metadata['generation']).toBe(1);
});
