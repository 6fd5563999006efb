// Objects that are served in a version which only a call that waits can convert to: what each verb
// answers, how often it calls, and what it says when the call fails.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { internalError } from '../base/status.ts';
import type { WatchCursor, WatchEvent } from '../cacher/resource-view.ts';
import { parseDeleteOptions, parseListOptions } from './options.ts';
import type { ListAnswer } from './requests.ts';
import { awaitedStore, scaler, selectableInV1 } from './testing/awaited-store.ts';
import type { AwaitedStore } from './testing/awaited-store.ts';
import { RegistryOnEtcd } from './testing/registry-on-etcd.ts';
import type { Replica } from './testing/registry-on-etcd.ts';
import {
  codeOf,
  failure,
  fresh,
  namesOf,
  objectOf,
  params,
  scope,
  sent,
  VerbDriver,
} from './testing/verb-driver.ts';

const { signal } = new AbortController();
const as = 'autoscaling/v1';
const wait = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
let registry: RegistryOnEtcd;
let replica: Replica;
let verbs: VerbDriver;
let store: AwaitedStore;

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  verbs = new VerbDriver(replica);
});
afterAll(() => registry.stop());

/** Nothing is stored before a test. */
beforeEach(async () => {
  store = awaitedStore(replica);
  store.before = wait;
  await clear(store.stored);
});

async function clear(of: AwaitedStore['served'], query = ''): Promise<ListAnswer> {
  const list = parseListOptions(params(query));
  const options = parseDeleteOptions(params(''), undefined, replica.naming);
  return of.deleteCollection({ ...scope(), namespace: 'ns', list, options });
}

async function watch(query = '', of = store.served): Promise<WatchCursor> {
  const { revision } = await verbs.list(store.stored);
  const options = parseListOptions(params(`resourceVersion=${String(revision)}&${query}`));
  return (await of.watch({ namespace: 'ns', name: '', options, signal })).cursor;
}
const seen = async (cursor: WatchCursor): Promise<string[]> =>
  ((await cursor.next(signal)) ?? []).map(({ type, item }) => `${type} ${item?.name ?? ''}`);

test('every verb answers in the version of the request', async () => {
  const { served } = store;
  const name = fresh();
  const spec = { targetCPUUtilizationPercentage: 80 };
  const created = await verbs.create(served, scaler(name, 80));
  expect(created).toMatchObject({ apiVersion: as, spec });
  expect(await verbs.get(served, name)).toEqual(created);
  expect(await verbs.get(store.stored, name)).toMatchObject({
    apiVersion: 'autoscaling/v2',
    spec: { metrics: [{ type: 'Resource' }] },
  });
  const { item } = await verbs.update(served, name, scaler(name, 70));
  expect(sent(item)).toMatchObject({
    apiVersion: as,
    spec: { targetCPUUtilizationPercentage: 70 },
  });
  const operation = { op: 'replace', path: '/spec/targetCPUUtilizationPercentage', value: 60 };
  const patched = await verbs.patch(served, name, [operation]);
  expect(patched).toMatchObject({ apiVersion: as, spec: { targetCPUUtilizationPercentage: 60 } });
  expect((await verbs.list(served)).items.map(sent)).toEqual([patched]);
  const status = { status: { currentReplicas: 1, desiredReplicas: 2 } };
  const withStatus = await verbs.patch(served, name, status, { subresource: 'status' });
  expect(withStatus).toMatchObject({ apiVersion: as, ...status });
  const finalizers = ['example.com/hold'];
  await verbs.patch(served, name, { metadata: { finalizers } });
  const marked = await objectOf(verbs.remove(served, name));
  expect(marked).toMatchObject({ apiVersion: as, metadata: { finalizers } });
  const last = await verbs.patch(served, name, { metadata: { finalizers: null } });
  expect(last['apiVersion']).toBe(as);
  expect(await codeOf(verbs.get(served, name))).toBe(404);
});

test('a dry run and a write that changes nothing answer so, too', async () => {
  const { served } = store;
  const name = fresh();
  const rehearsed = await verbs.create(served, scaler(name, 80), 'dryRun=All');
  expect(rehearsed).toMatchObject({ apiVersion: as });
  const created = await verbs.create(served, scaler(name, 80));
  const { item } = await verbs.update(served, name, scaler(name, 80));
  expect(sent(item)).toEqual(created);
  expect(await codeOf(verbs.update(served, fresh(), scaler('another')))).toBe(400);
});

test('one call converts what a page lacks, and its bytes are kept', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) await verbs.create(store.served, scaler(name, 80));
  store = awaitedStore(await registry.replica());
  const first = await verbs.list(store.served, 'limit=2');
  expect(namesOf(first)).toEqual(['a', 'b']);
  const rest = await verbs.list(store.served, `continue=${first.continueToken}`);
  expect(namesOf(rest)).toEqual(['c', 'd', 'e']);
  const all = await verbs.list(store.served);
  expect(all.items.map(sent)).toEqual([...first.items, ...rest.items].map(sent));
  expect(await verbs.get(store.served, 'a')).toMatchObject({ apiVersion: as });
  expect(store.calls.map(({ count }) => count)).toEqual([2, 3]);
});

test('requests in the stored version convert nothing', async () => {
  const { stored, calls } = store;
  const name = fresh();
  const cursor = await watch('', stored);
  const made = await verbs.create(stored, {
    metadata: { name },
    spec: {
      maxReplicas: 1,
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
    },
  });
  await verbs.patch(stored, name, { spec: { maxReplicas: 2 } });
  await verbs.list(stored);
  await verbs.remove(stored, name);
  expect(made['apiVersion']).toBe('autoscaling/v2');
  expect(await seen(cursor)).toContain(`ADDED ${name}`);
  cursor.close();
  expect(calls).toEqual([]);
});

describe('watches', () => {
  test('share one call for each change, and the bytes of their frames', async () => {
    const cursors = await Promise.all(Array.from({ length: 20 }, () => watch()));
    const name = fresh();
    const all = Promise.all(cursors.map((cursor) => cursor.next(signal)));
    await verbs.create(store.stored, {
      metadata: { name },
      spec: {
        maxReplicas: 1,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      },
    });
    const events = (await all).map((some) => some?.[0]);
    for (const event of events) {
      expect(event).toMatchObject({ type: 'ADDED' });
      if (event?.item !== undefined) expect(sent(event.item)).toMatchObject({ apiVersion: as });
    }
    expect(store.calls).toEqual([{ count: 1, version: as }]);
    const frame = ({ item }: WatchEvent): Uint8Array => item?.json() ?? new Uint8Array();
    expect(new Set(events.map((event) => event?.memo('test', frame))).size).toBe(1);
    for (const cursor of cursors) cursor.close();
  });

  test('show the state that they begin with, and what is deleted', async () => {
    const name = fresh();
    await verbs.create(store.served, scaler(name, 80));
    const options = parseListOptions(
      params('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'),
    );
    const { cursor } = await store.served.watch({ namespace: 'ns', name: '', options, signal });
    expect(await seen(cursor)).toEqual([`ADDED ${name}`, 'BOOKMARK ']);
    await verbs.remove(store.stored, name);
    const [event] = (await cursor.next(signal)) ?? [];
    expect(event?.type).toBe('DELETED');
    expect(event?.item === undefined ? undefined : sent(event.item)).toMatchObject({
      apiVersion: as,
      metadata: { resourceVersion: String(event?.revision) },
    });
    cursor.close();
  });

  test('stand before the events that are being converted', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const cursor = await watch();
    const before = cursor.position;
    store.before = () => held;
    const client = new AbortController();
    const left = cursor.next(client.signal);
    const name = fresh();
    await verbs.create(store.stored, {
      metadata: { name },
      spec: {
        maxReplicas: 1,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      },
    });
    while (store.calls.length === 0) await wait();
    expect(cursor.position).toBe(before);
    client.abort(new Error('time is over'));
    await expect(left).rejects.toThrow('time is over');
    expect(cursor.position).toBe(before);
    release();
    expect(await seen(cursor)).toEqual([`ADDED ${name}`]);
    expect(cursor.position).toBeGreaterThan(before);
    cursor.close();
    expect(await cursor.next(signal)).toBeUndefined();
  });
});

describe('fields of the version of the request', () => {
  const eighty = `fieldSelector=${encodeURIComponent(`${selectableInV1}=80`)}`;
  const others = `fieldSelector=${encodeURIComponent(`${selectableInV1}!=80`)}`;

  test('select pages after the conversion', async () => {
    for (const [index, name] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      await verbs.create(store.served, scaler(name, index % 2 === 0 ? 80 : 70));
    }
    expect(namesOf(await verbs.list(store.served, eighty))).toEqual(['a', 'c', 'e']);
    expect(namesOf(await verbs.list(store.served, others))).toEqual(['b', 'd']);
    const page = await verbs.list(store.served, `${eighty}&limit=2`);
    expect([namesOf(page), page.remainingItemCount]).toEqual([['a', 'c'], undefined]);
    const rest = await verbs.list(store.served, `${eighty}&limit=2&continue=${page.continueToken}`);
    expect([namesOf(rest), rest.continueToken]).toEqual([['e'], '']);
    const named = `fieldSelector=${encodeURIComponent(`metadata.name!=a,${selectableInV1}=80`)}`;
    expect(namesOf(await verbs.list(store.served, named))).toEqual(['c', 'e']);
  });

  test('select what is deleted', async () => {
    await verbs.create(store.served, scaler('a', 80));
    await verbs.create(store.served, scaler('b', 70));
    const deleted = await clear(store.served, eighty);
    expect(deleted.items.map(sent)).toMatchObject([{ apiVersion: as, metadata: { name: 'a' } }]);
    expect(namesOf(await verbs.list(store.stored))).toEqual(['b']);
  });

  test('add and delete for watchers what begins and ceases to match', async () => {
    const cursor = await watch(eighty);
    const of = (percentage: number): object => ({
      spec: { targetCPUUtilizationPercentage: percentage },
    });
    await verbs.create(store.served, scaler('other', 70));
    await verbs.create(store.served, scaler('one', 70));
    await verbs.patch(store.served, 'one', of(80));
    expect(await seen(cursor)).toEqual(['ADDED one']);
    await verbs.patch(store.served, 'one', { spec: { maxReplicas: 9 } });
    expect(await seen(cursor)).toEqual(['MODIFIED one']);
    const { metadata } = await verbs.patch(store.served, 'one', of(70));
    const [left] = (await cursor.next(signal)) ?? [];
    expect(left?.type).toBe('DELETED');
    expect(left?.item === undefined ? undefined : sent(left.item)).toMatchObject({
      metadata: { resourceVersion: metadata.resourceVersion },
      ...of(80),
    });
    await verbs.remove(store.served, 'other');
    await verbs.patch(store.served, 'one', of(80));
    await verbs.remove(store.served, 'one');
    const last = await seen(cursor);
    while (last.length < 2) last.push(...(await seen(cursor)));
    expect(last).toEqual(['ADDED one', 'DELETED one']);
    cursor.close();
  });
});

describe('a conversion that fails', () => {
  const error = internalError('conversion webhook for autoscaling/v2 failed: no');
  const { message } = error;
  beforeEach(async () => {
    await verbs.create(store.stored, {
      metadata: { name: 'there' },
      spec: {
        maxReplicas: 1,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      },
    });
    store.before = () => Promise.reject(error);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['get', () => verbs.get(store.served, 'there')],
    ['list', () => verbs.list(store.served)],
    ['create', () => verbs.create(store.served, scaler('new'))],
    ['update', () => verbs.update(store.served, 'there', scaler('there', 80))],
    ['patch', () => verbs.patch(store.served, 'there', { spec: { maxReplicas: 2 } })],
    ['deletecollection', () => clear(store.served)],
  ])('fails a %s with its text', async (_verb, run) => {
    expect(await failure(run())).toMatchObject({ code: 500, message });
  });

  test('keeps no object from being deleted, nor from being read as it is stored', async () => {
    await verbs.remove(store.served, 'there');
    expect(namesOf(await verbs.list(store.stored))).toEqual([]);
  });

  test('fails a watch, which tells the same events once it goes on', async () => {
    const cursor = await watch();
    await verbs.patch(store.stored, 'there', { spec: { maxReplicas: 2 } });
    expect(await failure(cursor.next(signal))).toMatchObject({ code: 500, message });
    store.before = wait;
    expect(await seen(cursor)).toEqual(['MODIFIED there']);
    cursor.close();
  });
});
