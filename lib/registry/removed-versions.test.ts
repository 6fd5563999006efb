import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ApiObject } from '../codec/codec.ts';
import { openStored } from '../codec/stored-form.ts';
import { createStoredMedia } from '../codec/stored-media.ts';
import { parseApiVersion } from '../api/resource-records.ts';
import { convertObject } from '../api/convert.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import { createKeyspace } from '../storage-etcd/keys.ts';
import { olderObjects } from './testing/older-objects.ts';
import type { OlderObject } from './testing/older-objects.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { failure, fresh, VerbDriver } from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

const keyspace = createKeyspace('/registry');
let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
});

afterAll(async () => {
  await registry.stop();
});

const resolved = <T>(value: T): T => JSON.parse(replica.naming.resolve(JSON.stringify(value))) as T;

type Form = 'plain JSON' | 'protobuf' | 'cbor';

interface Put {
  readonly name: string;
  readonly key: string;
  readonly resource: ResourceInfo;
}

/** What another release left in etcd. */
async function put(given: OlderObject, form: Form): Promise<Put> {
  const { apiVersion, kind, served, content, metadata, version = 'v1' } = resolved(given);
  const resource = replica.store(served, version).resource;
  const stored = replica.scheme.storageResource(resource);
  const { name = fresh(), ...more } = (metadata ?? {}) as { name?: string };
  const namespace = resource.namespaced ? 'ns' : '';
  const own = { name, ...(namespace === '' ? {} : { namespace }), ...more };
  const identity = { uid: fresh(), creationTimestamp: '2020-01-02T03:04:05Z' };
  const object = { kind, apiVersion, metadata: { ...own, ...identity }, ...content } as ApiObject;
  const key = keyspace.key(stored.storagePrefix, namespace, name);
  const type = replica.scheme.kind({ ...parseApiVersion(apiVersion), kind });
  if (type === undefined) throw new Error(`${apiVersion} ${kind}`);
  const plain = Buffer.from(JSON.stringify(object));
  const value =
    form === 'plain JSON'
      ? plain
      : createStoredMedia(form, replica.naming).write(object, { ...stored, type }, plain);
  const { signal } = new AbortController();
  const current = await replica.storage.get(key, signal);
  const expected = current.item?.modRevision ?? 0;
  const written = await replica.storage.put(key, value, { expected }, signal);
  if (!written.ok) throw new Error('nobody else writes');
  return { name, key, resource };
}

const at = (value: unknown, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((of, name) => (of as Record<string, unknown> | undefined)?.[name], value);

describe.each(['plain JSON', 'protobuf', 'cbor'] as const)('an object stored as %s in', (form) => {
  const rows = olderObjects.map(
    (row, index) => [row.apiVersion, row.kind, row.removed, index] as const,
  );
  test.each(rows)('%s %s (removed in %s, row %i) is read, served and rewritten', async (...of) => {
    const row = olderObjects[of[3]];
    if (row === undefined) throw new Error('there is such a row');
    const { name, key, resource } = await put(row, form);
    const { served, version = 'v1', shows, lacks = [] } = resolved(row);
    const store = replica.store(served, version);
    const object = await verbs.get(store, name);
    expect(object).toMatchObject({
      ...shows,
      kind: row.kind,
      apiVersion: apiVersionOf(resource),
    });
    for (const path of lacks) expect(at(object, path)).toBeUndefined();
    await verbs.patch(store, name, { metadata: { annotations: { touched: form } } });
    const { item } = await replica.storage.get(key, new AbortController().signal);
    const opened = openStored(item?.value ?? new Uint8Array());
    const stored = JSON.parse(Buffer.from(opened?.payload ?? '').toString()) as ApiObject;
    expect(stored.apiVersion).toBe(apiVersionOf(replica.scheme.storageResource(resource)));
    expect(stored.metadata?.annotations?.['touched']).toBe(form);
  });
});

test.each([
  ['Lease', ''],
  ['Deployment', 'status'],
  ['Deployment', 'scale'],
])('a write that changes nothing rewrites a %s of an older version, once: %j', async (...of) => {
  const [kindOf, subresource] = of;
  const row = olderObjects.find(({ kind }) => kind === kindOf);
  if (row === undefined) throw new Error('there is such a row');
  const { name, key } = await put(row, 'plain JSON');
  const { signal } = new AbortController();
  const before = (await replica.storage.get(key, signal)).item;
  const store = replica.store(resolved(row).served);
  const write = (): Promise<Sent> => verbs.patch(store, name, {}, { subresource });
  const { resourceVersion } = (await write()).metadata;
  const after = (await replica.storage.get(key, signal)).item;
  expect(String(after?.modRevision)).toBe(resourceVersion);
  expect(after?.modRevision).toBeGreaterThan(before?.modRevision ?? 0);
  expect(openStored(before?.value ?? new Uint8Array())).toBeUndefined();
  expect(Buffer.from(after?.value ?? []).toString()).toContain(
    `"apiVersion":"${apiVersionOf(store.resource)}"`,
  );
  expect((await write()).metadata.resourceVersion).toBe(resourceVersion);
});

describe('what cannot be read', () => {
  test('a version that was never known makes the object corrupted, and says so', async () => {
    const row = olderObjects.find(({ kind }) => kind === 'Lease');
    if (row === undefined) throw new Error('there is such a row');
    const { name, key } = await put(row, 'plain JSON');
    const { signal } = new AbortController();
    const { item } = await replica.storage.get(key, signal);
    const text = Buffer.from(item?.value ?? '')
      .toString()
      .replace('/v1beta1', '/v9');
    await replica.storage.put(key, Buffer.from(text), { expected: item?.modRevision ?? 0 }, signal);
    const store = replica.store(resolved(row).served);
    expect((await failure(verbs.get(store, name))).message).toContain(
      'is no Lease in a version that is known',
    );
  });
});

describe('reviews, which nothing stores', () => {
  test('subject access reviews name several groups in the stable version', () => {
    const spec = { group: ['g'], user: 'u' };
    const apiVersion = replica.naming.resolve('authorization.{v}/v1beta1');
    const stable = replica.naming.resolve('authorization.{v}/v1');
    const review = { kind: 'SubjectAccessReview', apiVersion, metadata: {}, spec };
    const converted = convertObject(review, stable, replica.scheme);
    expect(converted.spec).toEqual({ groups: ['g'], user: 'u' });
    expect(convertObject(converted, apiVersion, replica.scheme)).toEqual(review);
  });
  test('token reviews are the same', () => {
    const apiVersion = replica.naming.resolve('authentication.{v}/v1beta1');
    const stable = replica.naming.resolve('authentication.{v}/v1');
    const review = { kind: 'TokenReview', apiVersion, spec: { token: 't' } };
    expect(convertObject(review, stable, replica.scheme)).toEqual({
      ...review,
      apiVersion: stable,
    });
  });
});

test('pod security policies are gone: neither version nor resource is known', () => {
  for (const apiVersion of ['extensions/v1beta1', 'policy/v1beta1']) {
    const of = { ...parseApiVersion(apiVersion), kind: 'PodSecurityPolicy' };
    expect(replica.scheme.kind(of)).toBeUndefined();
  }
  expect(
    replica.scheme.storedResources.find(({ kind }) => kind.kind === 'PodSecurityPolicy'),
  ).toBeUndefined();
});
