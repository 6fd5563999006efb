// A resource whose type comes from a schema at run time, through the verbs that serve all kinds:
// pruning, defaults, validation, patches, and another schema over the same objects.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ResourceStore } from './resource-store.ts';
import { openStores } from './testing/open-stores.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { causesOf, failure, fresh, sent, VerbDriver } from './testing/verb-driver.ts';

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
  const store = openStores(replica, { schemas: { v1: openApi } }).get('v1');
  if (store === undefined) throw new Error('things are served');
  return store;
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
  const { resourceVersion } = made.metadata;
  const next = (members: object, version: string): object => ({
    metadata: { name, resourceVersion: version },
    spec: members,
  });
  const same = await verbs.patch(things, name, { spec: { size: 'm' } });
  expect(same.metadata.resourceVersion).not.toBe(resourceVersion); // The default is written now.
  const change = next({ size: 's', count: 1 }, same.metadata.resourceVersion);
  const changed = await verbs.update(things, name, change);
  expect(sent(changed.item)['spec']).toEqual({ size: 's', count: 1, zone: 'z' });
  const { resourceVersion: last } = sent(changed.item).metadata;
  const wrong = verbs.update(things, name, next({ size: 's', count: 0 }, last));
  expect(await causesOf(wrong)).toEqual(['spec.count FieldValueInvalid']);
});
