// Binding pods to nodes, on a real etcd: once, from etcd's state, and never half.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admissionChain } from '../../admission/chain.ts';
import type { AdmissionPlugin } from '../../admission/plugin.ts';
import { StatusError } from '../../base/status.ts';
import { jsonCodec } from '../../codec/json.ts';
import { parseWriteOptions } from '../options.ts';
import type { ResourceStore } from '../resource-store.ts';
import { RegistryOnEtcd } from '../testing/registry-on-etcd.ts';
import type { Replica } from '../testing/registry-on-etcd.ts';
import { bytesOf, failure, fresh, params, scope, VerbDriver } from '../testing/verb-driver.ts';
import type { Sent } from '../testing/verb-driver.ts';

/** What admission saw, and what it does about it. */
const admitted: string[] = [];
const watching: AdmissionPlugin = {
  name: 'Watching',
  sideEffects: false,
  handles: ({ resource }) => ['pods', 'bindings'].includes(resource.resource),
  mutate({ operation, resource, subresource, name }, object) {
    admitted.push(`${operation} ${resource.resource}/${subresource} ${name}: ${object.kind ?? ''}`);
    if (object.metadata?.labels?.['move'] === undefined) return false;
    Object.assign(object, { target: { name: 'moved' } });
    return true;
  },
  validate(_request, object) {
    if (object?.metadata?.labels?.['deny'] !== undefined) {
      throw new StatusError(403, 'Forbidden', 'not this one');
    }
  },
};

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let pods: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica({ admission: admissionChain([watching]) });
  verbs = new VerbDriver(replica);
  pods = replica.store('pods');
});
afterAll(() => registry.stop());

async function newPod(spec: object = {}, metadata: object = {}): Promise<Sent> {
  const pod = { metadata: { name: fresh(), ...metadata }, spec: { ...containers, ...spec } };
  return verbs.create(pods, pod);
}
const containers = { containers: [{ name: 'c', image: 'i' }] };

const bindTo = (
  name: string,
  node: string,
  { metadata = {}, query = '', by = verbs, store = pods } = {},
): Promise<unknown> => {
  const body = { metadata: { name, ...metadata }, target: { kind: 'Node', name: node } };
  return by.act(store, name, body, { subresource: 'binding', query });
};

describe('a binding', () => {
  test('assigns the node, adds labels and annotations, and says that it did', async () => {
    const made = await newPod({}, { labels: { a: '1', b: '1' }, annotations: { x: '1' } });
    const { name } = made.metadata;
    const metadata = { labels: { b: '2', c: '2' }, annotations: { y: '2' } };
    expect(await bindTo(name, 'n1', { metadata })).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Success',
      code: 201,
    });
    expect(await verbs.get(pods, name)).toEqual({
      ...made,
      metadata: {
        ...made.metadata,
        resourceVersion: expect.any(String),
        labels: { a: '1', b: '2', c: '2' },
        annotations: { x: '1', y: '2' },
      },
      spec: { ...(made['spec'] as object), nodeName: 'n1' },
      status: {
        phase: 'Pending',
        qosClass: 'BestEffort',
        conditions: [
          {
            type: 'PodScheduled',
            status: 'True',
            lastProbeTime: null,
            lastTransitionTime: expect.any(String),
          },
        ],
      },
    });
  });

  test('replaces what a scheduler said before: why not, and where perhaps', async () => {
    const { name } = (await newPod()).metadata;
    const unschedulable = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable' };
    const status = { nominatedNodeName: 'n9', conditions: [unschedulable] };
    await verbs.patch(pods, name, { status }, { subresource: 'status' });
    await bindTo(name, 'n1');
    const now = (await verbs.get(pods, name))['status'] as { conditions: object[] };
    expect(now).not.toHaveProperty('nominatedNodeName');
    expect(now.conditions).toEqual([
      {
        type: 'PodScheduled',
        status: 'True',
        lastProbeTime: null,
        lastTransitionTime: expect.any(String),
      },
    ]);
  });

  test('is 409 for a pod that has a node', async () => {
    const { name } = (await newPod()).metadata;
    await bindTo(name, 'n1');
    expect(await failure(bindTo(name, 'n2'))).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message:
        `Operation cannot be fulfilled on pods/binding "${name}": ` +
        `pod ${name} is already assigned to node "n1"`,
      details: { name, kind: 'pods/binding' },
    });
  });

  test('is 409 for a pod that waits for gates', async () => {
    const { name } = (await newPod({ schedulingGates: [{ name: 'example.com/g' }] })).metadata;
    expect(await failure(bindTo(name, 'n1'))).toMatchObject({
      code: 409,
      message: expect.stringContaining(`pod ${name} has non-empty .spec.schedulingGates`),
    });
  });

  test('is 409 for a pod that is being deleted', async () => {
    const { name } = (await newPod({}, { finalizers: ['example.com/f'] })).metadata;
    await verbs.remove(pods, name);
    expect(await failure(bindTo(name, 'n1'))).toMatchObject({
      code: 409,
      message: expect.stringContaining('is being deleted, cannot be assigned to a host'),
    });
  });

  test('is 404 for a pod that is not there', async () => {
    expect(await failure(bindTo('absent', 'n1'))).toMatchObject({
      code: 404,
      details: { name: 'absent', kind: 'pods' },
    });
  });

  test.each([
    ['uid', 'another'],
    ['resourceVersion', '1'],
  ])('is 409 where its %s is not the pod’s', async (member, value) => {
    const { name } = (await newPod()).metadata;
    expect(await failure(bindTo(name, 'n1', { metadata: { [member]: value } }))).toMatchObject({
      code: 409,
      details: { name, kind: 'pods' },
    });
  });

  test('of the uid and version of the pod binds it', async () => {
    const { name, uid, resourceVersion } = (await newPod()).metadata;
    await bindTo(name, 'n1', { metadata: { uid, resourceVersion } });
    expect(await verbs.get(pods, name)).toMatchObject({ spec: { nodeName: 'n1' } });
  });

  test.each<[string, { metadata?: object; target?: object }, number, string[]]>([
    ['another name', { metadata: { name: 'other' }, target: { name: 'n1' } }, 400, []],
    ['no name', { target: { name: 'n1' } }, 400, []],
    ['another namespace', { metadata: { namespace: 'x' }, target: { name: 'n1' } }, 400, []],
    [
      'a version that is none',
      { metadata: { resourceVersion: 'x' }, target: { name: 'n' } },
      400,
      [],
    ],
    ['no target', {}, 422, ['target.name']],
    ['a target of another kind', { target: { kind: 'Pod', name: 'n' } }, 422, ['target.kind']],
    ['a node that none is called', { target: { name: '../n' } }, 422, ['target.name']],
    [
      'a label that is none',
      { metadata: { labels: { a: 'b b' } }, target: { name: 'n' } },
      422,
      ['metadata.labels'],
    ],
  ])('with %s is refused', async (what, body, code, fields) => {
    const { name } = (await newPod()).metadata;
    const metadata = what === 'no name' ? {} : { name, ...body.metadata };
    const refused = verbs.act(pods, name, { ...body, metadata }, { subresource: 'binding' });
    const error = await failure(refused);
    expect([error.code, error.details?.causes?.map(({ field }) => field) ?? []]).toEqual([
      code,
      fields,
    ]);
    expect((await verbs.get(pods, name))['spec']).not.toHaveProperty('nodeName');
  });

  test('in a dry run is judged and not stored', async () => {
    const made = await newPod();
    const { name } = made.metadata;
    await bindTo(name, 'n1', { query: 'dryRun=All' });
    expect(await verbs.get(pods, name)).toEqual(made);
    await bindTo(name, 'n1');
    expect((await failure(bindTo(name, 'n1', { query: 'dryRun=All' }))).code).toBe(409);
  });

  test('is admitted as the creation of a Binding, not as an update of the pod', async () => {
    const { name } = (await newPod()).metadata;
    admitted.length = 0;
    await bindTo(name, 'n1', { metadata: { labels: { move: '1' } } });
    expect(admitted).toEqual([`CREATE pods/binding ${name}: Binding`]);
    expect(await verbs.get(pods, name)).toMatchObject({ spec: { nodeName: 'moved' } });
    const other = (await newPod()).metadata.name;
    const metadata = { labels: { deny: '1' } };
    expect((await failure(bindTo(other, 'n1', { metadata }))).code).toBe(403);
    expect((await verbs.get(pods, other))['spec']).not.toHaveProperty('nodeName');
  });

  test('rests on what etcd holds, not on an old memory', async () => {
    const { name } = (await newPod()).metadata;
    const frozen = await registry.replica({ isFrozen: true });
    await bindTo(name, 'n1');
    const late = { by: new VerbDriver(frozen), store: frozen.store('pods') };
    expect((await failure(bindTo(name, 'n2', late))).message).toContain('assigned to node "n1"');
  });

  test('is won by one of many schedulers at three replicas', async () => {
    const { name } = (await newPod()).metadata;
    const replicas = [replica, await registry.replica(), await registry.replica()];
    const tries = Array.from({ length: 30 }, async (_, at) => {
      const of = replicas[at % 3] ?? replica;
      const by = new VerbDriver(of);
      try {
        await bindTo(name, `n${String(at)}`, { by, store: of.store('pods') });
        return `n${String(at)}`;
      } catch (error) {
        if (error instanceof StatusError && error.code === 409) return undefined;
        throw error;
      }
    });
    const won = (await Promise.all(tries)).filter((node) => node !== undefined);
    expect(won).toHaveLength(1);
    expect(await verbs.get(pods, name)).toMatchObject({ spec: { nodeName: won[0] } });
  });
});

describe('the resource `bindings`', () => {
  const post = async (body: object, query = ''): Promise<unknown> => {
    const bindings = replica.store('bindings');
    const answer = await bindings.create({
      ...scope(),
      path: { namespace: 'ns', name: '', subresource: '' },
      body: jsonCodec.decode(bytesOf(body), bindings.input.type),
      options: parseWriteOptions(params(query), 'create', replica.naming),
    });
    return answer.item.object();
  };

  test('binds the pod that the body names', async () => {
    const { name } = (await newPod()).metadata;
    admitted.length = 0;
    expect(await post({ metadata: { name }, target: { name: 'n1' } })).toMatchObject({
      status: 'Success',
      code: 201,
    });
    expect(admitted).toEqual([`CREATE bindings/ ${name}: Binding`]);
    expect(await verbs.get(pods, name)).toMatchObject({ spec: { nodeName: 'n1' } });
  });

  test('needs a name', async () => {
    expect((await failure(post({ target: { name: 'n1' } }))).code).toBe(400);
  });
});
