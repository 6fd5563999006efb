// The scale of workloads: read and written as a kind of its own, in every version of the workload.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Decoded } from '../codec/codec.ts';
import { jsonCodec } from '../codec/json.ts';
import { parseGetOptions, parseWriteOptions } from './options.ts';
import type { ResourceStore } from './resource-store.ts';
import type { Subresource } from './verb-target.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { bytesOf, codeOf, fresh, params, scope, sent, VerbDriver } from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let deployments: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  deployments = replica.store('apps/deployments');
});
afterAll(() => registry.stop());

const workload = (name: string, replicas = 3): object => ({
  metadata: { name },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'a' }, matchExpressions: [{ key: 'x', operator: 'Exists' }] },
    template: {
      metadata: { labels: { app: 'a', x: 'y' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    },
  },
});

const scaleOf = ({ subresources }: ResourceStore): Subresource => {
  const scale = subresources.get('scale');
  if (scale === undefined) throw new Error('it has a scale');
  return scale;
};
const at = (name: string): { namespace: string; name: string; subresource: string } => ({
  namespace: 'ns',
  name,
  subresource: 'scale',
});

async function get(store: ResourceStore, name: string): Promise<Sent> {
  const options = parseGetOptions(params(''));
  const item = await scaleOf(store).get?.({ path: at(name), options, signal: scope().signal });
  if (item === undefined) throw new Error('it can be read');
  return sent(item);
}

async function put(store: ResourceStore, name: string, body: object, query = ''): Promise<Sent> {
  const { input, update } = scaleOf(store);
  const decoded: Decoded = jsonCodec.decode(bytesOf(body), input.type);
  const options = parseWriteOptions(params(query), 'update', replica.naming);
  const answer = await update?.({ ...scope(), path: at(name), body: decoded, options });
  if (answer === undefined) throw new Error('it can be written');
  return sent(answer.item);
}

describe('the scale of a workload', () => {
  test.each([
    ['apps/deployments', 'app=a,x'],
    ['apps/replicasets', 'app=a,x'],
    ['apps/statefulsets', 'app=a,x'],
  ])('of %s shows replicas and selector', async (kind, selector) => {
    const store = replica.store(kind);
    const name = fresh();
    const made = await verbs.create(store, workload(name));
    expect(await get(store, name)).toEqual({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      metadata: {
        name,
        namespace: 'ns',
        uid: made.metadata.uid,
        resourceVersion: made.metadata.resourceVersion,
        creationTimestamp: made.metadata['creationTimestamp'],
      },
      spec: { replicas: 3 },
      status: { replicas: 0, selector },
    });
  });

  test('of a replication controller selects by its labels', async () => {
    const store = replica.store('replicationcontrollers');
    const name = fresh();
    const { spec } = workload(name) as { spec: object };
    await verbs.create(store, {
      metadata: { name },
      spec: { ...spec, selector: { x: 'y', app: 'a' } },
    });
    expect(await get(store, name)).toMatchObject({ status: { selector: 'app=a,x=y' } });
  });

  test('a write changes the replicas, counts a generation and nothing else', async () => {
    const name = fresh();
    const made = await verbs.create(deployments, workload(name));
    const written = await put(deployments, name, { metadata: { name }, spec: { replicas: 5 } });
    expect(written).toMatchObject({ kind: 'Scale', spec: { replicas: 5 } });
    const now = await verbs.get(deployments, name);
    expect(now).toEqual({
      ...made,
      metadata: { ...now.metadata, generation: 2 },
      spec: { ...(made['spec'] as object), replicas: 5 },
    });
    expect(now.metadata.resourceVersion).toBe(written.metadata.resourceVersion);
  });

  test('a dry run writes nothing', async () => {
    const name = fresh();
    const made = await verbs.create(deployments, workload(name));
    const body = { metadata: { name }, spec: { replicas: 5 } };
    expect(await put(deployments, name, body, 'dryRun=All')).toMatchObject({
      spec: { replicas: 5 },
    });
    expect(await verbs.get(deployments, name)).toEqual(made);
  });

  test.each([
    ['a version that is gone', { resourceVersion: '1' }, 5, 409],
    ['another uid', { uid: 'x' }, 5, 409],
    ['fewer than no replicas', {}, -1, 422],
    ['another name', { name: 'other' }, 5, 400],
  ])('%s is refused', async (_, metadata, replicas, code) => {
    const name = fresh();
    await verbs.create(deployments, workload(name));
    const body = { metadata: { name, ...metadata }, spec: { replicas } };
    expect(await codeOf(put(deployments, name, body))).toBe(code);
    expect(await get(deployments, name)).toMatchObject({ spec: { replicas: 3 } });
  });

  test('of what is not there is 404, and never makes one', async () => {
    const name = fresh();
    const body = { metadata: { name }, spec: { replicas: 1 } };
    expect(await codeOf(put(deployments, name, body))).toBe(404);
    expect(await codeOf(get(deployments, name))).toBe(404);
  });

  test.each([
    ['merge', { spec: { replicas: 7 } }, 7],
    ['json', [{ op: 'replace', path: '/spec/replicas', value: 8 }], 8],
  ] as const)('a %s patch is one of the Scale', async (kind, patch, replicas) => {
    const name = fresh();
    await verbs.create(deployments, workload(name));
    const options = parseWriteOptions(params(''), kind, replica.naming);
    const request = { ...scope(), path: at(name), kind, options, patch: bytesOf(patch) };
    const answer = await scaleOf(deployments).patch?.(request);
    expect(answer && sent(answer.item)).toMatchObject({ kind: 'Scale', spec: { replicas } });
    expect(await verbs.get(deployments, name)).toMatchObject({ spec: { replicas } });
  });
});
