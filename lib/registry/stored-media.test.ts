import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { namingProfile } from '../api/vendor.ts';
import { jsonCodec } from '../codec/json.ts';
import { encodeStored, openStored } from '../codec/stored-form.ts';
import { createStoredMedia, storedMediaName } from '../codec/stored-media.ts';
import { createKeyspace } from '../storage-etcd/keys.ts';
import type { StoredItem } from '../storage-etcd/storage.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { bytesOf, configMap, fresh, sent, VerbDriver } from './testing/verb-driver.ts';

const forms = ['json', 'protobuf', 'cbor'] as const;
type Form = (typeof forms)[number];
const starts: Readonly<Record<Form, string>> = {
  json: '{"media":"json"',
  protobuf: 'k8s\0',
  cbor: '\xd9\xd9\xf7',
};
const keyspace = createKeyspace('/registry');
const replicas = new Map<Form, Replica>();
let registry: RegistryOnEtcd;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  for (const storedMedia of forms)
    replicas.set(storedMedia, await registry.replica({ storedMedia }));
});

afterAll(async () => {
  await registry.stop();
});

const replicaOf = (form: Form): Replica => {
  const replica = replicas.get(form);
  if (replica === undefined) throw new Error(form);
  return replica;
};
const inEtcd = async (name: string): Promise<StoredItem> => {
  const key = keyspace.key('configmaps', 'ns', name);
  const { item } = await replicaOf('json').storage.get(key, new AbortController().signal);
  if (item === undefined) throw new Error(`${key} is stored`);
  return item;
};
const startOf = ({ value }: StoredItem, form: Form): string =>
  Buffer.from(value).toString('latin1', 0, starts[form].length);

describe.each(forms)('a server that stores %s', (form) => {
  test('writes that form and answers as every other does', async () => {
    const name = fresh();
    const verbs = new VerbDriver(replicaOf(form));
    const created = await verbs.create(replicaOf(form).store('configmaps'), {
      ...configMap(name, { data: { a: 'b', __proto__x: 'c' } }),
    });
    expect(startOf(await inEtcd(name), form)).toBe(starts[form]);
    for (const other of forms) {
      const read = new VerbDriver(replicaOf(other));
      const { resourceVersion } = created.metadata;
      expect(await read.get(replicaOf(other).store('configmaps'), name, resourceVersion)).toEqual(
        created,
      );
    }
  });

  test('changes what others wrote, in its own form', async () => {
    for (const other of forms) {
      const name = fresh();
      await new VerbDriver(replicaOf(other)).create(
        replicaOf(other).store('configmaps'),
        configMap(name, { data: { a: 'b' } }),
      );
      const store = replicaOf(form).store('configmaps');
      const patched = await new VerbDriver(replicaOf(form)).patch(store, name, {
        data: { c: 'd' },
      });
      expect(patched).toMatchObject({ data: { a: 'b', c: 'd' } });
      expect(startOf(await inEtcd(name), form)).toBe(starts[form]);
    }
  });

  test('writes nothing when nothing changes', async () => {
    const name = fresh();
    const store = replicaOf(form).store('configmaps');
    const verbs = new VerbDriver(replicaOf(form));
    const created = await verbs.create(store, configMap(name, { data: { a: 'b' } }));
    const again = await verbs.patch(store, name, { data: { a: 'b' } });
    expect(again.metadata.resourceVersion).toBe(created.metadata.resourceVersion);
    expect((await inEtcd(name)).modRevision).toBe(Number(created.metadata.resourceVersion));
  });

  test('writes what others wrote in its own form, although nothing else changes', async () => {
    for (const other of forms.filter((one) => one !== form)) {
      const name = fresh();
      const given = configMap(name, { data: { a: 'b' } });
      const made = await new VerbDriver(replicaOf(other)).create(
        replicaOf(other).store('configmaps'),
        given,
      );
      const store = replicaOf(form).store('configmaps');
      const verbs = new VerbDriver(replicaOf(form));
      const { resourceVersion, ...metadata } = made.metadata;
      await verbs.get(store, name, resourceVersion); // Its memory has it.
      const { item } = await verbs.update(store, name, { ...made, metadata });
      const again = sent(item);
      expect(again).toEqual({
        ...made,
        metadata: { ...metadata, resourceVersion: expect.any(String) },
      });
      const rewritten = await inEtcd(name);
      expect(startOf(rewritten, form)).toBe(starts[form]);
      expect(again.metadata.resourceVersion).toBe(String(rewritten.modRevision));
      expect(rewritten.modRevision).toBeGreaterThan(Number(resourceVersion));
      await verbs.update(store, name, { ...made, metadata });
      expect((await inEtcd(name)).modRevision).toBe(rewritten.modRevision);
    }
  });
});

test('an update that changes nothing rewrites bytes of an older schema generation', async () => {
  const name = fresh();
  const replica = replicaOf('json');
  const [store, verbs] = [replica.store('configmaps'), new VerbDriver(replica)];
  await verbs.create(store, configMap(name, { data: { a: 'b' } }));
  const written = await inEtcd(name);
  const text = Buffer.from(written.value).toString();
  const value = Buffer.from(text.replace(/"schema":"[^"]*"/, '"schema":"of an older one"'));
  const { signal } = new AbortController();
  const expected = written.modRevision;
  const put = await replica.storage.put(written.key, value, { expected }, signal);
  expect(put.ok).toBe(true);
  await verbs.patch(store, name, { data: { a: 'b' } });
  const rewritten = await inEtcd(name);
  expect(Buffer.from(rewritten.value).toString()).toBe(text);
  expect(rewritten.modRevision).toBeGreaterThan(expected + 1);
});

test('plain forms hold no resourceVersion, and kinds without Protobuf stay JSON', () => {
  const { scheme, naming } = replicaOf('json');
  const found = scheme.resource({ group: '', version: 'v1', resource: 'configmaps' });
  if (found === undefined) throw new Error('config maps are served');
  const object = {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name: 'a', resourceVersion: '7' },
  };
  for (const form of ['protobuf', 'cbor'] as const) {
    const media = createStoredMedia(form, naming);
    const bytes = media.write(object, found, Buffer.from('{}'));
    expect(openStored(bytes)).toBeUndefined();
    expect(media.read(bytes, () => found.type).metadata?.resourceVersion).toBeUndefined();
  }
  const type = { ...found.type, options: { jsonOnly: true } };
  const canonical = Buffer.from('{}');
  expect(createStoredMedia('protobuf', naming).write(object, { ...found, type }, canonical)).toBe(
    canonical,
  );
});

test.each(forms)('an object that was taken can be read again from %s', (form) => {
  const { scheme, naming } = replicaOf('json');
  const media = createStoredMedia(form, naming);
  const args = Array.from({ length: 510_000 }, () => '');
  const pod = { kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [{ name: 'c', args }] } };
  let schema: object = { type: 'object' };
  for (let depth = 0; depth < 88; depth += 1) schema = { items: schema };
  const versions = [{ name: 'v1', schema: { openAPIV3Schema: schema } }];
  const definition = {
    kind: 'CustomResourceDefinition',
    metadata: { name: 'a' },
    spec: { versions },
  };
  for (const body of [pod, definition]) {
    const resource = scheme.storedResources.find(({ kind }) => kind.kind === body.kind);
    if (resource === undefined) throw new Error(body.kind);
    const { object } = jsonCodec.decode(bytesOf(body), resource.type);
    const bytes = media.write(object, resource, encodeStored(object, resource).value);
    expect(media.read(bytes, () => resource.type).spec).toMatchObject(body.spec);
  }
});

describe('the flag', () => {
  const naming = namingProfile('kubernetes');
  test.each([
    ['application/json', 'json'],
    ['application/vnd.kubernetes.protobuf', 'protobuf'],
    ['application/cbor', 'cbor'],
  ])('%s', (mediaType, name) => {
    expect(storedMediaName(mediaType, { naming, hasCbor: true })).toBe(name);
  });
  test.each(['application/yaml', '', 'application/vnd.svc.protobuf'])(
    '%j is refused',
    (mediaType) => {
      expect(() => storedMediaName(mediaType, { naming, hasCbor: true })).toThrow(/must be one of/);
    },
  );
  test('CBOR needs its gate', () => {
    expect(() => storedMediaName('application/cbor', { naming, hasCbor: false })).toThrow(
      'must be one of application/json, application/vnd.kubernetes.protobuf',
    );
  });
});
