// Config maps that claim words: `data.word` has a key of its own, with `data.any` a free one.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isObject } from '../api/json-value.ts';
import { conflict } from '../base/status.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { Storage } from '../storage-etcd/storage.ts';
import type { Companions } from './companions.ts';
import { parseDeleteOptions, parseListOptions } from './options.ts';
import { keyspace, RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { codeOf, configMap, fresh, params, scope, VerbDriver } from './testing/verb-driver.ts';

const prefix = `${keyspace.root}words/`;
const words = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const name = { group: '', resource: 'configmaps' };
let registry: RegistryOnEtcd;
let replicas: readonly [Replica, Replica];

function dataOf(object: Readonly<ApiObject> | undefined): Record<string, unknown> {
  return isObject(object?.['data']) ? object['data'] : {};
}

function wordClaims(storage: Storage): Companions {
  const taken = new Set<string>();
  return {
    settle(object) {
      const data = dataOf(object);
      if (data['any'] === undefined || data['word'] !== undefined) return;
      const free = words.find((word) => !taken.has(word));
      if (free === undefined) throw conflict(name, 'x', 'no word is left');
      data['word'] = free;
    },
    async of({ object, old }, signal) {
      const now = dataOf(object)['word'] as string | undefined;
      const before = dataOf(old?.object())['word'] as string | undefined;
      if (now === before) return undefined;
      const conditions = [];
      const changes = [];
      if (now !== undefined) {
        conditions.push({ key: prefix + now, expected: 0 });
        changes.push({ type: 'put', key: prefix + now, value: Buffer.from('x') } as const);
      }
      if (before !== undefined) {
        const { item } = await storage.get(prefix + before, signal);
        conditions.push({ key: prefix + before, expected: item?.modRevision ?? 0 });
        changes.push({ type: 'delete', key: prefix + before } as const);
        taken.delete(before);
      }
      return {
        conditions,
        changes,
        lost([current]) {
          if (now === undefined || current === undefined) return;
          if (dataOf(object)['any'] === undefined) throw conflict(name, 'x', `${now} is taken`);
          taken.add(now);
        },
      };
    },
  };
}

async function claimed(): Promise<string[]> {
  const range = { prefix, limitCount: 0 };
  const { items } = await replicas[0].storage.list(range, AbortSignal.timeout(60_000));
  return items.map(({ key }) => key.slice(prefix.length)).sort();
}

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  const companionsOf = (
    { resource, group }: { readonly resource: string; readonly group: string },
    storage: Storage,
  ): Companions | undefined =>
    group === '' && resource === 'configmaps' ? wordClaims(storage) : undefined;
  const replica = (): Promise<Replica> => registry.replica({ companionsOf });
  replicas = [await replica(), await replica()];
});

afterAll(async () => {
  await registry.stop();
});

test('what an object claims comes, changes and goes with it', async () => {
  const verbs = new VerbDriver(replicas[0]);
  const store = replicas[0].store('configmaps');
  const [one, two] = [fresh(), fresh()];
  await verbs.create(store, configMap(one, { data: { word: 'mine' } }));
  expect(await codeOf(verbs.create(store, configMap(two, { data: { word: 'mine' } })))).toBe(409);
  await verbs.create(store, configMap(two, { data: { word: 'yours' } }));
  expect(await claimed()).toEqual(['mine', 'yours']);
  expect(await codeOf(verbs.patch(store, two, { data: { word: 'mine' } }))).toBe(409);
  await verbs.patch(store, two, { data: { word: 'ours' } }, { query: 'dryRun=All' });
  expect(await claimed()).toEqual(['mine', 'yours']);
  await verbs.patch(store, two, { data: { word: 'ours' } });
  expect(await claimed()).toEqual(['mine', 'ours']);
  await verbs.patch(store, two, { data: { word: null }, metadata: { finalizers: ['x.com/y'] } });
  await verbs.patch(store, one, { metadata: { finalizers: ['x.com/y'] } });
  await verbs.remove(store, one);
  expect(await claimed()).toEqual(['mine']);
  await verbs.patch(store, one, { metadata: { finalizers: null } });
  expect(await claimed()).toEqual([]);
  const applied = fresh();
  for (const word of ['applied', 'again']) {
    const body = { metadata: { name: applied }, data: { word } };
    await verbs.apply(store, applied, body, { query: 'fieldManager=me' });
    expect(await claimed()).toEqual([word]);
  }
  await verbs.remove(store, applied);
  await verbs.remove(store, two);
  expect(await claimed()).toEqual([]);
});

test('a chosen claim that somebody else took is chosen again, and none is had twice', async () => {
  const drivers = replicas.map((replica) => new VerbDriver(replica));
  const made = await Promise.all(
    words.map((_word, at) => {
      const [replica, verbs] = [replicas[at % 2], drivers[at % 2]];
      const body = { metadata: { generateName: 'any-' }, data: { any: '' } };
      if (replica === undefined || verbs === undefined) throw new Error('there are two');
      return verbs.create(replica.store('configmaps'), body);
    }),
  );
  const given = made.map((object) => (object['data'] as Record<string, string>)['word']);
  expect(given.sort()).toEqual(words);
  expect(await claimed()).toEqual(expect.arrayContaining(words));
  const [verbs] = drivers;
  const store = replicas[0].store('configmaps');
  const more = { metadata: { name: fresh() }, data: { any: '' } };
  expect(await codeOf(verbs?.create(store, more) ?? Promise.resolve())).toBe(409);
  await store.deleteCollection({
    ...scope(),
    namespace: 'ns',
    list: parseListOptions(params('')),
    options: parseDeleteOptions(params(''), undefined, replicas[0].naming),
  });
  expect(await claimed()).toEqual([]);
});
