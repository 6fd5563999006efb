// Apply to custom resources: what the schema says of lists and maps decides who owns what, and each
// owner is kept in the version that it wrote in.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { ownersOf } from '../registry/testing/owners.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import { failure, fresh, sent, VerbDriver } from '../registry/testing/verb-driver.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { definingReplica } from './testing/definitions-on-etcd.ts';
import type { ServingDefinitions } from './testing/definitions-on-etcd.ts';

let registry: RegistryOnEtcd;
let custom: ServingDefinitions;
let verbs: VerbDriver;

const text = { type: 'string' };
const list = (items: object, listType?: string, keys?: string[]): object => ({
  type: 'array',
  items,
  ...(listType === undefined ? {} : { 'x-svc-list-type': listType }),
  ...(keys === undefined ? {} : { 'x-svc-list-map-keys': keys }),
});
const pair = { type: 'object', properties: { a: text, b: text } };
const entry = {
  type: 'object',
  required: ['k'],
  properties: { k: text, p: { type: 'integer', default: 1 }, v: text },
};
const properties = {
  whole: list(text),
  set: list(text, 'set'),
  keyed: list(entry, 'map', ['k', 'p']),
  parts: pair,
  atom: { ...pair, 'x-svc-map-type': 'atomic' },
  map: { type: 'object', additionalProperties: text },
  open: { type: 'object', 'x-svc-preserve-unknown-fields': true },
  n: { type: 'integer' },
};
const schema = { type: 'object', properties: { spec: { type: 'object', properties } } };
const other = {
  type: 'object',
  properties: {
    spec: { type: 'object', properties: { n: { type: 'integer' }, map: properties.map } },
  },
};

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  custom = await definingReplica(registry);
  verbs = new VerbDriver(custom.replica);
  await custom.define({
    plural: 'widgets',
    versions: [
      { name: 'v1', schema },
      { name: 'v2', schema },
      { name: 'v3', schema: other },
    ],
  });
});
afterAll(async () => {
  custom.end();
  await registry.stop();
});

const apply = (
  name: string,
  manager: string,
  spec: object,
  { version = 'v1', force = '' } = {},
): Promise<Sent> =>
  verbs.apply(
    custom.store('widgets', version),
    name,
    { metadata: { name }, spec },
    { query: `fieldManager=${manager}${force}` },
  );

describe('two managers of', () => {
  test.each<[string, object, object, string]>([
    ['a list own it whole', { whole: ['a'] }, { whole: ['b'] }, '.spec.whole'],
    ['an atomic map own it whole', { atom: { a: '1' } }, { atom: { b: '2' } }, '.spec.atom'],
    ['a number', { n: 1 }, { n: 2 }, '.spec.n'],
    [
      'an element own its members',
      { keyed: [{ k: 'a', v: '1' }] },
      { keyed: [{ k: 'a', v: '2' }] },
      '.spec.keyed[k="a",p=1].v',
    ],
    ['fields nobody declared', { open: { a: 1 } }, { open: { a: 2 } }, '.spec.open.a'],
  ])('%s: another value is a conflict, and force takes it', async (_, one, two, field) => {
    const name = fresh();
    await apply(name, 'one', one);
    const conflict = await failure(apply(name, 'two', two));
    expect([conflict.code, conflict.message]).toEqual([
      409,
      `Apply failed with 1 conflict: conflict with "one": ${field}`,
    ]);
    const taken = await apply(name, 'two', two, { force: '&force=true' });
    expect(taken['spec']).toMatchObject(two);
    expect(ownersOf(taken).some((owner) => owner.startsWith('one:') && owner.includes(field))).toBe(
      false,
    );
  });

  test.each<[string, object, object, object]>([
    ['a set have their own elements', { set: ['a'] }, { set: ['b', 'a'] }, { set: ['b', 'a'] }],
    [
      'a list of elements with keys',
      { keyed: [{ k: 'a', v: '1' }] },
      { keyed: [{ k: 'b', p: 2, v: '2' }] },
      {
        keyed: [
          { k: 'a', p: 1, v: '1' },
          { k: 'b', p: 2, v: '2' },
        ],
      },
    ],
    ['an object', { parts: { a: '1' } }, { parts: { b: '2' } }, { parts: { a: '1', b: '2' } }],
    ['a map', { map: { a: '1' } }, { map: { b: '2' } }, { map: { a: '1', b: '2' } }],
  ])('%s: both are merged, and what one leaves out goes', async (_, one, two, both) => {
    const name = fresh();
    await apply(name, 'one', one);
    expect((await apply(name, 'two', two))['spec']).toEqual(both);
    const left = await apply(name, 'one', {});
    const alone = await apply(fresh(), 'two', two);
    expect(left['spec']).toEqual(
      'set' in two
        ? { set: expect.arrayContaining(two.set as string[]) as unknown }
        : alone['spec'],
    );
  });

  test('an apply that changes nothing keeps the resourceVersion', async () => {
    const name = fresh();
    const made = await apply(name, 'one', { n: 1 });
    expect(await apply(name, 'one', { n: 1 })).toEqual(made);
  });
});

describe('ownership', () => {
  const entries = ({ metadata }: Sent): unknown[] =>
    (metadata['managedFields'] as JsonObject[]).map(({ manager, apiVersion, fieldsV1 }) => [
      ...[manager, apiVersion, fieldsV1],
    ]);

  test('is kept in the version that was written, over writes in others', async () => {
    const name = fresh();
    await apply(name, 'one', { n: 1 }, { version: 'v2' });
    await apply(name, 'two', { map: { a: '1' } }, { version: 'v3' });
    await verbs.patch(custom.store('widgets'), name, { spec: { parts: { a: 'x' } } });
    const live = await verbs.get(custom.store('widgets'), name);
    expect(entries(live)).toEqual([
      ['one', 'example.com/v2', { 'f:spec': { 'f:n': {} } }],
      ['two', 'example.com/v3', { 'f:spec': { 'f:map': { 'f:a': {} } } }],
      ['unknown', 'example.com/v1', { 'f:spec': { 'f:parts': { '.': {}, 'f:a': {} } } }],
    ]);
    const conflict = await failure(apply(name, 'three', { n: 2 }, { version: 'v3' }));
    expect(conflict.message).toContain('conflict with "one": .spec.n');
    await verbs.patch(custom.store('widgets', 'v3'), name, { spec: { n: 5 } });
    expect(ownersOf(await verbs.get(custom.store('widgets'), name))).toEqual([
      'two: .spec.map.a',
      '(unknown): .spec.parts .spec.parts.a',
      '(unknown): .spec.n',
    ]);
  });

  test('of a version that is not served stays, of one that is gone falls away', async () => {
    const versions = [
      { name: 'v1', schema },
      { name: 'v2', schema },
      { name: 'v3', schema },
    ];
    await custom.define({ plural: 'gadgets', versions });
    const name = fresh();
    for (const version of ['v2', 'v3']) {
      const store = custom.store('gadgets', version);
      const spec = version === 'v2' ? { n: 1 } : { whole: ['x'] };
      await verbs.apply(
        store,
        name,
        { metadata: { name }, spec },
        { query: `fieldManager=${version}` },
      );
    }
    await custom.redefine('gadgets.example.com', (spec) => {
      const [first, second] = spec['versions'] as JsonObject[];
      spec['versions'] = [first ?? {}, { ...second, served: false }];
    });
    const store = custom.store('gadgets');
    const next = await verbs.apply(
      store,
      name,
      { metadata: { name }, spec: { map: { a: '1' }, whole: ['y'] } },
      { query: 'fieldManager=new' },
    );
    expect(next['spec']).toEqual({ n: 1, whole: ['y'], map: { a: '1' } });
    expect(
      entries(next)
        .map((one) => (one as unknown[])[1])
        .sort(),
    ).toEqual([...['example.com/v1', 'example.com/v2']]);
    const live = await verbs.get(store, name);
    const put = await verbs.update(store, name, { ...live, spec: { n: 1 } });
    expect(ownersOf(sent(put.item))).toContain('v2: .spec.n');
  });
});
