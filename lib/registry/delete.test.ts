import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StatusError } from '../base/status.ts';
import { parseDeleteOptions, parseListOptions } from './options.ts';
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
import type { Sent } from './testing/verb-driver.ts';

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
});

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
    const other = await failure(given({ uid: 'other' }));
    expect(other).toMatchObject({ code: 409, details: { name, kind: 'ConfigMap' } });
    expect(await codeOf(given({ uid: '' }))).toBe(409);
    expect(await codeOf(given({ resourceVersion: '' }))).toBe(409);
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

  describe('of a pod on a node', () => {
    let pods: ResourceStore;
    const grace = async (name: string, query = ''): Promise<unknown> =>
      (await objectOf(verbs.remove(pods, name, { query }))).metadata['deletionGracePeriodSeconds'];
    const podWith = async (spec: object, metadata: object = {}): Promise<string> => {
      const name = fresh();
      const containers = [{ name: 'c', image: 'i' }];
      const body = {
        metadata: { name, ...metadata },
        spec: { nodeName: 'n1', containers, ...spec },
      };
      await verbs.create(pods, body);
      return name;
    };
    beforeAll(() => {
      pods = replica.store('pods');
    });

    test('waits out a grace period, which only an explicit shorter one changes', async () => {
      const name = await podWith({ terminationGracePeriodSeconds: 20 });
      const asked = await objectOf(verbs.remove(pods, name, { query: 'gracePeriodSeconds=60' }));
      expect(asked.metadata['deletionGracePeriodSeconds']).toBe(60);
      for (const query of ['', 'gracePeriodSeconds=70', 'propagationPolicy=Foreground']) {
        expect(await objectOf(verbs.remove(pods, name, { query }))).toEqual(asked);
      }
      expect(await grace(name, 'gracePeriodSeconds=5')).toBe(5);
      const ended = { subresource: 'status' };
      const status = { status: { phase: 'Succeeded' } };
      const stays = await verbs.patch(pods, name, status, ended);
      expect(await objectOf(verbs.remove(pods, name))).toEqual(stays);
      expect(await grace(name, 'gracePeriodSeconds=-7')).toBe(1);
      const last = await objectOf(verbs.remove(pods, name, { query: 'gracePeriodSeconds=0' }));
      expect(last.metadata['deletionGracePeriodSeconds']).toBe(0);
      expect(await codeOf(verbs.get(pods, name))).toBe(404);
    });

    test.each([
      [-1, undefined, 1],
      [30, '-9', 1],
      [300_000_000_000, undefined, 9_223_372_036],
      [9_007_199_254_740_994, undefined, 9_223_372_036],
      [30, '9007199254740993', 9_223_372_036],
      [30, '300000000000', 9_223_372_036],
    ])('%p s of the pod and %p s of the request become %p s', async (own, asked, expected) => {
      const name = await podWith({ terminationGracePeriodSeconds: own });
      const startSeconds = Math.floor(Date.now() / 1000);
      const query = asked === undefined ? '' : `gracePeriodSeconds=${asked}`;
      const { metadata } = await objectOf(verbs.remove(pods, name, { query }));
      expect(metadata['deletionGracePeriodSeconds']).toBe(expected);
      const endSeconds = Date.parse(String(metadata['deletionTimestamp'])) / 1000;
      expect(endSeconds).toBeGreaterThanOrEqual(startSeconds + expected);
      expect(await verbs.get(pods, name)).toMatchObject({ metadata });
      await verbs.remove(pods, name, { query: 'gracePeriodSeconds=0' });
      expect(await codeOf(verbs.get(pods, name))).toBe(404);
    });

    test('goes at once when its period is over, whatever its spec says', async () => {
      const name = await podWith({}, { finalizers: ['example.com/h'] });
      expect(await grace(name, 'gracePeriodSeconds=0')).toBe(0);
      const held = await objectOf(verbs.remove(pods, name));
      expect(held.metadata).toMatchObject({ finalizers: ['example.com/h'] });
      const key = `/registry/pods/${namespace}/${name}`;
      const { signal } = scope();
      const { item } = await replica.storage.get(key, signal);
      const left = Buffer.from(
        JSON.stringify({ ...held, metadata: { ...held.metadata, finalizers: [] } }),
      );
      await replica.storage.put(key, left, { expected: item?.modRevision ?? 0 }, signal);
      await verbs.remove(pods, name);
      expect(await codeOf(verbs.get(pods, name))).toBe(404);
    });
  });

  test('of a pod without a node shows it as it went', async () => {
    const pods = replica.store('pods');
    const name = fresh();
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    await verbs.create(pods, { metadata: { name }, spec });
    const { metadata } = await objectOf(verbs.remove(pods, name));
    expect(metadata).toMatchObject({
      deletionGracePeriodSeconds: 0,
      deletionTimestamp: expect.stringMatching(/Z$/),
    });
    expect(await codeOf(verbs.get(pods, name))).toBe(404);
  });

  describe('of pods that nothing keeps', () => {
    const spec = { containers: [{ name: 'c', image: 'i' }] };
    const newPod = async (more: object = {}): Promise<Sent> =>
      verbs.create(replica.store('pods'), {
        metadata: { name: fresh() },
        spec: { ...spec, ...more },
      });

    test('tells who watches that the end has come, then that they are gone', async () => {
      const pods = replica.store('pods');
      const { name, resourceVersion } = (await newPod({ nodeName: 'n' })).metadata;
      const { signal } = scope();
      const { cursor } = await pods.watch({
        namespace: 'ns',
        name,
        options: parseListOptions(params(`watch=1&resourceVersion=${resourceVersion}`)),
        signal,
      });
      await verbs.remove(pods, name, { query: 'gracePeriodSeconds=2' });
      await verbs.remove(pods, name, { query: 'gracePeriodSeconds=0' });
      const seen: unknown[] = [];
      while (seen.length < 3) {
        for (const { type, item } of (await cursor.next(signal)) ?? []) {
          seen.push([type, item?.object().metadata?.deletionGracePeriodSeconds]);
        }
      }
      cursor.close();
      expect(seen).toEqual([
        ['MODIFIED', 2],
        ['MODIFIED', 0],
        ['DELETED', 0],
      ]);
    });

    test('removes those of a collection, and gives the others their time', async () => {
      const pods = replica.store('pods');
      const labels = { set: fresh() };
      const make = async (more: object): Promise<string> => {
        const metadata = { name: fresh(), labels };
        return (await verbs.create(pods, { metadata, spec: { ...spec, ...more } })).metadata.name;
      };
      const free = await make({});
      const placed = await make({ nodeName: 'n', terminationGracePeriodSeconds: 7 });
      const { items } = await pods.deleteCollection({
        ...scope(),
        namespace: 'ns',
        list: parseListOptions(params(`labelSelector=set=${labels.set}`)),
        options: parseDeleteOptions(params(''), undefined, replica.naming),
      });
      expect(items.map(({ name }) => name).sort()).toEqual([free, placed].sort());
      expect(await codeOf(verbs.get(pods, free))).toBe(404);
      const { metadata } = await verbs.get(pods, placed);
      expect(metadata['deletionGracePeriodSeconds']).toBe(7);
    });

    test('is answered by each of many that delete one at once, or with 404', async () => {
      const other = await registry.replica();
      const drivers = [verbs, new VerbDriver(other)];
      for (let round = 0; round < 5; round++) {
        const { name } = (await newPod({ nodeName: 'n' })).metadata;
        const query = 'gracePeriodSeconds=0';
        const answers = await Promise.all(
          [0, 1, 0, 1, 0, 1].map(async (which) => {
            const pods = [replica, other][which]?.store('pods') ?? replica.store('pods');
            const removing = (drivers[which] ?? verbs).remove(pods, name, { query });
            return removing.then(
              ({ kind }) => kind,
              () => codeOf(removing),
            );
          }),
        );
        expect(answers).toContain('object');
        expect(answers.filter((answer) => answer !== 'object' && answer !== 404)).toEqual([]);
        expect(await codeOf(verbs.get(replica.store('pods'), name))).toBe(404);
      }
    });
  });

  test('leaves the finalizers in their order when their set stays', async () => {
    const name = fresh();
    const finalizers = ['foregroundDeletion', 'example.com/x'];
    await verbs.create(configMaps, configMap(name, {}, { finalizers }));
    const query = 'propagationPolicy=Foreground';
    const first = await objectOf(verbs.remove(configMaps, name, { query }));
    expect(first.metadata).toMatchObject({ finalizers });
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
