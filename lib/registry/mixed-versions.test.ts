// Objects that lie in etcd in several versions of their kind, which only a call that waits converts
// between: who sees what in which version, and how often it is asked.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { parseListOptions } from './options.ts';
import { mixedStores, movedColor } from './testing/mixed-store.ts';
import { MixedWalls, wall } from './testing/mixed-walls.ts';
import { fresh, namesOf, objectOf, params, sent, VerbDriver } from './testing/verb-driver.ts';

const { signal } = new AbortController();
let walls: MixedWalls;
beforeAll(async () => {
  walls = await MixedWalls.start();
});
afterAll(() => walls.stop());
beforeEach(() => walls.reset());

describe('objects that are stored in several versions', () => {
  test('are read one by one in each version, by one call for each that is not in it', async () => {
    await walls.mix();
    expect(await walls.verbs.get(walls.store('v1'), 'old')).toMatchObject({
      spec: { color: 'red' },
    });
    expect(await walls.verbs.get(walls.store('v2'), 'new')).toMatchObject({
      spec: { paint: 'blue' },
    });
    expect(walls.calls).toEqual([]);
    expect(await walls.verbs.get(walls.store('v2'), 'old')).toMatchObject({
      apiVersion: 'example.com/v2',
      spec: { paint: 'red', size: 1 },
    });
    expect(await walls.verbs.get(walls.store('v1'), 'new')).toMatchObject({
      spec: { color: 'blue' },
    });
    expect(walls.calls).toEqual(['1 example.com/v2', '1 example.com/v1']);
  });

  test.each([
    ['v1', 'color', ['1 example.com/v1']],
    ['v2', 'paint', ['1 example.com/v2']],
    ['v3', 'tint', ['2 example.com/v3']],
  ] as const)('are listed as one in %s; items in it are not sent', async (version, field, made) => {
    await walls.mix();
    const list = await walls.verbs.list(walls.store(version));
    expect(list.items.map(sent)).toMatchObject([
      { apiVersion: `example.com/${version}`, spec: { [field]: 'blue' } },
      { apiVersion: `example.com/${version}`, spec: { [field]: 'red' } },
    ]);
    expect(walls.calls).toEqual(made);
  });

  test('are watched as one in every version', async () => {
    await walls.mix();
    const options = parseListOptions(
      params('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'),
    );
    for (const [version, field] of [
      ['v1', 'color'],
      ['v2', 'paint'],
      ['v3', 'tint'],
    ] as const) {
      const of = walls.store(version);
      const { cursor } = await of.watch({ namespace: 'ns', name: '', options, signal });
      const events = (await cursor.next(signal)) ?? [];
      expect(events.map(({ item }) => item && sent(item)['spec'])).toMatchObject([
        { [field]: 'blue' },
        { [field]: 'red' },
        undefined,
      ]);
      cursor.close();
    }
  });

  test('are deleted as one, and each deletion is told in every version', async () => {
    await walls.mix();
    const cursor = await walls.watch(walls.store('v3'));
    await walls.clear(walls.store('v2'));
    const seen: unknown[] = [];
    while (seen.length < 2) {
      for (const { type, item } of (await cursor.next(signal)) ?? []) {
        seen.push([type, item && (sent(item)['spec'] as { tint: string }).tint]);
      }
    }
    expect(seen.sort()).toEqual([
      ['DELETED', 'blue'],
      ['DELETED', 'red'],
    ]);
    cursor.close();
  });

  test.each([
    ['v1', 'spec.color=red', ['old']],
    ['v2', 'spec.paint=red', ['old']],
    ['v2', 'spec.paint!=red', ['new']],
    ['v3', 'spec.tint=blue', ['new']],
  ] as const)('are selected in %s by %s after the conversion', async (version, selector, names) => {
    await walls.mix();
    const query = `fieldSelector=${encodeURIComponent(selector)}`;
    expect(namesOf(await walls.verbs.list(walls.store(version), query))).toEqual(names);
  });

  test.each(['v1', 'v2', 'v3'] as const)(
    'are selected in %s by the labels that they have there',
    async (version) => {
      const labels = { 'shown-in': 'v1' };
      await walls.verbs.create(walls.store('v1'), wall('old', { color: 'red' }, { labels }));
      walls.storeIn('v2');
      const cursor = await walls.watch(walls.store(version), `labelSelector=shown-in=${version}`);
      await walls.verbs.create(
        walls.store('v2'),
        wall('new', { paint: 'blue' }, { labels: { 'shown-in': 'v2' } }),
      );
      const [added] = (await cursor.next(signal)) ?? [];
      expect([added?.type, added?.item?.labels]).toEqual(['ADDED', { 'shown-in': version }]);
      cursor.close();
      const list = (query: string): Promise<string[]> =>
        walls.verbs.list(walls.store(version), `labelSelector=${query}`).then(namesOf);
      expect(await list(`shown-in=${version}`)).toEqual(['new', 'old']);
      expect(await list(`shown-in!=${version}`)).toEqual([]);
    },
  );

  test('begin and cease to be selected for watchers of the storage version', async () => {
    await walls.mix();
    const cursor = await walls.watch(
      walls.store('v2'),
      `fieldSelector=${encodeURIComponent('spec.paint=red')}`,
    );
    await walls.verbs.patch(walls.store('v1'), 'old', { spec: { color: 'green' } });
    const [left] = (await cursor.next(signal)) ?? [];
    expect([left?.type, left?.item?.name]).toEqual(['DELETED', 'old']);
    cursor.close();
  });
});

describe('a storage version that moves', () => {
  test('acts at once: what is written lies in the new one, what is not stays', async () => {
    await walls.mix();
    expect(await walls.inEtcd('old')).toMatchObject({
      apiVersion: 'example.com/v1',
      spec: { color: 'red' },
    });
    expect(await walls.inEtcd('new')).toMatchObject({ apiVersion: 'example.com/v2' });
    await walls.verbs.patch(walls.store('v1'), 'old', { spec: { size: 2 } });
    expect(await walls.inEtcd('old')).toMatchObject({
      apiVersion: 'example.com/v2',
      spec: { paint: 'red', size: 2 },
    });
  });

  test.each(['v1', 'v2', 'v3'] as const)(
    'has bytes of the old one rewritten by a write in %s that changes nothing, once',
    async (version) => {
      await walls.mix();
      const before = await walls.verbs.get(walls.store(version), 'old');
      const after = await walls.verbs.patch(walls.store(version), 'old', {});
      expect(after.metadata.resourceVersion).not.toBe(before.metadata.resourceVersion);
      expect(after['spec']).toEqual(before['spec']);
      expect(after.metadata['generation']).toBe(1);
      expect(await walls.inEtcd('old')).toMatchObject({ apiVersion: 'example.com/v2' });
      const again = await walls.verbs.patch(walls.store(version), 'old', {});
      expect(again.metadata.resourceVersion).toBe(after.metadata.resourceVersion);
    },
  );

  test('is taken by updates, and by writes of the status', async () => {
    await walls.mix();
    const { metadata } = await walls.verbs.get(walls.store('v1'), 'old');
    const body = wall('old', { color: 'pink' }, { resourceVersion: metadata.resourceVersion });
    await walls.verbs.update(walls.store('v1'), 'old', body);
    expect(await walls.inEtcd('old')).toMatchObject({
      apiVersion: 'example.com/v2',
      spec: { paint: 'pink' },
    });
    walls.storeIn('v3');
    const status = { status: { phase: 'Done' } };
    const shown = await walls.verbs.patch(walls.store('v1'), 'old', status, {
      subresource: 'status',
    });
    expect(shown).toMatchObject({ spec: { color: 'pink' }, ...status });
    expect(await walls.inEtcd('old')).toMatchObject({
      apiVersion: 'example.com/v3',
      spec: { tint: 'pink' },
      ...status,
    });
  });

  test('shows a dry run as it would be stored, and stores nothing', async () => {
    await walls.mix();
    const patched = await walls.verbs.patch(
      walls.store('v1'),
      'old',
      { spec: { color: 'x' } },
      { query: 'dryRun=All' },
    );
    expect(patched).toMatchObject({ apiVersion: 'example.com/v1', spec: { color: 'x' } });
    expect(await walls.inEtcd('old')).toMatchObject({
      apiVersion: 'example.com/v1',
      spec: { color: 'red' },
    });
  });
});

describe('calls', () => {
  test('are one for each change, however many watch and list in another version', async () => {
    await walls.mix();
    const v3 = walls.store('v3');
    const cursors = await Promise.all(Array.from({ length: 100 }, () => walls.watch(v3)));
    const waits = Promise.all(cursors.map((cursor) => cursor.next(signal)));
    await walls.verbs.patch(walls.store('v2'), 'new', { spec: { size: 5 } });
    await waits;
    expect(walls.calls).toEqual(['1 example.com/v3']);
    walls.calls.length = 0;
    await Promise.all(Array.from({ length: 100 }, () => walls.verbs.list(v3)));
    await walls.verbs.list(v3);
    expect(walls.calls).toEqual(['1 example.com/v3']); // of the other object
    for (const cursor of cursors) cursor.close();
  });

  test('are not made for empty lists, nor for versions that are not asked for', async () => {
    await walls.verbs.list(walls.store('v3'));
    await walls.verbs.create(walls.store('v1'), wall(fresh(), { color: 'red' }));
    await walls.verbs.list(walls.store('v1'));
    expect(walls.calls).toEqual([]);
  });

  test('are made again once the way to convert has changed', async () => {
    await walls.verbs.create(walls.store('v1'), wall('one', { color: 'red' }));
    await walls.verbs.list(walls.store('v3'));
    await walls.verbs.list(walls.store('v3'));
    expect(walls.calls).toEqual(['1 example.com/v3']);
    walls.storeIn('v1');
    await walls.verbs.list(walls.store('v3'));
    expect(walls.calls).toEqual(['1 example.com/v3', '1 example.com/v3']);
  });

  test('for a long list are few, each of a bounded size', async () => {
    const big = 'x'.repeat(300_000);
    for (let count = 0; count < 8; count++) {
      await walls.verbs.create(walls.store('v1'), wall(fresh(), { color: big }));
    }
    const { items } = await walls.verbs.list(walls.store('v3'));
    expect(items.map((item) => sent(item)['apiVersion'])).toEqual(Array(8).fill('example.com/v3'));
    expect(walls.calls).toEqual(['3 example.com/v3', '3 example.com/v3', '2 example.com/v3']);
  });
});

test('replicas write in all versions at once, each in the storage version', async () => {
  await walls.mix();
  const second = await walls.registry.replica();
  const others = mixedStores(second, {
    storage: 'v2',
    converter: {
      convertAll: (objects, to) => Promise.resolve(objects.map((object) => movedColor(object, to))),
    },
  });
  const driver = new VerbDriver(second);
  const writes = ['v1', 'v2', 'v3'] as const;
  await Promise.all(
    writes.flatMap((version, index) => [
      walls.verbs.patch(walls.store(version), 'old', {
        metadata: { labels: { [`a${String(index)}`]: '1' } },
      }),
      driver.patch(others.store(version), 'old', {
        metadata: { labels: { [`b${String(index)}`]: '1' } },
      }),
    ]),
  );
  const stored = await walls.inEtcd('old');
  expect(stored).toMatchObject({
    apiVersion: 'example.com/v2',
    spec: { paint: 'red' },
  });
  expect(Object.keys((stored['metadata'] as { labels: object }).labels)).toHaveLength(6);
  expect(await objectOf(walls.verbs.remove(walls.store('v3'), 'old')).catch(() => 'gone')).toBe(
    'gone',
  );
});
