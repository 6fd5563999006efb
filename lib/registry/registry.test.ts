import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StatusError } from '../base/status.ts';
import type { Item } from '../cacher/resource-view.ts';
import { jsonCodec } from '../codec/json.ts';
import { parseDeleteOptions, parseListOptions, parseWriteOptions } from './options.ts';
import type { DeleteAnswer, ListAnswer, RequestScope, WriteAnswer } from './requests.ts';
import type { ResourceStore } from './resource-store.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';

interface Metadata {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly [key: string]: unknown;
}
interface Sent {
  readonly kind: string;
  readonly metadata: Metadata;
  readonly [key: string]: unknown;
}

const namespace = 'ns';
let registry: RegistryOnEtcd;
let replica: Replica;
let configMaps: ResourceStore;
let leases: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica({ canDeleteUnreadable: true });
  configMaps = replica.store('configmaps');
  leases = replica.store(`coordination.${replica.naming.resolve('{v}')}/leases`);
}, 60_000);

afterAll(async () => {
  await registry.stop();
});

const scope = (): RequestScope => ({
  user: { name: 'tester', uid: '', groups: [] },
  warnings: [],
  signal: AbortSignal.timeout(15_000),
});
const bytesOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const sent = (item: Item): Sent => JSON.parse(Buffer.from(item.json()).toString()) as Sent;
const params = (text: string): URLSearchParams => new URLSearchParams(text);
const place = (store: ResourceStore): string => (store.resource.namespaced ? namespace : '');

/** The verbs as requests name them: texts in, the sent object out. */
async function create(store: ResourceStore, body: object, query = ''): Promise<Sent> {
  const answer = await store.create({
    ...scope(),
    namespace: place(store),
    body: jsonCodec.decode(bytesOf(body), store.resource.type),
    options: parseWriteOptions(params(query), 'create', replica.naming),
  });
  expect(answer.created).toBe(true);
  return sent(answer.item);
}

const update = (
  store: ResourceStore,
  name: string,
  body: object,
  { query = '', subresource = '' } = {},
): Promise<WriteAnswer> =>
  store.update({
    ...scope(),
    path: { namespace: place(store), name, subresource },
    body: jsonCodec.decode(bytesOf(body), store.resource.type),
    options: parseWriteOptions(params(query), 'update', replica.naming),
  });

const patch = async (
  store: ResourceStore,
  name: string,
  body: unknown,
  { query = '', subresource = '' } = {},
): Promise<Sent> => {
  const kind = Array.isArray(body) ? 'json' : 'merge';
  const answer = await store.patch({
    ...scope(),
    path: { namespace: place(store), name, subresource },
    kind,
    patch: typeof body === 'string' ? Buffer.from(body) : bytesOf(body),
    options: parseWriteOptions(params(query), kind, replica.naming),
  });
  expect(answer.created).toBe(false);
  return sent(answer.item);
};

const remove = (store: ResourceStore, name: string, body?: object, query = ''): Promise<DeleteAnswer> =>
  store.delete({
    ...scope(),
    path: { namespace: place(store), name, subresource: '' },
    options: parseDeleteOptions(params(query), body as never, replica.naming),
  });

const get = async (store: ResourceStore, name: string, resourceVersion = ''): Promise<Sent> => {
  const path = { namespace: place(store), name, subresource: '' };
  const { signal } = scope();
  return sent(await store.get({ path, options: { resourceVersion }, signal }));
};

const list = (store: ResourceStore, query = '', at = place(store)): Promise<ListAnswer> => {
  const options = parseListOptions(params(query));
  return store.list({ namespace: at, name: '', options, signal: scope().signal });
};
const namesOf = ({ items }: ListAnswer): string[] => items.map(({ name }) => name);

async function failure(run: Promise<unknown>): Promise<StatusError> {
  const error: unknown = await run.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StatusError)) throw error ?? new Error('nothing was thrown');
  return error;
}
const codeOf = async (run: Promise<unknown>): Promise<number> => (await failure(run)).code;
const causesOf = async (run: Promise<unknown>): Promise<string[]> => {
  const { code, details } = await failure(run);
  expect(code).toBe(422);
  return (details?.causes ?? []).map(({ field, reason }) => `${field ?? ''} ${reason ?? ''}`);
};

let count = 0;
const fresh = (): string => `o${String(++count)}`;
const configMap = (name: string, more: object = {}, metadata: object = {}): object => ({
  metadata: { name, ...metadata },
  ...more,
});
const leaseBody = (name: string, metadata: object = {}): object => ({
  metadata: { name, ...metadata },
  spec: { holderIdentity: 'x' },
});

describe('create', () => {
  test('answers what is stored, with everything the server owns', async () => {
    const name = fresh();
    const made = await create(configMaps, configMap(name, { data: { k: 'v' } }));
    expect(made).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: {
        name,
        namespace,
        uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        resourceVersion: expect.stringMatching(/^\d+$/),
        creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      },
      data: { k: 'v' },
    });
    expect(await get(configMaps, name)).toEqual(made);
  });

  test('replaces what the client says about members of the server', async () => {
    const uid = '11111111-2222-3333-4444-555555555555';
    const time = '2001-02-03T04:05:06Z';
    const { metadata } = await create(
      configMaps,
      configMap(fresh(), {}, {
        uid, creationTimestamp: time, deletionTimestamp: time, generation: 7, selfLink: '/x',
        deletionGracePeriodSeconds: 5, resourceVersion: '0',
      }),
    );
    expect(metadata.uid).not.toBe(uid);
    expect(metadata['creationTimestamp']).not.toBe(time);
    expect(Object.keys(metadata).sort()).toEqual([
      'creationTimestamp', 'name', 'namespace', 'resourceVersion', 'uid',
    ]);
  });

  test('makes names from a prefix, cut to 63 characters', async () => {
    const body = { metadata: { generateName: 'x'.repeat(80) } };
    const [one, two] = [await create(configMaps, body), await create(configMaps, body)];
    expect(one.metadata.name).toMatch(/^x{58}[a-z0-9]{5}$/);
    expect(two.metadata.name).not.toBe(one.metadata.name);
  });

  test.each([
    ['no name', { metadata: {} }, 422],
    ['a stated version', configMap('v', {}, { resourceVersion: '12' }), 400],
    ['another namespace', configMap('n', {}, { namespace: 'elsewhere' }), 400],
    ['another kind', { ...configMap('k'), kind: 'Secret', apiVersion: 'v1' }, 400],
    ['another version', { ...configMap('k'), kind: 'ConfigMap', apiVersion: 'v2' }, 400],
    ['a bad name', configMap('Bad_Name'), 422],
    ['a bad label', configMap('l', {}, { labels: { 'bad key': 'v' } }), 422],
  ])('with %s is refused', async (_what, body, code) => {
    expect(await codeOf(create(configMaps, body))).toBe(code);
  });

  test('of a taken name is a 409', async () => {
    const name = fresh();
    await create(configMaps, configMap(name));
    expect(await failure(create(configMaps, configMap(name)))).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      details: { name, kind: 'configmaps' },
    });
  });

  test('dry run answers the object without version and stores nothing', async () => {
    const name = fresh();
    const made = await create(configMaps, configMap(name), 'dryRun=All');
    expect(made.metadata).not.toHaveProperty('resourceVersion');
    expect(made.metadata.uid).toBeTruthy();
    expect(await codeOf(get(configMaps, name))).toBe(404);
    await create(configMaps, configMap(name));
    expect(await codeOf(create(configMaps, configMap(name), 'dryRun=All'))).toBe(409);
  });

  test('unknown fields are warnings, errors or nothing', async () => {
    const body = (): object => ({ ...configMap(fresh()), nosuch: 1 });
    const answer = async (query: string): Promise<string[]> => {
      const request = scope();
      await configMaps.create({
        ...request,
        namespace,
        body: jsonCodec.decode(bytesOf(body()), configMaps.resource.type),
        options: parseWriteOptions(params(query), 'create', replica.naming),
      });
      return request.warnings;
    };
    expect(await answer('')).toEqual(['unknown field "nosuch"']);
    expect(await answer('fieldValidation=Ignore')).toEqual([]);
    expect(await failure(answer('fieldValidation=Strict'))).toMatchObject({
      code: 400,
      message: expect.stringContaining('strict decoding error: unknown field "nosuch"'),
    });
  });

  test('an object larger than etcd takes is a 413 and not stored', async () => {
    const name = fresh();
    const body = configMap(name, { data: { k: 'x'.repeat(1.6 * 1024 * 1024) } });
    expect(await codeOf(create(configMaps, body))).toBe(413);
    expect(await codeOf(get(configMaps, name))).toBe(404);
  });
});

describe('update', () => {
  test('keeps what belongs to the server', async () => {
    const name = fresh();
    const made = await create(configMaps, configMap(name, { data: { k: '1' } }));
    const put = await update(configMaps, name, configMap(name, { data: { k: '2' } }, {
      creationTimestamp: '2001-02-03T04:05:06Z', uid: made.metadata.uid,
    }));
    expect(put.created).toBe(false);
    const now = sent(put.item);
    expect(now['data']).toEqual({ k: '2' });
    expect({ ...now.metadata, resourceVersion: '' }).toEqual({ ...made.metadata, resourceVersion: '' });
    expect(now.metadata.resourceVersion).not.toBe(made.metadata.resourceVersion);
  });

  test('that changes nothing keeps the version, whatever the form of the body', async () => {
    const name = fresh();
    const made = await create(configMaps, configMap(name, { data: { k: '1' } }));
    const { resourceVersion } = made.metadata;
    const same = [
      configMap(name, { data: { k: '1' } }),
      configMap(name, { data: { k: '1' } }, { resourceVersion, labels: {}, finalizers: [] }),
    ];
    for (const body of same) {
      const put = await update(configMaps, name, body);
      expect(sent(put.item).metadata.resourceVersion).toBe(resourceVersion);
    }
  });

  test('with a stale version is a 409 at once', async () => {
    const name = fresh();
    const made = await create(configMaps, configMap(name, { data: { k: '1' } }));
    await update(configMaps, name, configMap(name, { data: { k: '2' } }));
    const stale = configMap(name, {}, { resourceVersion: made.metadata.resourceVersion });
    expect(await failure(update(configMaps, name, stale))).toMatchObject({ code: 409, reason: 'Conflict' });
  });

  test.each([
    ['another name', (_name: string) => configMap('other'), 400],
    ['no name', (_name: string) => ({ metadata: {} }), 400],
    ['another namespace', (name: string) => configMap(name, {}, { namespace: 'x' }), 400],
    ['another uid', (name: string) => configMap(name, {}, { uid: 'other' }), 409],
    ['a malformed version', (name: string) => configMap(name, {}, { resourceVersion: 'abc' }), 400],
    [
      'a deletion time',
      (name: string) => configMap(name, {}, { deletionTimestamp: '2001-02-03T04:05:06Z' }),
      422,
    ],
  ])('with %s is refused', async (_what, bodyOf, code) => {
    const name = fresh();
    await create(configMaps, configMap(name));
    expect(await codeOf(update(configMaps, name, bodyOf(name)))).toBe(code);
  });

  test('of an absent object is a 404, or makes it where the kind allows', async () => {
    const name = fresh();
    expect(await codeOf(update(configMaps, name, configMap(name)))).toBe(404);
    const made = await update(leases, name, leaseBody(name));
    expect(made.created).toBe(true);
    expect(await get(leases, name)).toEqual(sent(made.item));
  });

  test('of an absent object that states a version or uid does not make it', async () => {
    const name = fresh();
    const body = leaseBody(name, { resourceVersion: '5' });
    expect(await codeOf(update(leases, name, body))).toBe(409);
    expect(await codeOf(update(leases, name, leaseBody(name, { uid: 'u' })))).toBe(409);
  });

  test('that creates asks for the permission to create', async () => {
    const name = fresh();
    const refused = leases.update({
      ...scope(),
      path: { namespace, name, subresource: '' },
      body: jsonCodec.decode(bytesOf(leaseBody(name)), leases.resource.type),
      options: parseWriteOptions(params(''), 'update', replica.naming),
      authorizeCreate: () => Promise.reject(new StatusError(403, 'Forbidden', 'no')),
    });
    expect(await codeOf(refused)).toBe(403);
    expect(await codeOf(get(leases, name))).toBe(404);
  });

  test('without version is refused where the kind demands one', async () => {
    const name = fresh();
    await create(leases, leaseBody(name));
    expect(await causesOf(update(leases, name, leaseBody(name)))).toEqual([
      'metadata.resourceVersion FieldValueInvalid',
    ]);
  });

  test('dry run shows the change with the stored version', async () => {
    const name = fresh();
    const made = await create(configMaps, configMap(name, { data: { k: '1' } }));
    const body = configMap(name, { data: { k: '2' } });
    const { item } = await update(configMaps, name, body, { query: 'dryRun=All' });
    expect(sent(item)).toEqual({ ...made, data: { k: '2' } });
    expect(await get(configMaps, name)).toEqual(made);
    const lease = fresh();
    const dry = await update(leases, lease, leaseBody(lease), { query: 'dryRun=All' });
    expect(dry.created).toBe(true);
    expect(await codeOf(get(leases, lease))).toBe(404);
  });
});

describe('status and generation', () => {
  const body = (name: string): object => ({
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
    status: { replicas: 7 },
  });
  const seen = (object: Sent): unknown[] => {
    const spec = object['spec'] as { replicas?: number };
    const status = object['status'] as { replicas?: number };
    return [object.metadata['generation'], spec.replicas, status.replicas ?? null];
  };

  test('each writes its own part; only the spec counts', async () => {
    const deployments = replica.store('apps/deployments');
    const name = fresh();
    expect(seen(await create(deployments, body(name)))).toEqual([1, 1, null]);
    const label = { metadata: { labels: { x: 'y' } } };
    expect(seen(await patch(deployments, name, label))).toEqual([1, 1, null]);
    expect(seen(await patch(deployments, name, { spec: { replicas: 2 } }))).toEqual([2, 2, null]);
    const status = { subresource: 'status' };
    const both = { spec: { replicas: 9 }, status: { replicas: 2 } };
    expect(seen(await patch(deployments, name, both, status))).toEqual([2, 2, 2]);
    expect(seen(await patch(deployments, name, { status: { replicas: 5 } }))).toEqual([2, 2, 2]);
  });

  test('subresources that nothing serves are 404', async () => {
    const name = fresh();
    await create(configMaps, configMap(name));
    expect(await codeOf(patch(configMaps, name, {}, { subresource: 'nosuch' }))).toBe(404);
    const path = { namespace, name, subresource: 'status' };
    const { signal } = scope();
    const asked = configMaps.get({ path, options: { resourceVersion: '' }, signal });
    expect(await codeOf(asked)).toBe(404);
  });
});

describe('patch', () => {
  test.each([
    ['merge', { data: { l: 'm' } }, { k: 'v', l: 'm' }],
    ['merge that removes', { data: { k: null } }, undefined],
    ['JSON', [{ op: 'add', path: '/data/l', value: 'm' }], { k: 'v', l: 'm' }],
    ['JSON with a test', [{ op: 'test', path: '/data/k', value: 'v' }, { op: 'remove', path: '/data/k' }], undefined],
  ])('%s', async (_kind, body, data) => {
    const name = fresh();
    await create(configMaps, configMap(name, { data: { k: 'v' } }));
    expect((await patch(configMaps, name, body))['data']).toEqual(data);
  });

  test.each([
    ['a failed test', [{ op: 'test', path: '/data/k', value: 'no' }], 422],
    ['a missing target', [{ op: 'remove', path: '/data/none' }], 422],
    ['an unknown operation', [{ op: 'bogus', path: '/data/k' }], 400],
    ['a body that is no patch', '"x"', 400],
    ['half a body', '{', 400],
    ['a value of the wrong type', { data: { k: 1 } }, 422],
    ['another uid', { metadata: { uid: 'other' } }, 422],
    ['another kind', { kind: 'Secret' }, 422],
    ['another apiVersion', { apiVersion: 'v9' }, 422],
    ['another name', { metadata: { name: 'other' } }, 400],
    ['no metadata', { metadata: null }, 400],
    ['a stale version', { metadata: { resourceVersion: '1' } }, 409],
  ])('with %s is refused and changes nothing', async (_what, body, code) => {
    const name = fresh();
    const made = await create(configMaps, configMap(name, { data: { k: 'v' } }));
    expect(await codeOf(patch(configMaps, name, body))).toBe(code);
    expect(await get(configMaps, name)).toEqual(made);
  });

  test('of an absent object is a 404', async () => {
    expect(await codeOf(patch(configMaps, fresh(), {}))).toBe(404);
  });

  test('that changes nothing keeps the version', async () => {
    const name = fresh();
    const made = await create(configMaps, configMap(name, { data: { k: 'v' } }));
    expect(await patch(configMaps, name, { data: { k: 'v', none: null } })).toEqual(made);
  });

  test('many at once are all kept', async () => {
    const name = fresh();
    await create(configMaps, configMap(name, { data: {} }));
    const keys = Array.from({ length: 20 }, (_, index) => `k${String(index)}`);
    await Promise.all(keys.map((key) => patch(configMaps, name, { data: { [key]: 'v' } })));
    expect(Object.keys((await get(configMaps, name))['data'] as object).sort()).toEqual(keys.sort());
  });
});

describe('delete', () => {
  test('answers a Status with the uid; the name is free again', async () => {
    const name = fresh();
    const { metadata } = await create(configMaps, configMap(name));
    expect(await remove(configMaps, name)).toEqual({
      kind: 'status',
      status: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name, kind: 'configmaps', uid: metadata.uid },
      },
    });
    expect(await codeOf(get(configMaps, name))).toBe(404);
    expect(await codeOf(remove(configMaps, name))).toBe(404);
    await create(configMaps, configMap(name));
  });

  test('waits for finalizers; removing the last one removes the object', async () => {
    const name = fresh();
    const finalizers = ['example.com/x', 'example.com/y'];
    await create(configMaps, configMap(name, {}, { finalizers }));
    const first = await objectOf(remove(configMaps, name));
    expect(first.metadata).toMatchObject({ finalizers, deletionGracePeriodSeconds: 0 });
    expect(await objectOf(remove(configMaps, name))).toEqual(first);
    const more = [{ op: 'add', path: '/metadata/finalizers/-', value: 'example.com/new' }];
    expect(await causesOf(patch(configMaps, name, more))).toEqual([
      'metadata.finalizers FieldValueForbidden',
    ]);
    const one = await patch(configMaps, name, { metadata: { finalizers: ['example.com/y'] } });
    expect(await codeOf(create(configMaps, configMap(name)))).toBe(409);
    const last = await patch(configMaps, name, { metadata: { finalizers: [] } });
    expect(last.metadata.resourceVersion).toBe(one.metadata.resourceVersion);
    expect(await codeOf(get(configMaps, name))).toBe(404);
  });

  test.each([
    ['propagationPolicy=Foreground', ['foregroundDeletion']],
    ['propagationPolicy=Orphan', ['orphan']],
    ['orphanDependents=true', ['orphan']],
  ])('%s leaves a finalizer', async (query, finalizers) => {
    const name = fresh();
    await create(configMaps, configMap(name));
    expect((await objectOf(remove(configMaps, name, undefined, query))).metadata).toMatchObject({
      finalizers,
    });
  });

  test.each(['propagationPolicy=Background', 'orphanDependents=false', 'gracePeriodSeconds=30'])(
    '%s removes at once',
    async (query) => {
      const name = fresh();
      await create(configMaps, configMap(name));
      expect((await remove(configMaps, name, undefined, query)).kind).toBe('status');
    },
  );

  test('keeps preconditions', async () => {
    const name = fresh();
    const { metadata } = await create(configMaps, configMap(name));
    const { uid, resourceVersion } = metadata;
    const given = (preconditions: object): Promise<DeleteAnswer> =>
      remove(configMaps, name, { preconditions });
    expect(await codeOf(given({ uid: 'other' }))).toBe(409);
    expect(await codeOf(given({ resourceVersion: '1' }))).toBe(409);
    expect((await given({ uid, resourceVersion })).kind).toBe('status');
    expect(await codeOf(given({ uid }))).toBe(404);
  });

  test('dry run leaves the object alone', async () => {
    const name = fresh();
    const made = await create(configMaps, configMap(name, {}, { finalizers: ['example.com/h'] }));
    const dry = await objectOf(remove(configMaps, name, { dryRun: ['All'] }));
    expect(dry.metadata).toMatchObject({ resourceVersion: made.metadata.resourceVersion });
    expect(dry.metadata).toHaveProperty('deletionTimestamp');
    expect(await get(configMaps, name)).toEqual(made);
    expect(await codeOf(remove(configMaps, fresh(), { dryRun: ['All'] }))).toBe(404);
  });

  test('pods on a node end after their grace period, which can only shrink', async () => {
    const pods = replica.store('pods');
    const name = fresh();
    await create(pods, {
      metadata: { name },
      spec: {
        nodeName: 'n1',
        terminationGracePeriodSeconds: 20,
        containers: [{ name: 'c', image: 'i' }],
      },
    });
    const grace = async (query: string): Promise<unknown> =>
      (await objectOf(remove(pods, name, undefined, query))).metadata['deletionGracePeriodSeconds'];
    expect(await grace('')).toBe(20);
    expect(await grace('gracePeriodSeconds=60')).toBe(20);
    expect(await grace('gracePeriodSeconds=5')).toBe(5);
    expect((await remove(pods, name, undefined, 'gracePeriodSeconds=0')).kind).toBe('object');
    expect(await codeOf(get(pods, name))).toBe(404);
  });

  test('of what cannot be read needs the unsafe option, the permission, and a broken object', async () => {
    const unsafe = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
    const name = fresh();
    await create(configMaps, configMap(name));
    expect(await codeOf(remove(configMaps, name, unsafe))).toBe(422);
    const key = `/registry/configmaps/${namespace}/${name}`;
    const { signal } = scope();
    const { item } = await replica.storage.get(key, signal);
    const broken = Buffer.from('not an object');
    await replica.storage.put(key, broken, { expected: item?.modRevision ?? 0 }, signal);
    expect(await failure(get(configMaps, name))).toMatchObject({
      code: 500,
      message: expect.stringContaining(key),
    });
    expect(await codeOf(remove(configMaps, name))).toBe(500);
    const refused = configMaps.delete({
      ...scope(),
      path: { namespace, name, subresource: '' },
      options: parseDeleteOptions(params(''), unsafe, replica.naming),
      authorizeUnsafeDelete: () => Promise.reject(new StatusError(403, 'Forbidden', 'no')),
    });
    expect(await codeOf(refused)).toBe(403);
    expect((await remove(configMaps, name, unsafe)).kind).toBe('status');
    expect(await codeOf(get(configMaps, name))).toBe(404);
  });
});

const objectOf = async (run: Promise<DeleteAnswer>): Promise<Sent> => {
  const answer = await run;
  if (answer.kind !== 'object') throw new Error('the answer is a Status');
  return sent(answer.item);
};

describe('lists', () => {
  const secretsIn = async (at: string): Promise<{ store: ResourceStore; versions: string[] }> => {
    const store = replica.store('secrets');
    const versions: string[] = [];
    for (const [index, name] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      const labels = { parity: index % 2 === 0 ? 'even' : 'odd' };
      const answer = await store.create({
        ...scope(),
        namespace: at,
        body: { object: { metadata: { name, labels } }, problems: [] },
        options: parseWriteOptions(params(''), 'create', replica.naming),
      });
      versions.push(sent(answer.item).metadata.resourceVersion);
    }
    return { store, versions };
  };

  test('go on from chunk to chunk in one snapshot', async () => {
    const { store } = await secretsIn('chunks');
    const one = await list(store, 'limit=2', 'chunks');
    expect([namesOf(one), one.remainingItemCount]).toEqual([['a', 'b'], 3]);
    await store.delete({
      ...scope(),
      path: { namespace: 'chunks', name: 'c', subresource: '' },
      options: parseDeleteOptions(params(''), undefined, replica.naming),
    });
    const two = await list(store, `limit=2&continue=${one.continueToken}`, 'chunks');
    expect([namesOf(two), two.remainingItemCount, two.revision]).toEqual([['c', 'd'], 1, one.revision]);
    const three = await list(store, `limit=2&continue=${two.continueToken}`, 'chunks');
    expect([namesOf(three), three.remainingItemCount, three.continueToken]).toEqual([
      ['e'], undefined, '',
    ]);
    expect(namesOf(await list(store, '', 'chunks'))).toEqual(['a', 'b', 'd', 'e']);
  });

  test('a token is good on another replica, but not for another list', async () => {
    const { store } = await secretsIn('tokens');
    const { continueToken } = await list(store, 'limit=2', 'tokens');
    const other = await registry.replica();
    const rest = await list(other.store('secrets'), `continue=${continueToken}`, 'tokens');
    expect(namesOf(rest)).toEqual(['c', 'd', 'e']);
    expect(await codeOf(list(store, `continue=${continueToken}`, 'chunks'))).toBe(400);
    const labelled = `continue=${continueToken}&labelSelector=parity%3Deven`;
    expect(await codeOf(list(store, labelled, 'tokens'))).toBe(400);
  });

  test('read at versions', async () => {
    const { store, versions } = await secretsIn('versions');
    const old = versions[2] ?? '';
    const at = async (query: string): Promise<unknown[]> => {
      const answer = await list(store, query, 'versions');
      return [namesOf(answer).join(''), answer.remainingItemCount];
    };
    expect(await at(`resourceVersion=${old}`)).toEqual(['abcde', undefined]);
    expect(await at(`resourceVersion=${old}&limit=2`)).toEqual(['ab', 1]);
    expect(await at(`resourceVersion=${old}&resourceVersionMatch=Exact`)).toEqual(['abc', undefined]);
    expect(await at(`resourceVersion=${old}&resourceVersionMatch=NotOlderThan&limit=2`)).toEqual(['ab', 3]);
    expect(await codeOf(at('resourceVersion=abc'))).toBe(400);
    expect(await failure(at('resourceVersion=999999999999999'))).toMatchObject({
      code: 504,
      details: { retryAfterSeconds: 1 },
    });
  });

  test('select by labels and fields', async () => {
    const { store } = await secretsIn('select');
    const select = async (query: string): Promise<unknown[]> => {
      const answer = await list(store, query, 'select');
      return [namesOf(answer).join(''), answer.remainingItemCount, answer.continueToken !== ''];
    };
    expect(await select('labelSelector=parity%3Deven&limit=2')).toEqual(['ac', undefined, true]);
    expect(await select('fieldSelector=metadata.name%3Db')).toEqual(['b', undefined, false]);
    expect(await select('fieldSelector=metadata.name%3Db,metadata.name%3Dc')).toEqual(['', undefined, false]);
    expect(await select('fieldSelector=metadata.namespace%3Dzzz')).toEqual(['', undefined, false]);
    expect(await codeOf(select('fieldSelector=spec.x%3D1'))).toBe(400);
    expect(await codeOf(select('labelSelector=a%3Db%3Dc'))).toBe(400);
  });

  test('an expired token’s 410 carries one that reads the rest', async () => {
    const { store } = await secretsIn('expired');
    const { continueToken, revision } = await list(store, 'limit=2', 'expired');
    const late = await registry.replica();
    await create(configMaps, configMap(fresh()));
    await registry.etcd.etcdctl('compact', String(revision + 1));
    const error = await failure(
      list(late.store('secrets'), `continue=${continueToken}`, 'expired'),
    );
    expect([error.code, error.reason]).toEqual([410, 'Expired']);
    const token = (error.toBody().metadata as { continue?: string }).continue ?? '';
    expect(namesOf(await list(store, `continue=${token}`, 'expired'))).toEqual(['c', 'd', 'e']);
  });

  test('deletecollection deletes what is selected and answers it', async () => {
    const { store } = await secretsIn('collection');
    const clear = async (query: string): Promise<string[]> =>
      namesOf(
        await store.deleteCollection({
          ...scope(),
          namespace: 'collection',
          list: parseListOptions(params(query)),
          options: parseDeleteOptions(params(query), undefined, replica.naming),
        }),
      );
    expect(await clear('labelSelector=parity%3Deven&dryRun=All')).toEqual(['a', 'c', 'e']);
    expect(await clear('labelSelector=parity%3Deven')).toEqual(['a', 'c', 'e']);
    expect(await clear('limit=1')).toEqual(['b']);
    expect(namesOf(await list(store, '', 'collection'))).toEqual(['d']);
    expect(await clear('')).toEqual(['d']);
    expect(await clear('')).toEqual([]);
  });
});

describe('watch', () => {
  const watch = async (query: string): Promise<string[]> => {
    const options = parseListOptions(params(query));
    const { signal } = scope();
    const answer = await configMaps.watch({ namespace, name: 'watched', options, signal });
    const seen: string[] = [];
    while (seen.at(-1) !== 'DELETED') {
      for (const { type } of (await answer.cursor.next(signal)) ?? []) seen.push(type);
    }
    answer.cursor.close();
    return seen;
  };

  test('of one object from now on shows its changes', async () => {
    const all = watch('sendInitialEvents=false&resourceVersionMatch=NotOlderThan');
    await new Promise((resolve) => setTimeout(resolve, 200));
    await create(configMaps, configMap('watched'));
    await patch(configMaps, 'watched', { data: { k: 'v' } });
    await patch(configMaps, 'watched', { data: { k: 'v' } });
    await remove(configMaps, 'watched');
    expect(await all).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
  });
});

describe('writes on an old cache', () => {
  test('are decided on what etcd holds', async () => {
    const other = await registry.replica();
    const theirs = other.store('configmaps');
    // Their cache stops here: everything that follows is news to it.
    await other.cache.stop();
    const name = fresh();
    const made = await create(configMaps, configMap(name, { data: { k: '1' } }));
    expect((await patch(theirs, name, { data: { l: '2' } }))['data']).toEqual({ k: '1', l: '2' });
    const now = await get(configMaps, name);
    const stated = configMap(name, {}, { resourceVersion: now.metadata.resourceVersion });
    const put = await update(theirs, name, stated);
    expect(sent(put.item).metadata.uid).toBe(made.metadata.uid);
    await remove(theirs, name);
    expect(await codeOf(get(configMaps, name))).toBe(404);
  });
});

describe('other versions', () => {
  test('show and take the same objects', async () => {
    const newer = replica.store('autoscaling/horizontalpodautoscalers', 'v2');
    const older = replica.store('autoscaling/horizontalpodautoscalers', 'v1');
    const name = fresh();
    const made = await create(older, {
      metadata: { name },
      spec: {
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 80,
        scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
      },
    });
    expect(made['apiVersion']).toBe('autoscaling/v1');
    const shown = await get(newer, name);
    expect(shown['apiVersion']).toBe('autoscaling/v2');
    expect(shown.metadata).toEqual(made.metadata);
    const patched = await patch(newer, name, { spec: { maxReplicas: 5 } });
    expect(patched['apiVersion']).toBe('autoscaling/v2');
    const [item] = (await list(older)).items;
    expect(Buffer.from(item?.listJson() ?? []).toString()).toMatch(/^\{"metadata":\{"name":/);
    expect((await get(older, name))['spec']).toMatchObject({
      maxReplicas: 5,
      targetCPUUtilizationPercentage: 80,
    });
  });
});
