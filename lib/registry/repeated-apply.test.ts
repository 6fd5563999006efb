// The same configuration again and again is answered as the first time, whatever happened between.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { intercept } from '../cacher/testing/cache-fixture.ts';
import { parseWriteOptions } from './options.ts';
import { ownersOf } from './testing/owners.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import { bytesOf, codeOf, configMap, fresh, params } from './testing/verb-driver.ts';
import { scope, VerbDriver } from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
/** Of single objects, from etcd. */
let readCount = 0;
/** How often admission was asked, by name, and whether it was shown the owners that are stored. */
const shown = new Map<string, boolean[]>();
/** No plugin asks for the object of this name: whether it was the stored one, each time. */
const unseen = 'unseen';
const areOld: boolean[] = [];

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica({
    through: (storage) =>
      intercept(storage, {
        get: (key, signal) => {
          readCount += 1;
          return storage.get(key, signal);
        },
      }),
    admission: {
      mutates: ({ name }) => name !== unseen,
      mutate: ({ name, old }, object) => {
        if (name === unseen) {
          areOld.push(object === old);
          return 'no';
        }
        expect(object).not.toBe(old); // It may be changed.
        const areStored = object.metadata?.managedFields === old?.metadata?.managedFields;
        shown.set(name, [...(shown.get(name) ?? []), areStored]);
        if (object.metadata?.labels?.['mutate'] !== 'yes') return 'no';
        object.metadata.labels['mutate'] = 'done';
        return 'yes';
      },
      beforeDelete: () => undefined,
      validate: () => undefined,
    },
  });
  verbs = new VerbDriver(replica);
});
afterAll(() => registry.stop());

const apply = (
  name: string,
  data: object,
  query = 'fieldManager=m',
  metadata: object = {},
): Promise<Sent> =>
  verbs.apply(replica.store('configmaps'), name, configMap(name, { data }, metadata), { query });
/** Memory has what was written. */
const seen = ({ metadata: { name, resourceVersion } }: Sent): Promise<Sent> =>
  verbs.get(replica.store('configmaps'), name, resourceVersion);

test('changes nothing, and etcd is asked for the object once', async () => {
  const name = fresh();
  const made = await apply(name, { a: '1' });
  await seen(made);
  const answers: Sent[] = [];
  readCount = 0;
  for (let turn = 0; turn < 5; turn += 1) answers.push(await apply(name, { a: '1' }));
  expect(answers).toEqual(Array.from({ length: 5 }, () => made));
  expect(readCount).toBe(1);
  // Of the first two the owners were made; after that nothing is.
  expect(shown.get(name)).toEqual([false, false, true, true, true, true]);
});

test('is not copied where no plugin changes such objects', async () => {
  const made = await apply(unseen, { a: '1' });
  await seen(made);
  for (let turn = 0; turn < 3; turn += 1) expect(await apply(unseen, { a: '1' })).toEqual(made);
  expect(areOld).toEqual([false, false, true, true]);
  expect((await apply(unseen, { a: '2' }))['data']).toEqual({ a: '2' });
});

test('what others did between counts', async () => {
  const name = fresh();
  const store = replica.store('configmaps');
  const twice = async (): Promise<Sent> => {
    await seen(await apply(name, { a: '1' }));
    return apply(name, { a: '1' });
  };
  await twice();
  await seen(await verbs.patch(store, name, { data: { b: '2' } }));
  expect((await twice())['data']).toEqual({ a: '1', b: '2' });
  await seen(await verbs.patch(store, name, { data: { a: '3' } }, { query: 'fieldManager=o' }));
  expect(await codeOf(apply(name, { a: '1' }))).toBe(409);
  const forced = await apply(name, { a: '1' }, 'fieldManager=m&force=true');
  expect(forced['data']).toEqual({ a: '1', b: '2' });
  await verbs.remove(store, name);
  const again = await apply(name, { a: '1' });
  expect(again.metadata.uid).not.toBe(forced.metadata.uid);
  expect(again['data']).toEqual({ a: '1' });
});

test('what another replica did counts before memory knows it', async () => {
  const name = fresh();
  await apply(name, { a: '1' });
  const behind = await registry.replica({ isFrozen: true });
  const late = (): Promise<Sent> =>
    new VerbDriver(behind).apply(
      behind.store('configmaps'),
      name,
      configMap(name, { data: { a: '1' } }),
      { query: 'fieldManager=m' },
    );
  await late();
  await late();
  const { metadata } = await verbs.patch(
    replica.store('configmaps'),
    name,
    { data: { a: '2' } },
    { query: 'fieldManager=other' },
  );
  expect(await codeOf(late())).toBe(409);
  await apply(name, { a: '1' }, 'fieldManager=m&force=true');
  const last = await late();
  expect(Number(last.metadata.resourceVersion)).toBeGreaterThan(Number(metadata.resourceVersion));
});

test('another manager, and force, are other requests', async () => {
  const name = fresh();
  await seen(await apply(name, { a: '1' }));
  await seen(await apply(name, { a: '1' }));
  const shared = await seen(await apply(name, { a: '1' }, 'fieldManager=n'));
  expect(ownersOf(shared)).toEqual(['m: .data.a', 'n: .data.a']);
  const forced = await apply(name, { a: '1' }, 'fieldManager=n&force=true');
  expect(forced).toEqual(shared);
});

test('warnings come each time, and strict validation refuses what was taken before', async () => {
  const name = fresh();
  const store = replica.store('configmaps');
  const ask = async (fieldValidation: string): Promise<string[]> => {
    const { warnings, ...rest } = scope();
    const body = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name }, dat: {} };
    const query = params(`fieldManager=m&fieldValidation=${fieldValidation}`);
    await store.patch({
      ...{ ...rest, warnings, kind: 'apply', patch: bytesOf(body) },
      path: { namespace: 'ns', name, subresource: '' },
      options: parseWriteOptions(query, 'apply', replica.naming),
    });
    return warnings;
  };
  await ask('Warn');
  await seen(await verbs.get(store, name));
  for (let turn = 0; turn < 3; turn += 1) {
    expect(await ask('Warn')).toEqual(['unknown field "dat"']);
  }
  expect(await ask('Ignore')).toEqual([]);
  expect(await ask('Ignore')).toEqual([]);
  expect(await codeOf(ask('Strict'))).toBe(400);
});

test('what admission takes back is shown to it each time', async () => {
  const name = fresh();
  const labels = { mutate: 'yes' };
  const made = await apply(name, {}, 'fieldManager=m', { labels });
  expect(made.metadata['labels']).toEqual({ mutate: 'done' });
  await seen(made);
  const answers: Sent[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    answers.push(await seen(await apply(name, {}, 'fieldManager=m', { labels })));
  }
  for (const answer of answers) expect(answer.metadata['labels']).toEqual({ mutate: 'done' });
  expect(shown.get(name)).toEqual([false, false, false, false]);
});

test('a thousand at once beside one change: none is answered by what was before it', async () => {
  const name = fresh();
  const store = replica.store('configmaps');
  await apply(name, { a: '1' });
  const settled = await seen(await apply(name, { a: '1' }));
  const before = Array.from({ length: 500 }, () => apply(name, { a: '1' }));
  const changed = await verbs.patch(store, name, { data: { b: '2' } });
  const after = Array.from({ length: 500 }, () => apply(name, { a: '1' }));
  const versions = [settled, changed].map(({ metadata }) => metadata.resourceVersion);
  for (const { metadata } of await Promise.all(before)) {
    expect(versions).toContain(metadata.resourceVersion);
  }
  for (const answer of await Promise.all(after)) expect(answer).toEqual(changed);
});
