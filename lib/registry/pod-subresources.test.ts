import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ResourceStore } from './resource-store.ts';
import { ownersOf } from './testing/owners.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { causesOf, fresh, sent, VerbDriver } from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let pods: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  pods = replica.store('pods');
});

afterAll(async () => {
  await registry.stop();
});

interface PodSpec {
  readonly containers: readonly { readonly image: string; readonly resources: object }[];
  readonly ephemeralContainers?: readonly { readonly name: string }[];
}
const specOf = (pod: Sent): PodSpec => pod['spec'] as PodSpec;
const shown = async (run: Promise<{ readonly item: Parameters<typeof sent>[0] }>): Promise<Sent> =>
  sent((await run).item);

const resources = { requests: { cpu: '1' }, limits: { cpu: '2' } };
async function newPod(spec: object = {}): Promise<Sent> {
  const containers = [{ name: 'c', image: 'i', resources }];
  return verbs.create(pods, { metadata: { name: fresh() }, spec: { containers, ...spec } });
}

const debug = { spec: { ephemeralContainers: [{ name: 'd', image: 'i' }] } };

describe('ephemeral containers', () => {
  const subresource = 'ephemeralcontainers';

  test('are all that a PUT changes, and a new generation', async () => {
    const pod = await newPod();
    const { name } = pod.metadata;
    const spec = { ...specOf(pod), ...debug.spec, nodeName: 'n', containers: [] };
    const metadata = { name, labels: { a: 'b' }, annotations: { a: 'b' }, finalizers: ['a.b/c'] };
    const body = { metadata, spec, status: { phase: 'Failed' } };
    const now = await shown(verbs.update(pods, name, body, { subresource }));
    const added = { name: 'd', image: 'i', terminationMessagePath: '/dev/termination-log' };
    expect(specOf(now)).toEqual({
      ...specOf(pod),
      ephemeralContainers: [expect.objectContaining(added)],
    });
    expect(now['status']).toEqual(pod['status']);
    const { managedFields: _owners, resourceVersion: _version, ...rest } = now.metadata;
    const { managedFields: _before, resourceVersion: _old, ...before } = pod.metadata;
    expect(rest).toEqual({ ...before, generation: 2 });
  });

  test.each<[string, unknown, string]>([
    ['a merge patch', debug, ''],
    ['a strategic patch', debug, 'strategic'],
    [
      'a JSON patch',
      [{ op: 'add', path: '/spec/ephemeralContainers', value: [{ name: 'd', image: 'i' }] }],
      '',
    ],
  ])('are added by %s', async (_what, patch, kind) => {
    const { name } = (await newPod()).metadata;
    const texts = { subresource, ...(kind === '' ? {} : { kind: 'strategic' as const }) };
    const now = await verbs.patch(pods, name, patch, texts);
    expect(specOf(now).ephemeralContainers).toMatchObject([{ name: 'd' }]);
  });

  test('are owned by who applies them, and nothing else of what is applied', async () => {
    const { name } = (await newPod()).metadata;
    const configuration = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { a: 'b' } },
      spec: { ...debug.spec, containers: [{ name: 'c', image: 'other' }] },
    };
    const query = 'fieldManager=debugger';
    const now = await verbs.patch(pods, name, configuration, { subresource, kind: 'apply', query });
    expect(specOf(now).containers).toMatchObject([{ image: 'i' }]);
    expect(now.metadata['labels']).toBeUndefined();
    const element = '.spec.ephemeralContainers[name="d"]';
    const owned = `debugger/${subresource}: ${element} ${element}.image ${element}.name`;
    expect(ownersOf(now)).toContain(owned);
  });

  test.each([
    ['removed', { spec: { ephemeralContainers: [] } }],
    ['changed', { spec: { ephemeralContainers: [{ name: 'd', image: 'other' }] } }],
  ])('are never %s', async (_what, patch) => {
    const { name } = (await newPod()).metadata;
    await verbs.patch(pods, name, debug, { subresource });
    const refused = verbs.patch(pods, name, patch, { subresource });
    expect(await causesOf(refused)).toEqual(['spec.ephemeralContainers FieldValueForbidden']);
  });

  test('are no business of other writes', async () => {
    const { name } = (await newPod()).metadata;
    expect(await causesOf(verbs.patch(pods, name, debug))).toEqual(['spec FieldValueForbidden']);
  });
});

describe('a resize', () => {
  const subresource = 'resize';
  const sized = (cpu: string, more: object = {}): object => ({
    spec: { containers: [{ name: 'c', resources: { requests: { cpu } }, ...more }] },
  });

  test('changes resources alone, and the generation', async () => {
    const pod = await newPod();
    const { name } = pod.metadata;
    const patch = {
      ...sized('2', { image: 'other', env: [{ name: 'A', value: 'b' }] }),
      metadata: { labels: { a: 'b' } },
      status: { phase: 'Failed' },
    };
    const now = await verbs.patch(pods, name, patch, { subresource, kind: 'strategic' });
    expect(specOf(now)).toEqual({
      ...specOf(pod),
      containers: [
        {
          ...specOf(pod).containers[0],
          resources: { requests: { cpu: '2' }, limits: { cpu: '2' } },
        },
      ],
    });
    expect(now.metadata['labels']).toBeUndefined();
    expect([now.metadata['generation'], now['status']]).toEqual([2, pod['status']]);
  });

  test('is owned as far as it is one', async () => {
    const { name } = (await newPod()).metadata;
    const configuration = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      ...sized('2', { image: 'other' }),
    };
    const query = 'fieldManager=sizer&force=true';
    const now = await verbs.patch(pods, name, configuration, { subresource, kind: 'apply', query });
    expect(specOf(now).containers).toMatchObject([
      { image: 'i', resources: { requests: { cpu: '2' } } },
    ]);
    const element = '.spec.containers[name="c"]';
    const owned = `sizer/${subresource}: ${element} ${element}.resources.requests.cpu`;
    expect(ownersOf(now)).toContain(owned);
  });

  test.each<[string, object, object, string]>([
    [
      'other resources',
      {},
      sized('1', { resources: { requests: { 'ephemeral-storage': '1' } } }),
      'spec FieldValueForbidden',
    ],
    [
      'more than the limit',
      {},
      sized('3'),
      'spec.containers[0].resources.requests FieldValueInvalid',
    ],
    [
      'how containers take it',
      {},
      sized('1', { resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }] }),
      'spec FieldValueForbidden',
    ],
    [
      'another class of service',
      {},
      {
        spec: {
          containers: [
            {
              name: 'c',
              resources: { requests: { cpu: '2', memory: '1' }, limits: { memory: '1' } },
            },
          ],
        },
      },
      'spec FieldValueInvalid',
    ],
    [
      'containers that are new',
      {},
      { spec: { containers: [{ name: 'new', image: 'i' }] } },
      'spec.containers FieldValueForbidden',
    ],
    ['pods of Windows', { os: { name: 'windows' } }, sized('2'), ' FieldValueForbidden'],
  ])('is refused for %s', async (_what, spec, patch, cause) => {
    const { name } = (await newPod(spec)).metadata;
    const refused = verbs.patch(pods, name, patch, { subresource, kind: 'strategic' });
    expect(await causesOf(refused)).toEqual([cause]);
  });

  test('takes no resource away', async () => {
    const { name } = (await newPod()).metadata;
    const patch = { spec: { containers: [{ name: 'c', resources: { limits: { cpu: null } } }] } };
    const refused = verbs.patch(pods, name, patch, { subresource, kind: 'strategic' });
    expect(await causesOf(refused)).toContain(
      'spec.containers[0].resources.limits FieldValueForbidden',
    );
  });

  test.each([
    ['does not report the resources of what runs', {}, ['spec FieldValueForbidden']],
    ['reports them', { resources: {} }, ['code 200']],
  ])('on a node that %s', async (_what, reported, causes) => {
    const { name } = (await newPod({ nodeName: 'n' })).metadata;
    const running = {
      name: 'c',
      image: 'i',
      imageID: '',
      ready: true,
      restartCount: 0,
      state: { running: {} },
      ...reported,
    };
    await verbs.patch(
      pods,
      name,
      { status: { containerStatuses: [running] } },
      { subresource: 'status' },
    );
    const done = verbs.patch(pods, name, sized('2'), { subresource, kind: 'strategic' });
    expect(
      await done.then(
        () => ['code 200'],
        () => causesOf(done),
      ),
    ).toEqual(causes);
  });

  test('is no business of other writes', async () => {
    const { name } = (await newPod()).metadata;
    const refused = verbs.patch(pods, name, sized('2'), { kind: 'strategic' });
    expect(await causesOf(refused)).toEqual(['spec FieldValueForbidden']);
  });
});
