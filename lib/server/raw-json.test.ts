// Raw JSON from one client to another: whatever encoding it comes in, is stored in and goes out in,
// on whichever replica, its text stays what it was.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { compacted } from '../api/json-spans.ts';
import type { JsonObject } from '../api/type-info.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { Item, WatchCursor, WatchEvent } from '../cacher/resource-view.ts';
import { cborCodec } from '../codec/cbor.ts';
import type { Codec } from '../codec/codec.ts';
import { createEncodings } from '../codec/encodings.ts';
import { jsonCodec } from '../codec/json.ts';
import { createProtobufCodec } from '../codec/protobuf.ts';
import { encodeStored } from '../codec/stored-form.ts';
import { field, message } from '../codec/testing/sample-types.ts';
import { yamlCodec } from '../codec/yaml.ts';
import { parseDeleteOptions, parseListOptions, parseWriteOptions } from '../registry/options.ts';
import type { ListAnswer, ListRequest, ObjectPath } from '../registry/requests.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import { causesOf, fresh, params, scope } from '../registry/testing/verb-driver.ts';
import { createKeyspace } from '../storage-etcd/keys.ts';
import type { HttpRequest } from './request-context.ts';
import { createSerializers } from './serializers.ts';

const stored = ['json', 'protobuf', 'cbor'] as const;
type Stored = (typeof stored)[number];
const replicas = new Map<Stored, Replica>();
let registry: RegistryOnEtcd;
let codecs: Readonly<Record<'json' | 'protobuf' | 'yaml' | 'cbor', Codec>>;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  for (const storedMedia of stored) {
    replicas.set(storedMedia, await registry.replica({ storedMedia }));
  }
  const protobuf = createProtobufCodec(replicaOf('json').naming.protobufMediaType);
  codecs = { json: jsonCodec, protobuf, yaml: yamlCodec, cbor: cborCodec };
});

afterAll(async () => {
  await registry.stop();
});

function replicaOf(form: Stored): Replica {
  const replica = replicas.get(form);
  if (replica === undefined) throw new Error(form);
  return replica;
}

interface Kind {
  readonly store: (replica: Replica) => ResourceStore;
  /** JSON of a body; `raw` is the text in it. */
  readonly body: (name: string, raw: string, metadata?: string) => string;
}

const controllerRevision: Kind = {
  store: (replica) => replica.store('apps/controllerrevisions'),
  body: (name, raw, metadata = '') =>
    `{"metadata":{"name":"${name}"${metadata}},"revision":1,"data":${raw}}`,
};
const deviceClass: Kind = {
  store: (replica) => replica.store(`resource.${replica.naming.resolve('{v}')}/deviceclasses`),
  body: (name, raw, metadata = '') =>
    `{"spec":{"config":[{"opaque":{"driver":"d.example.com","parameters":${raw}}}]},` +
    `"metadata":{"name":"${name}"${metadata}}}`,
};

const texts = [
  '{"b":1.0,"a":1e400,"10":-0,"9":12345678901234567890.10,"a":{"c":1,"c":2}}',
  '{"a":"\\u0026\\u003c\\u003e\\u2028\\/\\u00e9é","__proto__":{"x":1},"s":"\\ud800"}',
  '{"b":"<&>\u2028",\n  "a" : [ 1.0, { } ]}',
];

const pathOf = (store: ResourceStore, name: string): ObjectPath => ({
  namespace: store.resource.namespaced ? 'ns' : '',
  name,
  subresource: '',
});

/** Verbs of one kind on one replica. */
function verbsOf(form: Stored, kind: Kind) {
  const replica = replicaOf(form);
  const store = kind.store(replica);
  const { type } = store.resource;
  const listing = (query: string): ListRequest => {
    const options = parseListOptions(params(query));
    return { namespace: '', name: '', options, signal: scope().signal };
  };
  return {
    replica,
    store,
    create: async (body: Uint8Array | string, codec = jsonCodec, query = ''): Promise<Item> => {
      const options = parseWriteOptions(params(query), 'create', replica.naming);
      const decoded = codec.decode(Buffer.from(body), type);
      return (await store.create({ ...scope(), path: pathOf(store, ''), body: decoded, options }))
        .item;
    },
    update: async (name: string, body: string): Promise<Item> => {
      const options = parseWriteOptions(params(''), 'update', replica.naming);
      const path = pathOf(store, name);
      const decoded = jsonCodec.decode(Buffer.from(body), type);
      return (await store.update({ ...scope(), path, body: decoded, options })).item;
    },
    patch: async (name: string, patch: string, query = ''): Promise<Item> => {
      const as = patch.startsWith('[') ? 'json' : 'merge';
      const options = parseWriteOptions(params(query), as, replica.naming);
      const path = pathOf(store, name);
      const request = { ...scope(), path, kind: as, patch: Buffer.from(patch), options } as const;
      return (await store.patch(request)).item;
    },
    get: (name: string, revision: number): Promise<Item> =>
      store.get({
        path: pathOf(store, name),
        options: { resourceVersion: String(revision) },
        signal: scope().signal,
      }),
    list: (query = ''): Promise<ListAnswer> => store.list(listing(query)),
    watch: async (revision: number): Promise<WatchCursor> =>
      (await store.watch(listing(`resourceVersion=${String(revision)}`))).cursor,
    /** What an answer holds of an item. */
    answer: (item: Item, accept: string, query = ''): Uint8Array => {
      const encodings = createEncodings(replica.naming, { cbor: true });
      const serializers = createSerializers({ scheme: replica.scheme, encodings });
      const context = { info: { query: params(query) } };
      const request = { headers: { accept }, context } as unknown as HttpRequest;
      return serializers.of(request, store.resource, 'object').object(item);
    },
  };
}

/** Writes any object as it is. */
const untyped = message(
  'Any',
  ['metadata', 'data', 'spec', 'revision'].map((name) =>
    field(name, undefined, { number: 0, pointer: true }),
  ),
);
const textOf = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString();
const { mediaType: json } = jsonCodec;

async function nextOf(cursor: WatchCursor, name: string): Promise<WatchEvent> {
  for (;;) {
    const events = (await cursor.next(scope().signal)) ?? [];
    const found = events.find(({ item }) => item?.name === name);
    if (found !== undefined) return found;
  }
}

describe.each([
  ['controller revision', controllerRevision],
  ['device class', deviceClass],
] as const)('raw JSON of a %s', (_name, kind) => {
  describe.each(texts)('%j', (text) => {
    const shown = compacted(text);

    test.each(stored)('written by a server that stores %s, is what all show', async (form) => {
      const name = fresh();
      const { revision } = await verbsOf(form, kind).list();
      const cursors = await Promise.all(stored.map((one) => verbsOf(one, kind).watch(revision)));
      const made = await verbsOf(form, kind).create(kind.body(name, text));
      expect(textOf(made.json())).toContain(shown);
      for (const one of stored) {
        const { answer, get, list } = verbsOf(one, kind);
        const item = await get(name, made.revision);
        expect(textOf(item.json())).toBe(textOf(made.json()));
        const exact = `resourceVersionMatch=Exact&resourceVersion=${String(made.revision)}`;
        for (const query of ['', exact]) {
          const listed = (await list(query)).items.find((each) => each.name === name);
          expect(textOf(listed?.listJson())).toContain(shown);
        }
        expect(compacted(textOf(answer(item, `${json};pretty=true`)))).toBe(textOf(item.json()));
        const asTable = `${json};as=Table;g=${replicaOf(one).naming.metaGroup};v=v1`;
        const table = answer(item, asTable, 'includeObject=Object');
        expect(textOf(table)).toContain(textOf(item.json()));
        const protobuf = Buffer.from(answer(item, codecs.protobuf.mediaType));
        expect(protobuf.includes(text)).toBe(true);
      }
      for (const cursor of cursors) {
        const { item } = await nextOf(cursor, name);
        expect(textOf(item?.json())).toBe(textOf(made.json()));
        cursor.close();
      }
    });

    test.each(stored)('is kept by every write beside it where %s is stored', async (form) => {
      const name = fresh();
      const { answer, create, get, patch, update } = verbsOf(form, kind);
      const holds = (item: Item): boolean =>
        Buffer.from(answer(item, codecs.protobuf.mediaType)).includes(text);
      const body = (metadata: string): string => kind.body(name, text, metadata);
      const finalizers = ',"finalizers":["example.com/keep"]';
      let item = await create(body(finalizers));
      for (const change of [
        '{"metadata":{"labels":{"a":"b"}}}',
        '[{"op":"add","path":"/metadata/labels/c","value":"d"}]',
      ]) {
        const rehearsed = await patch(name, change, 'dryRun=All');
        const patched = await patch(name, change);
        expect(patched.revision).toBeGreaterThan(item.revision);
        expect([holds(rehearsed), holds(patched)]).toEqual([true, true]);
        // Nothing is left to do, neither by what memory holds nor by what etcd holds.
        item = await get(name, patched.revision);
        expect((await patch(name, change)).revision).toBe(item.revision);
      }
      const labels = `,"labels":{"a":"b","c":"d"}${finalizers}`;
      expect((await update(name, body(labels))).revision).toBe(item.revision);
      item = await update(name, body(finalizers));
      expect(holds(item)).toBe(true);
      const { store } = verbsOf(form, kind);
      const options = parseDeleteOptions(params(''), undefined, replicaOf(form).naming);
      await store.delete({ ...scope(), path: pathOf(store, name), options });
      item = await get(name, item.revision + 1);
      expect(holds(item)).toBe(true);
      const cursor = await verbsOf(form, kind).watch(item.revision);
      await patch(name, '{"metadata":{"finalizers":null}}');
      const last = await nextOf(cursor, name);
      expect(last.type).toBe('DELETED');
      expect(last.item !== undefined && holds(last.item)).toBe(true);
      expect(textOf(last.item?.json())).toContain(shown);
      cursor.close();
    });

    test('comes in by Protobuf, in a dry run too', async () => {
      const { answer, create, store } = verbsOf('protobuf', kind);
      const { type } = store.resource;
      const { object } = jsonCodec.decode(Buffer.from(kind.body(fresh(), text)), type);
      const body = codecs.protobuf.encode(object, type);
      for (const query of ['dryRun=All', '']) {
        const made = await create(body, codecs.protobuf, query);
        expect(textOf(made.json())).toContain(shown);
        expect(Buffer.from(answer(made, codecs.protobuf.mediaType)).includes(text)).toBe(true);
      }
    });
  });

  test('has one spelling when it comes without a text', async () => {
    const body = kind.body(fresh(), '{"b":[1.0,"<é>"],"a":null}');
    const text = '{"a":null,"b":[1,"\\u003cé\\u003e"]}';
    for (const codec of [codecs.yaml, codecs.cbor]) {
      const value = JSON.parse(body.replace(/"name":"[^"]*"/, `"name":"${fresh()}"`)) as JsonObject;
      const made = await verbsOf('json', kind).create(codec.encode(value, untyped), codec);
      expect(textOf(made.json())).toContain(text);
      for (const one of stored) {
        const { answer, get } = verbsOf(one, kind);
        const item = await get(made.name, made.revision);
        expect(textOf(item.json())).toContain(text);
        const { type } = kind.store(replicaOf(one)).resource;
        for (const other of [codecs.yaml, codecs.cbor]) {
          const read = other.decode(answer(item, other.mediaType), type).object;
          expect(textOf(jsonCodec.encode(read, type))).toBe(textOf(item.json()));
        }
      }
    }
  });
});

describe('a device class', () => {
  const kind = deviceClass;
  const parameters = '/spec/config/0/opaque/parameters';
  const old = '{ "z":1.0, "a":{"y" : 1e400,"x":[2.50, null]}, "m":null }';
  test.each([
    [
      'another spelling',
      (name: string) => kind.body(name, old.replaceAll(' ', '')),
      old.replaceAll(' ', ''),
    ],
    [
      'a JSON patch in it',
      () => `[{"op":"replace","path":"${parameters}/a/x/0","value":1.0E1}]`,
      '{"a":{"x":[1.0E1,null],"y":1e400},"m":null,"z":1.0}',
    ],
    [
      'a JSON patch of it',
      () =>
        `[{"op":"test","path":"${parameters}/a/x/0","value":2.5},` +
        `{"op":"copy","from":"${parameters}/a","path":"${parameters}"}]`,
      '{"y":1e400,"x":[2.50,null]}',
    ],
    [
      'a merge patch around it',
      () => '{"spec":{"config":[{"opaque":{"driver":"e","parameters":{"b":1.0, "a":-0}}}]}}',
      '{"b":1.0,"a":-0}',
    ],
  ])('changes by %s, and keeps the rest', async (_claim, change, shown) => {
    const { create, patch, update } = verbsOf('json', kind);
    const { name, revision } = await create(kind.body(fresh(), old));
    const text = change(name);
    const changed = await (text.includes('"metadata"') ? update : patch)(name, text);
    expect(changed.revision).toBeGreaterThan(revision);
    expect(textOf(changed.json())).toContain(`"parameters":${shown}`);
  });
});

test('data of a controller revision cannot change, not even its spelling', async () => {
  const kind = controllerRevision;
  const { create, patch, update } = verbsOf('json', kind);
  const { name } = await create(kind.body(fresh(), '{"a":1.0}'));
  for (const data of ['{"a":1}', '{"a":1.0 }']) {
    expect(await causesOf(update(name, kind.body(name, data)))).toEqual(['data FieldValueInvalid']);
  }
  expect(await causesOf(patch(name, '{"data":{"a":1}}'))).toEqual(['data FieldValueInvalid']);
  expect(textOf((await patch(name, '{"data":{"a":1.0}}')).json())).toContain('"data":{"a":1.0}');
});

test.each([
  ['v1beta1', controllerRevision],
  ['v1beta2', controllerRevision],
  ['v1beta1', deviceClass],
  ['v1beta2', deviceClass],
] as const)('stored as %s it is shown in the newest version', async (version, of) => {
  const replica = replicaOf('json');
  const { resource } = of.store(replica);
  const name = fresh();
  const kind = { ...resource.kind, version };
  const type = replica.scheme.kind(kind);
  if (type === undefined) throw new Error('the version is known');
  const { object } = jsonCodec.decode(Buffer.from(of.body(name, '{ "b":1.0,"a":1e400 }')), type);
  const value = encodeStored(object, { ...resource, kind, version, type }).value;
  const { storagePrefix, namespaced } = resource;
  const key = createKeyspace('/registry').key(storagePrefix, namespaced ? 'ns' : '', name);
  const put = await replica.storage.put(key, value, { expected: 0 }, scope().signal);
  if (!put.ok) throw new Error('the key is new');
  for (const one of stored) {
    const { answer, get } = verbsOf(one, of);
    const item = await get(name, put.revision);
    expect(textOf(item.json())).toContain(`"apiVersion":"${apiVersionOf(resource.kind)}"`);
    expect(textOf(item.json())).toContain('{"b":1.0,"a":1e400}');
    const protobuf = Buffer.from(answer(item, codecs.protobuf.mediaType));
    expect(protobuf.includes('{ "b":1.0,"a":1e400 }')).toBe(true);
  }
});
