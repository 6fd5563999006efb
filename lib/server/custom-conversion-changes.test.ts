// Definitions with a conversion webhook that change while clients work: storage versions that move,
// versions that come and go, another webhook or none.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ConversionServer } from '../crd/conversion/testing/conversion-server.ts';
import { definingReplica } from '../crd/testing/definitions-on-etcd.ts';
import { startApiServer } from './testing/api-server.ts';
import { sendTo } from './testing/api-on-etcd.ts';
import {
  conversionBy,
  ConvertedApi,
  convertedCrates,
  crateVersion,
  movedCrate,
  versionNames,
} from './testing/converted-api.ts';
import type { Crates } from './testing/converted-api.ts';
import { eventually } from './testing/test-server.ts';

let api: ConvertedApi;
let crates: Crates;
beforeAll(async () => {
  api = await ConvertedApi.start();
});
afterAll(() => api.stop());
beforeEach(async () => {
  api.mend();
  crates = await api.define();
});

const red = { color: 'red', size: 3 };
const shown = { v1: red, v2: { paint: 'red', count: 3 }, v3: { tint: 'red', count: 3 } };
const revisionOf = ({ metadata }: { metadata: { resourceVersion: string } }): string =>
  metadata.resourceVersion;
const table = 'application/json;as=Table;v=v1;g=meta.svc.io';

describe('the storage version', () => {
  test('moves at once, and status.storedVersions says so in the same write', async () => {
    await crates.make('old', red);
    const moved = await crates.storeIn('v2');
    expect(moved).toMatchObject({ status: { storedVersions: ['v1', 'v2'] } });
    await crates.make('new', red);
    expect(await crates.inEtcd('old')).toMatchObject({ spec: shown.v1 });
    expect(await crates.inEtcd('new')).toMatchObject({ spec: shown.v2 });
    for (const version of versionNames) {
      const items = await crates.list(version);
      expect(items.map(({ spec }) => spec)).toEqual([shown[version], shown[version]]);
    }
  });

  test.each(versionNames)(
    'is that of all bytes once each object was read and written unchanged in %s',
    async (version) => {
      await crates.make('a', red);
      await crates.make('b', red);
      await crates.storeIn('v2');
      await crates.make('c', red);
      const before = await crates.list(version);
      for (const one of before) {
        const line = `PUT ${crates.path(version, one.metadata.name)}`;
        const written = await api.served.answered(line, { body: one });
        const { resourceVersion: _revision, ...metadata } = one.metadata;
        expect(written).toMatchObject({ spec: shown[version], metadata });
        // What lies in the storage version is not written again.
        expect(revisionOf(written) === revisionOf(one)).toBe(one.metadata.name === 'c');
      }
      for (const name of ['a', 'b', 'c']) {
        expect(await crates.inEtcd(name)).toMatchObject({ spec: shown.v2 });
      }
      const line = `PATCH ${crates.definition}/status`;
      const body = { status: { storedVersions: ['v2'] } };
      expect(await api.served.answered(line, { body })).toMatchObject(body);
      expect((await crates.list(version)).map(({ spec }) => spec)).toEqual(
        Array.from({ length: 3 }, () => shown[version]),
      );
    },
  );

  test('that objects may lie in stays in the definition', async () => {
    await crates.storeIn('v2');
    const versions = [{ ...crateVersion('v2'), storage: true }];
    const refused = await api.served.refused(`PATCH ${crates.definition}`, {
      body: { spec: { versions } },
    });
    expect(refused).toMatchObject({ code: 422, causes: [{ field: 'status.storedVersions[0]' }] });
  });

  test('is not believed to be that of all bytes while status.storedVersions lacks it', async () => {
    await crates.make('a', red);
    await crates.storeIn('v2');
    const body = { status: { storedVersions: ['v1'] } };
    await api.served.answered(`PATCH ${crates.definition}/status`, { body });
    expect(await crates.list('v2', 'fieldSelector=spec.paint%3Dred')).toHaveLength(1);
  });

  test('need not be served', async () => {
    await crates.make('a', red);
    await crates.serve('v1', false);
    expect((await crates.get('v2', 'a'))['spec']).toEqual(shown.v2);
    await crates.patch('v3', 'a', { spec: { tint: 'blue' } });
    expect((await crates.inEtcd('a'))['spec']).toEqual({ color: 'blue', size: 3 });
  });
});

describe('a version that is served no more', () => {
  test('is 404 for every verb and watch, and nothing of it is lost', async () => {
    const made = await crates.write('v2', 'a', red);
    const watch = await crates.watch('v2');
    const other = await crates.watch('v3');
    await watch.count(1);
    await crates.serve('v2', false);
    await watch.ended();
    expect(watch.told).toEqual(['ADDED a']);
    await other.ended();
    expect(other.told).toEqual(['ADDED a']);
    const item = crates.path('v2', 'a');
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      for (const path of [item, `${item}/status`, `${item}/scale`]) {
        if (method === 'DELETE' && path !== item) continue;
        const body = method === 'GET' || method === 'DELETE' ? {} : { body: made };
        expect([method, path, (await crates.send(`${method} ${path}`, body)).status]).toEqual([
          ...[method, path, 404],
        ]);
      }
    }
    const list = crates.path('v2');
    for (const line of [`GET ${list}`, `GET ${list}?watch=1`, `DELETE ${list}`]) {
      expect((await crates.send(line)).status).toBe(404);
    }
    expect((await crates.send(`POST ${list}`, { body: made })).status).toBe(404);
    await crates.serve('v2', true);
    const again = await crates.get('v2', 'a');
    expect(again).toEqual(made);
  });

  test('and is stored is read by those that are', async () => {
    await crates.make('a', red);
    await crates.storeIn('v2');
    await crates.serve('v1', false);
    expect((await crates.get('v3', 'a'))['spec']).toEqual(shown.v3);
    expect((await crates.list('v2')).map(({ spec }) => spec)).toEqual([shown.v2]);
    await crates.serve('v1', true);
    expect((await crates.get('v1', 'a'))['spec']).toEqual(shown.v1);
  });
});

describe('a conversion that changes', () => {
  /** Another webhook, which is not of the same opinion. */
  const withOther = async (run: (other: ConversionServer) => Promise<void>): Promise<void> => {
    await using other = await ConversionServer.start();
    other.answer = (review, exchange) =>
      convertedCrates(
        {
          ...review,
          request: {
            ...review.request,
            objects: review.request.objects.map((object) => ({
              ...object,
              spec: { color: 'gold', size: 7 },
            })),
          },
        },
        exchange,
      );
    await run(other);
  };

  test('to another webhook is that of the next request: no bytes of the former are shown', () =>
    withOther(async (other) => {
      await crates.make('a', red);
      const item = crates.path('v2', 'a');
      const list = crates.path('v2');
      const read = async (): Promise<unknown[]> => [
        (await crates.get('v2', 'a'))['spec'],
        (await crates.list('v2')).map(({ spec }) => spec),
        (await api.served.answered(`GET ${item}/scale`))['spec'],
        (await api.served.answered(`GET ${list}`, { accept: table }))['rows'],
      ];
      expect(await read()).toMatchObject([
        ...[shown.v2, [shown.v2], { replicas: 3 }, [{ cells: ['a', 'red'] }]],
      ]);
      const count = api.calls.length;
      await crates.redefine((spec) => void (spec['conversion'] = conversionBy(other)));
      const gold = { paint: 'gold', count: 7 };
      expect(await read()).toMatchObject([
        ...[gold, [gold], { replicas: 7 }, [{ cells: ['a', 'gold'] }]],
      ]);
      expect([api.calls.length - count, other.reviews.length]).toEqual([0, 1]);
    }));

  test('to another webhook ends watches without an ERROR, and they resume with it', () =>
    withOther(async (other) => {
      await crates.make('a', red);
      const watch = await crates.watch('v2', 'allowWatchBookmarks=true');
      await watch.count(1);
      await crates.redefine((spec) => void (spec['conversion'] = conversionBy(other)));
      await watch.ended();
      expect(watch.events.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
      const last = watch.events.at(-1)?.object;
      const next = await crates.watch('v2', `resourceVersion=${last ? revisionOf(last) : ''}`);
      await crates.make('b', red);
      await next.count(1);
      expect(next.events.map(({ type, object }) => [type, object['spec']])).toEqual([
        ['ADDED', { paint: 'gold', count: 7 }],
      ]);
      next.close();
    }));

  test('ends watches that wait for a webhook that hangs', async () => {
    await using hanging = await ConversionServer.start();
    hanging.answer = () => undefined;
    const slow = await api.define({ hook: hanging });
    const { resourceVersion } = (await slow.make('a', red)).metadata;
    const query = `allowWatchBookmarks=true&resourceVersion=${resourceVersion}`;
    const watches = [await slow.watch('v2', query), await slow.watch('v3', query)];
    const selecting = await slow.watch('v2', `${query}&fieldSelector=spec.paint%3Dblue`);
    await slow.patch('v1', 'a', { spec: { color: 'blue' } });
    await eventually(() => hanging.reviews.length > 1);
    await slow.redefine((spec) => void (spec['conversion'] = conversionBy(api.hook)));
    for (const watch of [...watches, selecting]) {
      await watch.ended();
      expect(watch.events.map(({ type }) => type)).toEqual(['BOOKMARK']);
      const [last] = watch.events;
      const again = `resourceVersion=${last ? revisionOf(last.object) : ''}`;
      const next = await slow.watch('v2', again);
      await next.count(1);
      expect(next.events).toMatchObject([
        { type: 'MODIFIED', object: { spec: { paint: 'blue' } } },
      ]);
      next.close();
    }
  });

  test('from a webhook to none and back loses nothing, whatever lies in etcd', async () => {
    await crates.make('a', red);
    await crates.storeIn('v2');
    await crates.make('b', red);
    const watch = await crates.watch('v3');
    await watch.count(2);
    await crates.redefine((spec) => void (spec['conversion'] = { strategy: 'None' }));
    await watch.ended();
    api.mend();
    expect(watch.told.toSorted()).toEqual(['ADDED a', 'ADDED b']);
    // Nothing but the name of the version changes now, and what it does not know is not shown.
    const specs = async (version: 'v1' | 'v2' | 'v3'): Promise<unknown[]> =>
      (await crates.list(version)).map(({ spec }) => spec ?? {});
    const none = await Promise.all(versionNames.map(specs));
    expect(none).toEqual([
      [{}, {}],
      [{}, { paint: 'red', count: 3 }],
      [{}, { count: 3 }],
    ]);
    expect(api.calls).toEqual([]);
    await crates.redefine((spec) => void (spec['conversion'] = conversionBy(api.hook)));
    expect(await Promise.all(versionNames.map(specs))).toEqual(
      versionNames.map((version) => [shown[version], shown[version]]),
    );
  });

  test('by its schema alone shows what the new one knows', async () => {
    await crates.make('a', { ...red, note: 'n' });
    expect((await crates.get('v2', 'a'))['spec']).toEqual({ ...shown.v2, note: 'n' });
    const plain = { type: 'object', properties: { paint: { type: 'string' } } };
    await crates.redefine((_spec, versions) => {
      const openAPIV3Schema = { type: 'object', properties: { spec: plain } };
      Object.assign(versions[1] ?? {}, { schema: { openAPIV3Schema }, subresources: {} });
    });
    expect((await crates.get('v2', 'a'))['spec']).toEqual({ paint: 'red' });
    expect((await crates.list('v2')).map(({ spec }) => spec)).toEqual([{ paint: 'red' }]);
  });

  test('every few milliseconds fails no request', async () => {
    await crates.make('a', red);
    let isOver = false;
    const work = versionNames.map(async (version) => {
      let count = 0;
      while (!isOver) {
        await crates.patch(version, 'a', { spec: { note: `${version} ${String(++count)}` } });
        expect(await crates.list(version)).toHaveLength(1);
      }
      return count;
    });
    for (let change = 0; change < 20; change++) {
      await crates.storeIn(change % 2 === 0 ? 'v2' : 'v1');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    isOver = true;
    for (const count of await Promise.all(work)) expect(count).toBeGreaterThan(0);
    expect((await crates.get('v3', 'a'))['spec']).toMatchObject(shown.v3);
  });
});

test('a definition that was deleted and is made again converts its own way', async () => {
  await crates.make('a', red);
  expect((await crates.get('v2', 'a'))['spec']).toEqual(shown.v2);
  await using other = await ConversionServer.start();
  other.answer = ({ kind, apiVersion, request }) => ({
    ...{ kind, apiVersion },
    response: {
      uid: request.uid,
      result: { status: 'Success' },
      convertedObjects: request.objects.map((object) => ({
        ...movedCrate(object, request.desiredAPIVersion),
        spec: { paint: 'made again' },
      })),
    },
  });
  await api.served.answered(`DELETE ${crates.path('v1', 'a')}`);
  await api.served.answered(`DELETE ${crates.definition}`);
  await api.served.send(`PATCH ${crates.definition}`, { body: { metadata: { finalizers: null } } });
  await eventually(
    () => api.served.custom.served.storeOf(`${crates.plural}.example.com`) === undefined,
  );
  expect((await crates.send(`GET ${crates.path('v2', 'a')}`)).status).toBe(404);
  api.mend();
  await api.served.custom.define({
    plural: crates.plural,
    versions: [{ name: 'v1' }],
    more: {
      versions: versionNames.map((name) => ({ ...crateVersion(name), storage: name === 'v1' })),
      conversion: conversionBy(other),
    },
  });
  expect(await crates.list('v2')).toEqual([]);
  await crates.make('a', red);
  expect((await crates.get('v2', 'a'))['spec']).toEqual({ paint: 'made again' });
  expect(api.calls).toEqual([]);
});

test('every replica converts, and takes up what another one changed', async () => {
  await crates.make('a', red);
  const there = await definingReplica(api.served.api.registry);
  const server = await startApiServer(there.replica);
  const line = (version: 'v1' | 'v2' | 'v3'): string => `GET ${crates.path(version, 'a')}`;
  const specThere = async (version: 'v1' | 'v2' | 'v3'): Promise<unknown> =>
    ((await sendTo(server, line(version))).json as { spec?: unknown }).spec;
  for (const version of versionNames) expect(await specThere(version)).toEqual(shown[version]);
  await crates.storeIn('v3');
  const patched = await sendTo(server, `PATCH ${crates.path('v2', 'a')}`, {
    body: { spec: { count: 4 } },
  });
  expect([patched.status, patched.json]).toMatchObject([200, { spec: { paint: 'red', count: 4 } }]);
  expect((await crates.inEtcd('a'))['spec']).toEqual({ tint: 'red', count: 4 });
  expect((await crates.get('v1', 'a'))['spec']).toEqual({ color: 'red', size: 4 });
  there.end();
  await server[Symbol.asyncDispose]();
});
