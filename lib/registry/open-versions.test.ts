// A kind whose versions have schemas of their own: the version of the request judges a write, what
// is stored has only what its own version knows, and what others stored is shown as far as it goes.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseListOptions } from './options.ts';
import { cborCodec } from '../codec/cbor.ts';
import type { ApiObject } from '../codec/codec.ts';
import { openStored } from '../codec/stored-form.ts';
import { createKeyspace } from '../storage-etcd/keys.ts';
import type { ResourceStore } from './resource-store.ts';
import { openStores } from './testing/open-stores.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { causesOf, failure, fresh, params, sent, VerbDriver } from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let v1: ResourceStore;
let v2: ResourceStore;
/** Of another kind, whose stored version alone has a default. */
let plain: ResourceStore;

const text = { type: 'string' };
const schemaOf = (version: string, properties: object): object => ({
  type: 'object',
  properties: {
    apiVersion: { ...text, enum: [`example.com/${version}`] },
    kind: { ...text, enum: ['Thing'] },
    spec: { type: 'object', properties },
    status: { type: 'object', properties: { note: text } },
  },
});
const schemas = {
  v1: schemaOf('v1', { shared: { type: 'integer', maximum: 10 }, a: { ...text, default: 'one' } }),
  v2: schemaOf('v2', { shared: { type: 'integer', maximum: 5 }, b: { ...text, default: 'two' } }),
};

function serve(of: Readonly<Record<'v1' | 'v2', object>>): void {
  const stores = openStores(replica, { schemas: of, stored: 'v2', subresources: ['status'] });
  const [one, two] = [stores.get('v1'), stores.get('v2')];
  if (one === undefined || two === undefined) throw new Error('both versions are served');
  [v1, v2] = [one, two];
}

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  serve(schemas);
  const others = { v1: schemaOf('v1', { shared: {} }), v2: schemas.v2 };
  const kind = { resource: 'others', stored: 'v2', subresources: ['status'] } as const;
  const store = openStores(replica, { ...kind, schemas: others }).get('v1');
  if (store === undefined) throw new Error('others are served');
  plain = store;
});
afterAll(() => registry.stop());

const key = (name: string): string =>
  createKeyspace('/registry').key('example.com/things', 'ns', name);
const signal = (): AbortSignal => AbortSignal.timeout(30_000);
async function stored(name: string): Promise<Record<string, unknown>> {
  const { item } = await replica.storage.get(key(name), signal());
  const payload = openStored(item?.value ?? Buffer.of())?.payload ?? Buffer.from('null');
  return JSON.parse(Buffer.from(payload).toString()) as Record<string, unknown>;
}
const thing = (name: string, spec: object, resourceVersion?: string): object => ({
  metadata: { name, ...(resourceVersion === undefined ? {} : { resourceVersion }) },
  spec,
});

describe('a write in another version than the stored one', () => {
  test('is judged by the schema of the request, its type members too', async () => {
    const name = fresh();
    const made = await verbs.create(v1, thing(name, { shared: 7 }));
    expect(made['apiVersion']).toBe('example.com/v1');
    const inV2 = verbs.create(v2, thing(fresh(), { shared: 7 }));
    expect(await causesOf(inV2)).toEqual(['spec.shared FieldValueInvalid']);
    const tooMuch = verbs.patch(v1, name, { spec: { shared: 11 } });
    expect(await causesOf(tooMuch)).toEqual(['spec.shared FieldValueInvalid']);
    const change = thing(name, { shared: 8 }, made.metadata.resourceVersion);
    expect(sent((await verbs.update(v1, name, change)).item)['spec']).toEqual({ shared: 8 });
  });

  test('stores what the stored version knows, without its defaults', async () => {
    const name = fresh();
    await verbs.create(v1, thing(name, { shared: 1, a: 'x' }));
    expect(await stored(name)).toMatchObject({ apiVersion: 'example.com/v2' });
    expect((await stored(name))['spec']).toEqual({ shared: 1 });
    await verbs.apply(v1, name, thing(name, { shared: 2 }), { query: 'fieldManager=a&force=true' });
    expect((await stored(name))['spec']).toEqual({ shared: 2 });
  });

  test('what is read has the defaults of the stored version, not of another', async () => {
    const name = fresh();
    await verbs.create(v1, thing(name, { shared: 1 }));
    expect((await verbs.get(v2, name))['spec']).toEqual({ shared: 1, b: 'two' });
    expect((await verbs.get(v1, name))['spec']).toEqual({ shared: 1 });
    expect((await verbs.list(v2)).items.map((item) => sent(item)['spec'])).toContainEqual({
      shared: 1,
      b: 'two',
    });
  });

  test('in a dry run answers in the version of the request', async () => {
    const made = await verbs.create(v1, thing(fresh(), { shared: 7 }), 'dryRun=All');
    expect([made['apiVersion'], made['spec']]).toEqual(['example.com/v1', { shared: 7 }]);
  });

  test('that changes nothing keeps the version of the object', async () => {
    const name = fresh();
    const { metadata } = await verbs.create(plain, thing(name, { shared: 1 }));
    const { resourceVersion } = metadata;
    const given = thing(name, { shared: 1 }, resourceVersion);
    for (const write of [
      () => verbs.patch(plain, name, { spec: { shared: 1 } }),
      () => verbs.patch(plain, name, { status: null }, { subresource: 'status' }),
      async () => sent((await verbs.update(plain, name, given)).item),
    ] satisfies (() => Promise<Sent>)[]) {
      const shown = await write();
      expect(shown.metadata).toMatchObject({ resourceVersion, generation: 1 });
    }
    const applied = { query: 'fieldManager=b' };
    const body = thing(name, { shared: 1 });
    const first = await verbs.apply(plain, name, body, applied);
    const again = await verbs.apply(plain, name, body, applied);
    expect(again.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  test('a write of the status keeps the rest, in both versions', async () => {
    const name = fresh();
    await verbs.create(v1, thing(name, { shared: 1 }));
    const body = { spec: { shared: 2 }, status: { note: 'n' } };
    const shown = await verbs.patch(v1, name, body, { subresource: 'status' });
    expect([shown['spec'], shown['status']]).toEqual([{ shared: 1 }, { note: 'n' }]);
    expect(shown.metadata['generation']).toBe(1);
  });
});

describe('what others stored', () => {
  const put = async (name: string, value: Uint8Array): Promise<void> => {
    const result = await replica.storage.put(key(name), value, { expected: 0 }, signal());
    expect(result.ok).toBe(true);
  };
  const object = (name: string, metadata: object = {}): object => ({
    apiVersion: 'example.com/v2',
    kind: 'Thing',
    metadata: { name, namespace: 'ns', uid: 'u', ...metadata },
    spec: { shared: 3, unknown: 1, b: null },
  });
  const json = (value: object): Uint8Array => Buffer.from(JSON.stringify(value));

  test.each([
    ['plain JSON', json],
    ['CBOR', (value: object) => cborCodec.encode(value as ApiObject, v2.resource.type)],
  ])('%s is read: pruned and defaulted', async (_form, encode) => {
    const name = fresh();
    await put(name, encode(object(name)));
    expect((await verbs.get(v2, name))['spec']).toEqual({ shared: 3, b: 'two' });
    expect((await verbs.get(v1, name))['spec']).toEqual({ shared: 3 });
  });

  test('plain JSON in the storage version stays when nothing changes', async () => {
    const name = fresh();
    const spec = { shared: 3, b: 'two' };
    const whole = { creationTimestamp: '2024-01-01T00:00:00Z', generation: 1 };
    await put(name, json({ ...object(name, whole), spec }));
    const before = await verbs.get(v2, name);
    const after = sent((await verbs.update(v2, name, before)).item);
    expect(after.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  test('malformed metadata is dropped member by member, a generation is there', async () => {
    const name = fresh();
    const labels = { good: 'x', bad: 1 };
    const wrong = {
      labels,
      annotations: 5,
      finalizers: ['a.b/c'],
      generation: 0,
      ownerReferences: {},
    };
    await put(name, json(object(name, wrong)));
    const { metadata } = await verbs.get(v2, name);
    expect(metadata).toMatchObject({ name, uid: 'u', finalizers: ['a.b/c'], generation: 1 });
    expect(Object.keys(metadata)).not.toContain('labels');
    expect(Object.keys(metadata)).not.toContain('annotations');
    const patched = await verbs.patch(v2, name, { metadata: { labels: { a: 'b' } } });
    expect(patched.metadata).toMatchObject({ labels: { a: 'b' }, generation: 1 });
  });

  test('metadata that is none hides no object', async () => {
    const name = fresh();
    await put(name, json({ ...object(name), metadata: 'x' }));
    expect((await verbs.get(v2, name))['spec']).toEqual({ shared: 3, b: 'two' });
  });

  test('changes behind the server reach its watches', async () => {
    const name = fresh();
    const options = parseListOptions(params(`watch=true&fieldSelector=metadata.name=${name}`));
    const request = { namespace: 'ns', name: '', options, signal: signal() };
    const { cursor } = await v1.watch(request);
    await put(name, json(object(name)));
    const seen = [];
    while (seen.length === 0) {
      const events = (await cursor.next(request.signal)) ?? [];
      seen.push(...events.flatMap(({ item }) => (item === undefined ? [] : [sent(item)['spec']])));
    }
    expect(seen).toEqual([{ shared: 3 }]);
    cursor.close();
  });
});

test('a write that changes nothing keeps the version under another schema, too', async () => {
  const name = fresh();
  const { metadata } = await verbs.create(v2, thing(name, { shared: 1, b: 'x' }));
  replica.cache.remove(v2.resource);
  const properties = { shared: { type: 'integer', maximum: 50 }, b: text, c: text };
  serve({ ...schemas, v2: schemaOf('v2', properties) });
  const patched = await verbs.patch(v2, name, { spec: { shared: 1 } });
  expect(patched.metadata.resourceVersion).toBe(metadata.resourceVersion);
  const changed = await verbs.patch(v2, name, { spec: { c: 'now' } });
  expect(changed['spec']).toEqual({ shared: 1, b: 'x', c: 'now' });
});

test('an update of an absent object is a 404, one of a present one needs a version', async () => {
  const name = fresh();
  expect((await failure(verbs.update(v1, name, thing(name, {})))).code).toBe(404);
  await verbs.create(v1, thing(name, {}));
  expect(await causesOf(verbs.update(v1, name, thing(name, {})))).toEqual([
    'metadata.resourceVersion FieldValueInvalid',
  ]);
});
