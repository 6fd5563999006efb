import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { apiVersionOf } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import type { WatchEvent } from '../cacher/resource-view.ts';
import { encodeStored } from '../codec/stored-form.ts';
import { createKeyspace } from '../storage-etcd/keys.ts';
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
  sent,
  VerbDriver,
} from './testing/verb-driver.ts';

const namespace = 'ns';
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

describe('lists', () => {
  const secretsIn = async (at: string): Promise<{ store: ResourceStore; versions: string[] }> => {
    const store = replica.store('secrets');
    const versions: string[] = [];
    for (const [index, name] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      const labels = { parity: index % 2 === 0 ? 'even' : 'odd' };
      const made = await verbs.create(store, { metadata: { name, labels } }, '', at);
      versions.push(made.metadata.resourceVersion);
    }
    return { store, versions };
  };

  test('go on from chunk to chunk in one snapshot', async () => {
    const { store } = await secretsIn('chunks');
    const one = await verbs.list(store, 'limit=2', 'chunks');
    expect([namesOf(one), one.remainingItemCount]).toEqual([['a', 'b'], 3]);
    await verbs.remove(store, 'c', { namespace: 'chunks' });
    const two = await verbs.list(store, `limit=2&continue=${one.continueToken}`, 'chunks');
    expect([namesOf(two), two.remainingItemCount, two.revision]).toEqual([
      ['c', 'd'],
      1,
      one.revision,
    ]);
    const three = await verbs.list(store, `limit=2&continue=${two.continueToken}`, 'chunks');
    expect([namesOf(three), three.remainingItemCount, three.continueToken]).toEqual([
      ['e'],
      undefined,
      '',
    ]);
    expect(namesOf(await verbs.list(store, '', 'chunks'))).toEqual(['a', 'b', 'd', 'e']);
  });

  test('a token is good on another replica, but not for another list', async () => {
    const { store } = await secretsIn('tokens');
    const { continueToken } = await verbs.list(store, 'limit=2', 'tokens');
    const other = await registry.replica();
    const rest = await verbs.list(other.store('secrets'), `continue=${continueToken}`, 'tokens');
    expect(namesOf(rest)).toEqual(['c', 'd', 'e']);
    expect(await codeOf(verbs.list(store, `continue=${continueToken}`, 'chunks'))).toBe(400);
    const labelled = `continue=${continueToken}&labelSelector=parity%3Deven`;
    expect(await codeOf(verbs.list(store, labelled, 'tokens'))).toBe(400);
  });

  test('read at versions', async () => {
    const { store, versions } = await secretsIn('versions');
    await verbs.list(store, '', 'versions'); // The cache has seen the last one now.
    const old = versions[2] ?? '';
    const at = async (query: string): Promise<unknown[]> => {
      const answer = await verbs.list(store, query, 'versions');
      return [namesOf(answer).join(''), answer.remainingItemCount];
    };
    expect(await at(`resourceVersion=${old}`)).toEqual(['abcde', undefined]);
    expect(await at(`resourceVersion=${old}&limit=2`)).toEqual(['ab', 1]);
    expect(await at(`resourceVersion=${old}&resourceVersionMatch=Exact`)).toEqual([
      'abc',
      undefined,
    ]);
    expect(await at(`resourceVersion=${old}&resourceVersionMatch=NotOlderThan&limit=2`)).toEqual([
      'ab',
      3,
    ]);
    expect(await codeOf(at('resourceVersion=abc'))).toBe(400);
    expect(await failure(at('resourceVersion=999999999999999'))).toMatchObject({
      code: 504,
      details: { retryAfterSeconds: 1 },
    });
  });

  test('select by labels and fields', async () => {
    const { store } = await secretsIn('select');
    const select = async (query: string): Promise<unknown[]> => {
      const answer = await verbs.list(store, query, 'select');
      return [namesOf(answer).join(''), answer.remainingItemCount, answer.continueToken !== ''];
    };
    expect(await select('labelSelector=parity%3Deven&limit=2')).toEqual(['ac', undefined, true]);
    expect(await select('fieldSelector=metadata.name%3Db')).toEqual(['b', undefined, false]);
    expect(await select('fieldSelector=metadata.name%3Db,metadata.name%3Dc')).toEqual([
      '',
      undefined,
      false,
    ]);
    expect(await select('fieldSelector=metadata.namespace%3Dzzz')).toEqual(['', undefined, false]);
    expect(await codeOf(select('fieldSelector=spec.x%3D1'))).toBe(400);
    expect(await codeOf(select('labelSelector=a%3Db%3Dc'))).toBe(400);
  });

  test('an expired token’s 410 carries one that reads the rest', async () => {
    const { store } = await secretsIn('expired');
    const { continueToken, revision } = await verbs.list(store, 'limit=2', 'expired');
    await verbs.create(configMaps, configMap(fresh()));
    const late = await registry.replica();
    await registry.etcd.etcdctl('compact', String(revision + 1));
    const error = await failure(
      verbs.list(late.store('secrets'), `continue=${continueToken}`, 'expired'),
    );
    expect([error.code, error.reason]).toEqual([410, 'Expired']);
    const token = (error.toBody().metadata as { continue?: string }).continue ?? '';
    expect(namesOf(await verbs.list(store, `continue=${token}`, 'expired'))).toEqual([
      'c',
      'd',
      'e',
    ]);
  });

  test('deletecollection deletes what is selected and answers it', async () => {
    const { store } = await secretsIn('collection');
    const clear = async (query: string): Promise<string[]> =>
      namesOf(
        await store.deleteCollection({
          ...scope(),
          namespace: 'collection',
          list: parseListOptions(params(query)),
          options: parseDeleteOptions(params(query), undefined, replica.naming),
        }),
      );
    expect(await clear('labelSelector=parity%3Deven&dryRun=All')).toEqual(['a', 'c', 'e']);
    expect(await clear('labelSelector=parity%3Deven')).toEqual(['a', 'c', 'e']);
    expect(await clear('limit=1')).toEqual(['b']);
    expect(namesOf(await verbs.list(store, '', 'collection'))).toEqual(['d']);
    expect(await clear('')).toEqual(['d']);
    expect(await clear('')).toEqual([]);
  });
});

describe('watch', () => {
  const watch = async (query: string): Promise<string[]> => {
    const options = parseListOptions(params(query));
    const { signal } = scope();
    const answer = await configMaps.watch({ namespace, name: 'watched', options, signal });
    const seen: string[] = [];
    while (seen.at(-1) !== 'DELETED') {
      for (const { type } of (await answer.cursor.next(signal)) ?? []) seen.push(type);
    }
    answer.cursor.close();
    return seen;
  };

  test('of one object from now on shows its changes', async () => {
    const all = watch('sendInitialEvents=false&resourceVersionMatch=NotOlderThan');
    await new Promise((resolve) => setTimeout(resolve, 200));
    await verbs.create(configMaps, configMap('watched'));
    await verbs.patch(configMaps, 'watched', { data: { k: 'v' } });
    await verbs.patch(configMaps, 'watched', { data: { k: 'v' } });
    await verbs.remove(configMaps, 'watched');
    expect(await all).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
  });

  test.each([
    'metadata.name!%3Dother',
    'metadata.name%3Dother',
    `metadata.namespace%3D${namespace}`,
  ])('of one object that fieldSelector=%s does not name is a 400', async (selector) => {
    expect(await codeOf(watch(`fieldSelector=${selector}`))).toBe(400);
  });
});

describe('writes on an old cache', () => {
  test('are decided on what etcd holds', async () => {
    const other = await registry.replica();
    const theirs = other.store('configmaps');
    // Their cache stops here: everything that follows is news to it.
    await other.cache.stop();
    const name = fresh();
    const made = await verbs.create(configMaps, configMap(name, { data: { k: '1' } }));
    expect((await verbs.patch(theirs, name, { data: { l: '2' } }))['data']).toEqual({
      k: '1',
      l: '2',
    });
    const now = await verbs.get(configMaps, name);
    const stated = configMap(name, {}, { resourceVersion: now.metadata.resourceVersion });
    const put = await verbs.update(theirs, name, stated);
    expect(sent(put.item).metadata.uid).toBe(made.metadata.uid);
    await verbs.remove(theirs, name);
    expect(await codeOf(verbs.get(configMaps, name))).toBe(404);
  });
});

describe('other versions', () => {
  test('show and take the same objects', async () => {
    const newer = replica.store('autoscaling/horizontalpodautoscalers', 'v2');
    const older = replica.store('autoscaling/horizontalpodautoscalers', 'v1');
    const name = fresh();
    const made = await verbs.create(older, {
      metadata: { name },
      spec: {
        maxReplicas: 3,
        targetCPUUtilizationPercentage: 80,
        scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' },
      },
    });
    expect(made['apiVersion']).toBe('autoscaling/v1');
    const shown = await verbs.get(newer, name);
    expect(shown['apiVersion']).toBe('autoscaling/v2');
    expect(shown.metadata).toEqual(made.metadata);
    const patched = await verbs.patch(newer, name, { spec: { maxReplicas: 5 } });
    expect(patched['apiVersion']).toBe('autoscaling/v2');
    const [item] = (await verbs.list(older)).items;
    expect(Buffer.from(item?.listJson() ?? []).toString()).toMatch(/^\{"metadata":\{"name":/);
    expect((await verbs.get(older, name))['spec']).toMatchObject({
      maxReplicas: 5,
      targetCPUUtilizationPercentage: 80,
    });
  });

  const scheme = builtInScheme({ profile: namingProfile('svc') });
  const keyspace = createKeyspace('/registry');
  const converted = scheme.resources
    .filter(({ virtual, storagePrefix }) => !virtual && storagePrefix !== '')
    .map((resource) => ({ resource, storedAs: scheme.storageResource(resource) }))
    .filter(({ resource, storedAs }) => resource !== storedAs)
    .map((pair) => ({
      ...pair,
      what: pair.resource.resource,
      as: apiVersionOf(pair.resource.kind),
    }));

  test.each(converted)('$what as $as: lists and live events', async ({ resource, storedAs }) => {
    const { namespaced } = resource;
    const place = namespaced ? { namespace: 'ns' } : {};
    const store = replica.store(`${resource.group}/${resource.resource}`, resource.version);
    const { signal } = scope();
    const { revision } = await verbs.list(store);
    const start = { from: 'revision', revision } as const;
    const cursors = [await store.view.watch({}, start, { bookmarks: false }, signal)];
    for (const labelSelector of ['', '', 'step']) {
      const query = params(`resourceVersion=${String(revision)}&labelSelector=${labelSelector}`);
      const options = parseListOptions(query);
      const answer = await store.watch({ namespace: '', name: '', options, signal });
      cursors.push(answer.cursor);
    }
    const key = keyspace.key(storedAs.storagePrefix, namespaced ? 'ns' : '', 'converted');
    let expected = 0;
    for (const step of ['ADDED', 'MODIFIED', 'DELETED']) {
      const { kind } = storedAs.kind;
      const metadata = { name: 'converted', ...place, uid: 'u', labels: { step } };
      const object = { kind, apiVersion: apiVersionOf(storedAs.kind), metadata };
      const written =
        step === 'DELETED'
          ? await replica.storage.delete(key, { expected }, signal)
          : await replica.storage.put(
              key,
              encodeStored(object, storedAs).value,
              { expected },
              signal,
            );
      if (!written.ok) throw new Error('nobody else writes the object');
      expected = written.revision;
      const metadataOfEvent = { name: 'converted', resourceVersion: String(expected) };
      const asStored = { apiVersion: apiVersionOf(storedAs.kind), metadata: metadataOfEvent };
      const asServed = { apiVersion: apiVersionOf(resource.kind), metadata: metadataOfEvent };
      if (step !== 'DELETED') {
        const { items } = await verbs.list(store, 'labelSelector=step');
        expect(items.map(sent)).toMatchObject([asServed]);
      }
      const events = await Promise.all(cursors.map((cursor) => cursor.next(signal)));
      expect(events.flatMap((some) => some?.map(({ type }) => type))).toEqual(Array(4).fill(step));
      const frame = ({ item }: WatchEvent): Uint8Array => item?.json() ?? new Uint8Array();
      const frames = events.flatMap((some) => some?.map((event) => event.memo('test', frame)));
      const shown = frames.map(
        (bytes) => JSON.parse(Buffer.from(bytes ?? []).toString()) as object,
      );
      expect(shown).toMatchObject([asStored, asServed, asServed, asServed]);
      // Made once for all watchers of one version.
      expect(new Set(frames).size).toBe(2);
    }
    for (const cursor of cursors) cursor.close();
  });
});
