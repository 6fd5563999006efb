// A resource whose type comes from a schema at run time, through the verbs that serve all kinds:
// pruning, defaults, validation, patches, and another schema over the same objects.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admissionChain } from '../admission/chain.ts';
import { loadResourceSchema } from '../api/load-schema.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import { systemClock } from '../base/clock.ts';
import { createStoredMedia } from '../codec/stored-media.ts';
import { widgetResource } from '../codec/testing/sample-types.ts';
import { createKeyspace } from '../storage-etcd/keys.ts';
import type { ResourceStore } from './resource-store.ts';
import { storeOf } from './store-of.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { causesOf, failure, fresh, sent, VerbDriver } from './testing/verb-driver.ts';
import { schemaObjectRules } from './schema-object-rules.ts';
import { defaultValidation } from './validation.ts';
import { WriteTurns } from './write-turns.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let things: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
  things = serve(schema);
});

afterAll(async () => {
  await registry.stop();
});

const text = { type: 'string' };
const count = { type: 'integer', minimum: 1, default: 3 };
const item = { type: 'object', required: ['k'], properties: { k: text, n: count } };
const spec = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { ...text, enum: ['s', 'm'] },
    note: { ...text, nullable: true },
    count,
    items: { type: 'array', items: item },
    loose: { type: 'object', 'x-svc-preserve-unknown-fields': true },
  },
};
const schema = { type: 'object', properties: { spec } };

/** Serves things with this schema from now on. */
function serve(openApi: object): ResourceStore {
  const { naming, scheme, cache, storage } = replica;
  const kind = { group: 'example.com', version: 'v1', kind: 'Thing' };
  const objectMeta = scheme.type('meta/v1.ObjectMeta');
  const resource: ResourceInfo = {
    ...widgetResource,
    resource: 'things',
    kind,
    type: loadResourceSchema(openApi, { id: 'example.com/v1.Thing', objectMeta, profile: naming }),
    storagePrefix: 'example.com/things',
    fieldSelectors: ['metadata.name', 'metadata.namespace'],
    hasGeneration: true,
  };
  return storeOf(
    { served: resource, stored: resource },
    {
      admission: admissionChain([]),
      storage,
      media: createStoredMedia('json', naming),
      turns: new WriteTurns(systemClock),
      defaults: scheme.defaults,
      converter: { convert: (object) => object },
      typeOf: (of) => scheme.kind(of),
      partsOf: () => undefined,
      naming,
      clock: systemClock,
      continueKey: Buffer.from('of a test'),
      canStreamLists: true,
      canDeleteUnreadable: false,
      keyspace: createKeyspace('/registry'),
      strategy: {},
      rules: schemaObjectRules(resource, {}, { naming, isOn: defaultValidation.isOn }),
      view: cache.add({ resource, isRemovable: true }),
    },
  );
}

const thing = (name: string, members: object): object => ({ metadata: { name }, spec: members });

describe('a create', () => {
  test('drops what the schema does not know and fills in defaults, at every depth', async () => {
    const name = fresh();
    const given = { size: 's', x: 1, note: null, count: null, items: [{ k: 'a', y: 2 }] };
    const made = await verbs.create(things, thing(name, { ...given, loose: { z: [null] } }));
    expect(made).toMatchObject({
      kind: 'Thing',
      apiVersion: 'example.com/v1',
      metadata: { name, generation: 1 },
    });
    expect(made['spec']).toEqual({
      size: 's',
      note: null,
      count: 3,
      items: [{ k: 'a', n: 3 }],
      loose: { z: [null] },
    });
    expect(await verbs.get(things, name)).toEqual(made);
  });

  test('in strict mode refuses what the schema does not know', async () => {
    const body = thing(fresh(), { size: 's', items: [{ k: 'a', y: 2 }] });
    const refused = await failure(verbs.create(things, body, 'fieldValidation=Strict'));
    expect(refused.code).toBe(400);
    expect(refused.message).toContain('unknown field "spec.items[0].y"');
  });

  test('refuses what the schema forbids, all of it at once', async () => {
    const body = thing(fresh(), { size: 'l', count: 0, note: 5, items: [{ n: 'x' }] });
    expect(await causesOf(verbs.create(things, body))).toEqual([
      'spec.size FieldValueNotSupported',
      'spec.note FieldValueTypeInvalid',
      'spec.count FieldValueInvalid',
      'spec.items[0].n FieldValueTypeInvalid',
      'spec.items[0].k FieldValueRequired',
    ]);
  });
});

describe('a patch', () => {
  test.each([
    ['merge', { spec: { count: null, note: null, loose: { a: null, b: 1 }, x: 1 } }],
    [
      'JSON',
      [
        { op: 'remove', path: '/spec/count' },
        { op: 'remove', path: '/spec/note' },
        { op: 'add', path: '/spec/loose/b', value: 1 },
        { op: 'remove', path: '/spec/loose/a' },
        { op: 'add', path: '/spec/x', value: 1 },
      ],
    ],
  ])(
    '%s: what it removes has its default, what it adds is read like a body',
    async (_kind, patch) => {
      const name = fresh();
      await verbs.create(things, thing(name, { size: 's', count: 7, note: 'n', loose: { a: 1 } }));
      const patched = await verbs.patch(things, name, patch);
      expect(patched['spec']).toEqual({ size: 's', count: 3, loose: { b: 1 } });
    },
  );

  test('is refused where its result is wrong', async () => {
    const name = fresh();
    await verbs.create(things, thing(name, { size: 's' }));
    expect(await causesOf(verbs.patch(things, name, { spec: { size: null } }))).toEqual([
      'spec.size FieldValueRequired',
    ]);
  });
});

test('another schema shows at the next read; what it finds wrong may stay as it is', async () => {
  const name = fresh();
  const made = await verbs.create(things, thing(name, { size: 'm', note: 'n', count: 1 }));
  replica.cache.remove(things.resource);
  const { note: _note, ...properties } = spec.properties;
  const more = { ...count, minimum: 2 };
  things = serve({
    type: 'object',
    properties: {
      spec: {
        ...spec,
        properties: { ...properties, count: more, zone: { ...text, default: 'z' } },
      },
    },
  });
  const shown = await verbs.get(things, name);
  expect(shown['spec']).toEqual({ size: 'm', count: 1, zone: 'z' });
  expect(shown.metadata).toEqual(made.metadata);
  const changed = await verbs.update(things, name, thing(name, { size: 's', count: 1 }));
  expect(sent(changed.item)['spec']).toEqual({ size: 's', count: 1, zone: 'z' });
  const wrong = verbs.update(things, name, thing(name, { size: 's', count: 0 }));
  expect(await causesOf(wrong)).toEqual(['spec.count FieldValueInvalid']);
});
