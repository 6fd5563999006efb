import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ResourceStore } from './resource-store.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { codeOf, configMap, fresh, sent, VerbDriver } from './testing/verb-driver.ts';

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

describe('patch', () => {
  test.each([
    ['merge', { data: { l: 'm' } }, { k: 'v', l: 'm' }],
    ['merge that removes', { data: { k: null } }, undefined],
    ['JSON', [{ op: 'add', path: '/data/l', value: 'm' }], { k: 'v', l: 'm' }],
    [
      'JSON with a test',
      [
        { op: 'test', path: '/data/k', value: 'v' },
        { op: 'remove', path: '/data/k' },
      ],
      undefined,
    ],
  ])('%s', async (_kind, body, data) => {
    const name = fresh();
    await verbs.create(configMaps, configMap(name, { data: { k: 'v' } }));
    expect((await verbs.patch(configMaps, name, body))['data']).toEqual(data);
  });

  test('strategic: lists merge as their fields say', async () => {
    const accounts = replica.store('serviceaccounts');
    const name = fresh();
    const secrets = (...names: string[]): object => ({
      secrets: names.map((one) => ({ name: one })),
    });
    const made = await verbs.create(accounts, { metadata: { name }, ...secrets('a', 'b') });
    const patch = (body: object): Promise<object> =>
      verbs.patch(accounts, name, body, { kind: 'strategic' });
    expect(await patch(secrets('b'))).toEqual(made);
    const order = { '$setElementOrder/secrets': [{ name: 'c' }, { name: 'a' }] };
    const removal = { secrets: [{ name: 'c' }, { name: 'b', $patch: 'delete' }] };
    expect(await patch({ ...removal, ...order })).toMatchObject(secrets('c', 'a'));
    const { resourceVersion } = made.metadata;
    expect(await codeOf(patch({ metadata: { resourceVersion }, ...secrets('d') }))).toBe(409);
    expect(await codeOf(patch({ secrets: [{}] }))).toBe(422);
  });

  test.each([
    ['apply', '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"NAME"},"data":DATA}'],
    ['apply', 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: NAME}\ndata: DATA\n'],
    ['merge', '{"data":DATA}'],
    ['strategic', '{"data":DATA}'],
    ['json', '[{"op":"add","path":"/data","value":DATA}]'],
    [
      'json',
      '[{"op":"add","path":"/data/__proto__","value":"1"},' +
        '{"op":"add","path":"/data/constructor","value":"2"},' +
        '{"op":"copy","from":"/data/constructor","path":"/data/toString"},' +
        '{"op":"replace","path":"/data/toString","value":"3"},' +
        '{"op":"test","path":"/data/__proto__","value":"1"},{"op":"remove","path":"/data/k"}]',
    ],
  ] as const)('%s: any key of a map is data: %s', async (kind, text) => {
    const name = fresh();
    const [data, kept] = ['{"__proto__":"1","constructor":"2","toString":"3"}', { k: 'v' }];
    if (kind !== 'apply') await verbs.create(configMaps, configMap(name, { data: kept }));
    const body = text.replace('NAME', name).replace('DATA', data);
    const { item } = await verbs.patchAnswer(configMaps, name, body, {
      kind,
      query: 'fieldManager=m',
    });
    const isMerged = kind === 'merge' || kind === 'strategic';
    const { data: written = {}, metadata } = sent(item);
    expect(Object.entries(written as object)).toEqual([
      ['__proto__', '1'],
      ['constructor', '2'],
      ...(isMerged ? [['k', 'v']] : []),
      ['toString', '3'],
    ]);
    expect(JSON.stringify(metadata['managedFields'])).toContain(
      '"f:__proto__":{},"f:constructor":{}',
    );
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
    const made = await verbs.create(configMaps, configMap(name, { data: { k: 'v' } }));
    expect(await codeOf(verbs.patch(configMaps, name, body))).toBe(code);
    expect(await verbs.get(configMaps, name)).toEqual(made);
  });

  test('of an absent object is a 404', async () => {
    expect(await codeOf(verbs.patch(configMaps, fresh(), {}))).toBe(404);
  });

  test('that changes nothing keeps the version', async () => {
    const name = fresh();
    const made = await verbs.create(configMaps, configMap(name, { data: { k: 'v' } }));
    expect(await verbs.patch(configMaps, name, { data: { k: 'v', none: null } })).toEqual(made);
  });

  test('many at once are all kept', async () => {
    const name = fresh();
    await verbs.create(configMaps, configMap(name, { data: {} }));
    const keys = Array.from({ length: 20 }, (_, index) => `k${String(index)}`);
    await Promise.all(keys.map((key) => verbs.patch(configMaps, name, { data: { [key]: 'v' } })));
    expect(Object.keys((await verbs.get(configMaps, name))['data'] as object).sort()).toEqual(
      keys.sort(),
    );
  });
});
