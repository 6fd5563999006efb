import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parseDeleteOptions, parseListOptions } from './options.ts';
import type { ResourceStore } from './resource-store.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import {
  codeOf,
  configMap,
  failure,
  fresh,
  namesOf,
  params,
  scope,
  VerbDriver,
} from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replicas: readonly Replica[];
let replica: Replica;
let verbs: VerbDriver;
let configMaps: ResourceStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  const options = { canDeleteUnreadable: true };
  replica = await registry.replica(options);
  replicas = [replica, await registry.replica(options)];
  verbs = new VerbDriver(replica);
  configMaps = replica.store('configmaps');
});

afterAll(async () => {
  await registry.stop();
});

const keyOf = (namespace: string, name: string): string =>
  `/registry/configmaps/${namespace}/${name}`;

type Spoil = (value: string) => string;
const garbage: Spoil = () => 'not an object';
/** Bits that changed within a value whose header is whole. */
const rotten: Spoil = (value) => value.replace('"uid":', '"uid"!');

/** Overwrites the object with what nobody can read. */
async function spoil(namespace: string, name: string, how: Spoil): Promise<void> {
  const { signal } = scope();
  const key = keyOf(namespace, name);
  const { item } = await replica.storage.get(key, signal);
  const value = how(Buffer.from(item?.value ?? []).toString());
  const expected = item?.modRevision ?? 0;
  await replica.storage.put(key, Buffer.from(value), { expected }, signal);
}

/** A namespace with `a`, `b` and `c`, of which `b` cannot be read. */
async function spoiled(how = garbage): Promise<string> {
  const namespace = fresh();
  for (const name of ['a', 'b', 'c']) {
    await verbs.create(configMaps, configMap(name), '', namespace);
  }
  await spoil(namespace, 'b', how);
  return namespace;
}

describe('an object that cannot be read', () => {
  test('fails the lists that may hold it, on every replica, and no other', async () => {
    const [namespace, other] = [await spoiled(), fresh()];
    await verbs.create(configMaps, configMap('x'), '', other);
    for (const one of replicas) {
      const store = one.store('configmaps');
      const on = new VerbDriver(one);
      expect(await failure(on.list(store, '', namespace))).toMatchObject({
        code: 500,
        reason: 'StorageReadError',
        message: expect.stringContaining(`${namespace}/b`),
        details: { causes: [{ field: keyOf(namespace, 'b') }] },
      });
      expect(await codeOf(on.list(store, 'labelSelector=a%3Db', namespace))).toBe(500);
      expect(namesOf(await on.list(store, '', other))).toEqual(['x']);
      const others = 'fieldSelector=metadata.name%21%3Db';
      expect(namesOf(await on.list(store, others, namespace))).toEqual(['a', 'c']);
    }
  });

  test('fails what reads or writes it, and says where it lies', async () => {
    const namespace = await spoiled();
    const path = { namespace, name: 'b', subresource: '' };
    const { signal } = scope();
    const item = await configMaps.get({ path, options: { resourceVersion: '' }, signal });
    const get = Promise.resolve().then(() => item.json());
    const unreadable = { code: 500, message: expect.stringContaining(keyOf(namespace, 'b')) };
    expect(await failure(get)).toMatchObject(unreadable);
    const patch = configMaps.patch({
      ...scope(),
      path,
      kind: 'merge',
      patch: Buffer.from('{}'),
      options: { dryRun: false, fieldManager: '', fieldValidation: 'Warn', force: undefined },
    });
    expect(await failure(patch)).toMatchObject(unreadable);
    expect(await failure(verbs.remove(configMaps, 'b', { namespace }))).toMatchObject(unreadable);
    expect(await codeOf(verbs.create(configMaps, configMap('b'), '', namespace))).toBe(409);
  });

  test('is no matter to a watch that begins after it', async () => {
    const namespace = await spoiled();
    const ask = async (query: string): Promise<readonly string[]> => {
      const options = parseListOptions(params(query));
      const { signal } = scope();
      const { cursor } = await configMaps.watch({ namespace, name: '', options, signal });
      await verbs.create(configMaps, configMap(fresh()), '', namespace);
      const events = await cursor.next(signal);
      cursor.close();
      return (events ?? []).map(({ type }) => type);
    };
    const now = 'watch=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan';
    expect(await ask(now)).toEqual(['ADDED']);
    expect(await codeOf(ask('watch=1'))).toBe(500);
  });

  test.each([
    ['garbage', garbage],
    ['rotten', rotten],
  ])('that is %s keeps no deletecollection from the others, and then fails it', async (_, how) => {
    const namespace = await spoiled(how);
    const removeAll = (): Promise<unknown> =>
      configMaps.deleteCollection({
        ...scope(),
        namespace,
        list: parseListOptions(params('')),
        options: parseDeleteOptions(params(''), undefined, replica.naming),
      });
    for (let count = 0; count < 2; count++) {
      expect(await failure(removeAll())).toMatchObject({
        reason: 'StorageReadError',
        details: { causes: [{ field: keyOf(namespace, 'b') }] },
      });
      const { items } = await configMaps.view.list(
        { namespace, showsUnreadable: true },
        { mode: 'latest' },
        { limitCount: 0 },
        scope().signal,
      );
      expect(items.map(({ name }) => name)).toEqual(['b']);
    }
    const body = { ignoreStoreReadErrorWithClusterBreakingPotential: true };
    expect((await verbs.remove(configMaps, 'b', { body, namespace })).kind).toBe('status');
    expect(namesOf(await verbs.list(configMaps, '', namespace))).toEqual([]);
    await removeAll();
  });
});
