// What becomes of the values of an object whose type comes from a schema: null in each kind of
// write, values that are kept as they are, pruning and defaults after admission, embedded objects.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { admissionChain } from '../admission/chain.ts';
import type { AdmissionPlugin } from '../admission/plugin.ts';
import { isObject } from '../api/json-value.ts';
import type { ResourceStore } from './resource-store.ts';
import { openStores } from './testing/open-stores.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import { fresh, VerbDriver } from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let verbs: VerbDriver;
let things: ResourceStore;

const text = { type: 'string' };
const kept = { 'x-svc-preserve-unknown-fields': true };
const inner = { type: 'object', properties: { a: text } };
const embedded = {
  type: 'object',
  'x-svc-embedded-resource': true,
  properties: {
    kind: { ...text, default: 'X' },
    metadata: {
      type: 'object',
      properties: {
        labels: {
          type: 'object',
          additionalProperties: text,
          default: { 'example.com/is': 'default' },
        },
      },
    },
    spec: inner,
  },
};
const spec = {
  type: 'object',
  properties: {
    plain: text,
    defaulted: { ...text, default: 'd' },
    nullable: { ...text, nullable: true },
    both: { ...text, nullable: true, default: 'd' },
    map: { type: 'object', additionalProperties: text },
    nullableMap: { type: 'object', additionalProperties: { ...text, nullable: true } },
    defaultedMap: { type: 'object', additionalProperties: { ...text, default: 'd' } },
    list: { type: 'array', items: { ...text, nullable: true } },
    defaultedList: { type: 'array', items: { ...text, default: 'd' } },
    object: {
      type: 'object',
      properties: { x: { ...inner, default: {} }, y: { ...text, default: 'y' } },
    },
    free: { type: 'object', ...kept, properties: { known: inner } },
    number: { type: 'number' },
    integer: { type: 'integer' },
    e: embedded,
  },
};
const schema = {
  type: 'object',
  properties: { spec, status: { type: 'object', properties: { note: text } } },
};
/** Admission adds what no schema knows, and takes away a default. */
const meddling: AdmissionPlugin = {
  name: 'Meddling',
  isConfigured: true,
  sideEffects: false,
  handles: () => true,
  mutate(_request, object) {
    const members = object['spec'];
    if (!isObject(members) || members['plain'] !== 'meddle') return false;
    members['unknown'] = 1;
    delete members['defaulted'];
    members['map'] = { a: null };
    return true;
  },
};

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  const replica = await registry.replica();
  verbs = new VerbDriver(replica);
  const kind = { schemas: { v1: schema }, subresources: ['status'] } as const;
  const admission = admissionChain([meddling]);
  const store = openStores(replica, { ...kind, admission }).get('v1');
  if (store === undefined) throw new Error('things are served');
  things = store;
});
afterAll(() => registry.stop());

const thing = (name: string, members: object): object => ({ metadata: { name }, spec: members });
const usual = { defaulted: 'd', both: 'd' };

/** The spec that each kind of write makes of these members. */
const writes: readonly (readonly [string, (members: object) => Promise<Sent>])[] = [
  ['POST', (members) => verbs.create(things, thing(fresh(), members))],
  [
    'PUT',
    async (members) => {
      const { metadata } = await verbs.create(things, thing(fresh(), {}));
      const { name, resourceVersion } = metadata;
      const body = { metadata: { name, resourceVersion }, spec: members };
      await verbs.update(things, name, body);
      return verbs.get(things, name);
    },
  ],
  [
    'JSON patch',
    async (members) => {
      const { metadata } = await verbs.create(things, thing(fresh(), {}));
      const operation = { op: 'replace', path: '/spec', value: members };
      return verbs.patch(things, metadata.name, [operation]);
    },
  ],
  [
    'apply',
    (members) => {
      const name = fresh();
      return verbs.apply(things, name, thing(name, members), { query: 'fieldManager=a' });
    },
  ],
];

describe.each(writes)('%s: null', (_verb, write) => {
  test.each([
    ['of a field is absence', { plain: null }, {}],
    ['of a field with a default is the default', { defaulted: null }, {}],
    ['of a nullable field stays', { nullable: null }, { nullable: null }],
    ['of a nullable field with a default stays', { both: null }, { both: null }],
    ['of a map entry is absence', { map: { a: null, b: 'x' } }, { map: { b: 'x' } }],
    ['of a nullable entry stays', { nullableMap: { a: null } }, { nullableMap: { a: null } }],
    [
      'of an entry with a default is the default',
      { defaultedMap: { a: null } },
      { defaultedMap: { a: 'd' } },
    ],
    ['of a list item stays', { list: [null, 'x'] }, { list: [null, 'x'] }],
    [
      'of an item with a default is the default',
      { defaultedList: [null, 'x'] },
      { defaultedList: ['d', 'x'] },
    ],
    [
      'in what has no schema stays',
      { free: { a: null, b: [{ c: null }], known: { a: null } } },
      { free: { a: null, b: [{ c: null }], known: {} } },
    ],
    [
      'of an object with a default is the default, and those below it follow',
      { object: { x: null } },
      { object: { x: {}, y: 'y' } },
    ],
  ])('%s', async (_claim, members, expected) => {
    expect((await write(members))['spec']).toEqual({ ...usual, ...expected });
  });
});

describe('a merge patch: null', () => {
  test.each([
    ['removes a field', { plain: null }, { ...usual }],
    ['removes a field with a default, which comes back', { defaulted: null }, { ...usual }],
    ['removes a nullable field', { nullable: null }, { ...usual }],
    ['of a nullable field with a default brings the default back', { both: null }, usual],
  ])('%s', async (_claim, members, expected) => {
    const given = { plain: 'p', defaulted: 'x', nullable: 'n', both: 'b' };
    const { metadata } = await verbs.create(things, thing(fresh(), given));
    const patched = await verbs.patch(things, metadata.name, { spec: members });
    const [changed = ''] = Object.keys(members);
    const before: Record<string, string> = given;
    const { [changed]: _before, ...rest } = before;
    const value = (expected as Record<string, string>)[changed];
    expect(patched['spec']).toEqual({
      ...rest,
      ...(value === undefined ? {} : { [changed]: value }),
    });
  });
});

describe('values are kept as they are', () => {
  test.each([
    ['an empty text', '{"plain":""}'],
    ['empty containers', '{"map":{},"list":[],"free":{}}'],
    ['zero and false', '{"free":{"x":false},"number":0,"integer":0}'],
    ['integers of 64 bits', '{"free":{"x":-9223372036854775808},"integer":9223372036854775807}'],
    ['fractions', '{"free":{"x":1e-7,"y":1.5e+300},"number":0.1}'],
    ['names that mean something elsewhere', '{"free":{"__proto__":{"a":1},"constructor":2}}'],
  ])('%s', async (_claim, members) => {
    const name = fresh();
    const given = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"${name}"},
      "spec":${members}}`;
    await verbs.apply(things, name, given, { query: 'fieldManager=a' });
    const { signal } = new AbortController();
    const path = { namespace: 'ns', name, subresource: '' };
    const item = await things.get({ path, options: { resourceVersion: '' }, signal });
    const shown = Buffer.from(item.json()).toString();
    expect(shown.slice(shown.indexOf('"spec":') + 7)).toContain(members.slice(1, -1));
  });

  test('1.0 is the integer 1, and what 64 bits cannot hold is a float', async () => {
    const name = fresh();
    const given = `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"${name}"},
      "spec":{"integer":1.0,"free":{"x":9223372036854775808}}}`;
    const made = await verbs.apply(things, name, given, { query: 'fieldManager=a' });
    expect(made['spec']).toMatchObject({ integer: 1, free: { x: 9223372036854775808 } });
  });
});

describe('what no schema knows', () => {
  const given = {
    plain: 'p',
    x: 1,
    map: { a: 'b' },
    free: { any: { x: 1 }, known: { a: 'a', y: 1 } },
    e: { apiVersion: 'v1', kind: 'X', metadata: { name: 'n', foo: 1 }, spec: { b: 1 }, z: 1 },
  };
  const expected = {
    ...usual,
    plain: 'p',
    map: { a: 'b' },
    free: { any: { x: 1 }, known: { a: 'a' } },
    e: {
      apiVersion: 'v1',
      kind: 'X',
      metadata: { name: 'n', labels: { 'example.com/is': 'default' } },
      spec: {},
    },
  };

  test.each(writes)(
    '%s: goes, in embedded objects and below what is kept, too',
    async (_verb, write) => {
      const made = await write(given);
      expect(made['spec']).toEqual(expected);
      expect((await verbs.get(things, made.metadata.name))['spec']).toEqual(expected);
    },
  );

  test('goes in a write of the status', async () => {
    const { metadata } = await verbs.create(things, thing(fresh(), {}));
    const body = { status: { note: 'n', more: 1 }, top: 1 };
    const patched = await verbs.patch(things, metadata.name, body, { subresource: 'status' });
    expect(patched).toMatchObject({ status: { note: 'n' } });
    expect(Object.keys(patched['status'] as object)).toEqual(['note']);
    expect(patched['top']).toBeUndefined();
  });

  test('goes after admission, too, and defaults are filled in once more', async () => {
    const made = await verbs.create(things, thing(fresh(), { plain: 'meddle' }));
    expect(made['spec']).toEqual({ plain: 'meddle', defaulted: 'd', both: 'd', map: {} });
    const patched = await verbs.patch(things, made.metadata.name, { spec: { defaulted: 'x' } });
    expect(patched['spec']).toEqual(made['spec']);
  });
});

test('a dry run does all of it and writes nothing', async () => {
  const name = fresh();
  const made = await verbs.create(things, thing(name, { x: 1 }), 'dryRun=All');
  expect(made['spec']).toEqual(usual);
  await expect(verbs.get(things, name)).rejects.toMatchObject({ code: 404 });
});

test('defaults are never filled into an absent parent', async () => {
  const made = await verbs.create(things, { metadata: { name: fresh() } });
  expect(made['spec']).toBeUndefined();
});
