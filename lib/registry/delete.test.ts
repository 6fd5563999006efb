import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StatusError } from '../base/status.ts';
import { parseDeleteOptions } from './options.ts';
import type { DeleteAnswer } from './requests.ts';
import type { ResourceStore } from './resource-store.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import {
  causesOf,
  codeOf,
  configMap,
  failure,
  fresh,
  objectOf,
  params,
  scope,
  VerbDriver,
} from './testing/verb-driver.ts';

const namespace = 'ns';
let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let configMaps: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica({ canDeleteUnreadable: true });
  verbs = new VerbDriver(replica);
  configMaps = replica.store('configmaps');
}, 60_000);

afterAll(async () => {
  await registry.stop();
});

describe('delete', () => {
  test('answers a Status with the uid; the name is free again', async () => {
    const name = fresh();
    const { metadata } = await verbs.create(configMaps, configMap(name));
    expect(await verbs.remove(configMaps, name)).toEqual({
      kind: 'status',
      status: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name, kind: 'configmaps', uid: metadata.uid },
      },
    });
    expect(await codeOf(verbs.get(configMaps, name))).toBe(404);
    expect(await codeOf(verbs.remove(configMaps, name))).toBe(404);
    await verbs.create(configMaps, configMap(name));
  });

  test('waits for finalizers; removing the last one removes the object', async () => {
    const name = fresh();
    const finalizers = ['example.com/x', 'example.com/y'];
    await verbs.create(configMaps, configMap(name, {}, { finalizers }));
    const first = await objectOf(verbs.remove(configMaps, name));
    expect(first.metadata).toMatchObject({ finalizers, deletionGracePeriodSeconds: 0 });
    expect(await objectOf(verbs.remove(configMaps, name))).toEqual(first);
    const more = [{ op: 'add', path: '/metadata/finalizers/-', value: 'example.com/new' }];
    expect(await causesOf(verbs.patch(configMaps, name, more))).toEqual([
      'metadata.finalizers FieldValueForbidden',
    ]);
    const one = await verbs.patch(configMaps, name, {
      metadata: { finalizers: ['example.com/y'] },
    });
    expect(await codeOf(verbs.create(configMaps, configMap(name)))).toBe(409);
    const last = await verbs.patch(configMaps, name, { metadata: { finalizers: [] } });
    expect(last.metadata.resourceVersion).toBe(one.metadata.resourceVersion);
    expect(await codeOf(verbs.get(configMaps, name))).toBe(404);
  });

  test.each([
    ['propagationPolicy=Foreground', ['foregroundDeletion']],
    ['propagationPolicy=Orphan', ['orphan']],
    ['orphanDependents=true', ['orphan']],
  ])('%s leaves a finalizer', async (query, finalizers) => {
    const name = fresh();
    await verbs.create(configMaps, configMap(name));
    expect((await objectOf(verbs.remove(configMaps, name, { query }))).metadata).toMatchObject({
      finalizers,
    });
  });

  test.each(['propagationPolicy=Background', 'orphanDependents=false', 'gracePeriodSeconds=30'])(
    '%s removes at once',
    async (query) => {
      const name = fresh();
      await verbs.create(configMaps, configMap(name));
      expect((await verbs.remove(configMaps, name, { query })).kind).toBe('status');
    },
  );

  test('keeps preconditions', async () => {
    const name = fresh();
    const { metadata } = await verbs.create(configMaps, configMap(name));
    const { uid, resourceVersion } = metadata;
    const given = (preconditions: object): Promise<DeleteAnswer> =>
      verbs.remove(configMaps, name, { body: { preconditions } });
    expect(await codeOf(given({ uid: 'other' }))).toBe(409);
    expect(await codeOf(given({ resourceVersion: '1' }))).toBe(409);
    expect((await given({ uid, resourceVersion })).kind).toBe('status');
    expect(await codeOf(given({ uid }))).toBe(404);
  });

  test('dry run leaves the object alone', async () => {
    const name = fresh();
    const made = await verbs.create(
      configMaps,
      configMap(name, {}, { finalizers: ['example.com/h'] }),
    );
    const dry = await objectOf(verbs.remove(configMaps, name, { body: { dryRun: ['All'] } }));
    expect(dry.metadata).toMatchObject({ resourceVersion: made.metadata.resourceVersion });
    expect(dry.metadata).toHaveProperty('deletionTimestamp');
    expect(await verbs.get(configMaps, name)).toEqual(made);
    expect(await codeOf(verbs.remove(configMaps, fresh(), { body: { dryRun: ['All'] } }))).toBe(
      404,
    );
  });

  test('pods on a node end after their grace period, which can only shrink', async () => {
    const pods = replica.store('pods');
    const name = fresh();
    await verbs.create(pods, {
      metadata: { name },
      spec: {
        nodeName: 'n1',
        terminationGracePeriodSeconds: 20,
        containers: [{ name: 'c', image: 'i' }],
      },
    });
    const grace = async (query: string): Promise<unknown> =>
      (await objectOf(verbs.remove(pods, name, { query }))).metadata['deletionGracePeriodSeconds'];
    expect(await grace('')).toBe(20);
    expect(await grace('gracePeriodSeconds=60')).toBe(20);
    expect(await grace('gracePeriodSeconds=5')).toBe(5);
    expect((await verbs.remove(pods, name, { query: 'gracePeriodSeconds=0' })).kind).toBe('object');
    expect(await codeOf(verbs.get(pods, name))).toBe(404);
  });

  test('of an unreadable object needs the unsafe option and its permission', async () => {
    const unsafe = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
    const name = fresh();
    await verbs.create(configMaps, configMap(name));
    expect(await codeOf(verbs.remove(configMaps, name, { body: unsafe }))).toBe(422);
    const key = `/registry/configmaps/${namespace}/${name}`;
    const { signal } = scope();
    const { item } = await replica.storage.get(key, signal);
    const broken = Buffer.from('not an object');
    await replica.storage.put(key, broken, { expected: item?.modRevision ?? 0 }, signal);
    expect(await failure(verbs.get(configMaps, name))).toMatchObject({
      code: 500,
      message: expect.stringContaining(key),
    });
    expect(await codeOf(verbs.remove(configMaps, name))).toBe(500);
    const refused = configMaps.delete({
      ...scope(),
      path: { namespace, name, subresource: '' },
      options: parseDeleteOptions(params(''), unsafe, replica.naming),
      authorizeUnsafeDelete: () => Promise.reject(new StatusError(403, 'Forbidden', 'no')),
    });
    expect(await codeOf(refused)).toBe(403);
    expect((await verbs.remove(configMaps, name, { body: unsafe })).kind).toBe('status');
    expect(await codeOf(verbs.get(configMaps, name))).toBe(404);
  });
});
