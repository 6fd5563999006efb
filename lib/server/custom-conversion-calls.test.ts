// How often the conversion webhook of a definition is called, and what goes on while it fails.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ConversionServer } from '../crd/conversion/testing/conversion-server.ts';
import type { AnswerReview } from '../crd/conversion/testing/conversion-server.ts';
import { ConvertedApi, convertedCrates } from './testing/converted-api.ts';
import type { Crates } from './testing/converted-api.ts';
import { OpenWatch } from './testing/open-watch.ts';
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

const hundred = Array.from({ length: 100 });
const table = 'application/json;as=Table;v=v1;g=meta.svc.io';
const partialList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.svc.io';
const configMaps = '/api/v1/namespaces/ns/configmaps';

describe('the webhook is called', () => {
  test('once a change by a hundred watchers, and by a hundred lists at once', async () => {
    await crates.make('a');
    const { resourceVersion } = (await crates.get('v1', 'a')).metadata;
    const query = `resourceVersion=${resourceVersion}`;
    const watches = await Promise.all(
      hundred.map((_one, at) => crates.watch('v2', query, at % 3 === 0 ? table : undefined)),
    );
    for (const color of ['blue', 'gold', 'grey']) {
      await crates.patch('v1', 'a', { spec: { color } });
    }
    for (const watch of watches) {
      await watch.count(3);
      expect(watch.told.length).toBe(3);
    }
    const converted = api.hook.reviews.flatMap(({ request }) => request.objects);
    expect(converted).toHaveLength(3);
    await crates.make('b');
    for (const watch of watches) await watch.count(4);
    expect(api.calls.slice(-1)).toEqual(['1 v2']);
    const count = api.calls.length;
    expect(api.hook.reviews.flatMap(({ request }) => request.objects)).toHaveLength(4);
    for (const watch of watches) watch.close();
    const lists = await Promise.all(hundred.map(() => crates.list('v2')));
    for (const items of lists) expect(items).toHaveLength(2);
    expect(api.calls).toHaveLength(count);
    const others = await Promise.all(hundred.map(() => crates.list('v3')));
    for (const items of others) expect(items).toHaveLength(2);
    expect(api.calls.slice(count)).toEqual(['2 v3']);
  });

  test('never for the stored version, empty lists, and versions that nobody asks for', async () => {
    expect(await crates.list('v2')).toEqual([]);
    const empty = await crates.watch('v2', 'timeoutSeconds=1');
    await crates.make('a');
    await empty.count(1);
    empty.close();
    expect(api.calls).toEqual(['1 v2']);
    api.mend();
    const watch = await crates.watch('v1');
    await crates.patch('v1', 'a', { spec: { color: 'blue' } });
    await crates.list('v1');
    await crates.list('v1', 'fieldSelector=spec.color%3Dblue');
    await crates.send(`GET ${crates.path('v1')}`, { accept: table });
    await crates.send(`GET ${crates.path('v1', 'a')}/scale`);
    await crates.send(`PATCH ${crates.path('v1', 'a')}/status`, { body: { status: { n: 1 } } });
    await crates.send(`DELETE ${crates.path('v1', 'a')}`);
    await crates.send(`DELETE ${crates.path('v1')}`);
    await watch.count(4);
    watch.close();
    expect(api.calls).toEqual([]);
  });

  test('not again for a Table, metadata, a scale or a selection of what is converted', async () => {
    await crates.make('a');
    await crates.make('b');
    await crates.list('v2');
    expect(api.calls).toEqual(['2 v2']);
    await crates.send(`GET ${crates.path('v2')}`, { accept: table });
    await crates.send(`GET ${crates.path('v2')}`, { accept: partialList });
    await crates.send(`GET ${crates.path('v2', 'a')}`);
    await crates.send(`GET ${crates.path('v2', 'a')}/scale`);
    await crates.list('v2', 'fieldSelector=spec.paint%3Dred');
    await crates.list('v2', 'limit=1');
    const watch = await crates.watch('v2');
    await watch.count(2);
    watch.close();
    expect(api.calls).toEqual(['2 v2']);
  });

  test('with few objects at a time for long lists', async () => {
    const note = 'x'.repeat(200_000);
    for (let count = 0; count < 12; count++) await crates.make(`a${String(count)}`, { note });
    expect(await crates.list('v2')).toHaveLength(12);
    expect(api.calls.toSorted()).toEqual(['2 v2', '5 v2', '5 v2']);
  });
});

const fails: AnswerReview = (_review, { response }) => {
  response.writeHead(500).end();
  return undefined;
};
const hangs: AnswerReview = () => undefined;
const failed = (kind: string): string =>
  `conversion webhook for example.com/v1, Kind=${kind} failed: `;
const of500 = 'an error on the server ("unknown") has prevented the request from succeeding';

describe('a webhook that answers 500', () => {
  beforeEach(async () => {
    await crates.make('a', { color: 'red', size: 3 }, { labels: { l: 'x' } });
    api.hook.answer = fails;
  });

  test.each<[string, (path: string) => string, object | undefined, 'one' | 'list' | 'other']>([
    ['a get', (path) => `GET ${path}/a`, undefined, 'one'],
    ['a list', (path) => `GET ${path}`, undefined, 'list'],
    ['a create', (path) => `POST ${path}`, { metadata: { name: 'b' } }, 'other'],
    ['an update', (path) => `PUT ${path}/a`, { metadata: { name: 'a' } }, 'one'],
    ['a patch', (path) => `PATCH ${path}/a`, { spec: { paint: 'blue' } }, 'one'],
    ['a status', (path) => `PATCH ${path}/a/status`, { status: { n: 1 } }, 'one'],
    ['a status read', (path) => `GET ${path}/a/status`, undefined, 'one'],
    ['a scale', (path) => `GET ${path}/a/scale`, undefined, 'one'],
    ['a scale write', (path) => `PATCH ${path}/a/scale`, { spec: { replicas: 1 } }, 'one'],
    [
      'a deletecollection by a field',
      (path) => `DELETE ${path}?fieldSelector=spec.paint%3Dred`,
      undefined,
      'list',
    ],
  ])('fails %s in a version that needs it, with its text', async (_claim, line, given, what) => {
    const { kind } = crates;
    const body = given && { kind, apiVersion: 'example.com/v2', ...given };
    const sent = body === undefined ? {} : { body };
    const { code, message } = await api.served.refused(line(crates.path('v2')), sent);
    const text = failed(what === 'list' ? `${kind}List` : kind) + of500;
    expect([code, message]).toEqual([500, what === 'other' ? text.replace('v1', 'v2') : text]);
    expect((await crates.get('v1', 'a'))['spec']).toEqual({ color: 'red', size: 3 });
    expect((await crates.send(`GET ${crates.path('v1', 'b')}`)).status).toBe(404);
  });

  test('ends watches in such versions with an ERROR event that says so', async () => {
    api.mend();
    const { resourceVersion } = (await crates.get('v1', 'a')).metadata;
    const watch = await crates.watch('v2', `resourceVersion=${resourceVersion}`);
    api.hook.answer = fails;
    await crates.patch('v1', 'a', { spec: { color: 'blue' } });
    await watch.ended();
    expect(watch.events).toMatchObject([
      {
        type: 'ERROR',
        object: { kind: 'Status', code: 500, message: failed(crates.kind) + of500 },
      },
    ]);
    api.mend();
    const again = await crates.watch('v2', `resourceVersion=${resourceVersion}`);
    await again.count(1);
    expect(again.events).toMatchObject([{ type: 'MODIFIED', object: { spec: { paint: 'blue' } } }]);
    again.close();
  });

  test('hinders nothing in the stored version, nor deletions in any', async () => {
    await crates.make('b');
    await crates.make('c');
    const watch = await crates.watch('v1');
    await crates.patch('v1', 'a', { spec: { color: 'blue' } });
    expect(await crates.list('v1')).toHaveLength(3);
    await watch.count(4);
    watch.close();
    expect((await crates.send(`GET ${crates.path('v1', 'a')}/scale`)).status).toBe(200);
    for (const [version, name] of [
      ['v1', 'a'],
      ['v2', 'b'],
    ] as const) {
      const { status, json } = await crates.send(`DELETE ${crates.path(version, name)}`);
      expect([status, json]).toMatchObject([200, { status: 'Success' }]);
    }
    expect((await crates.send(`DELETE ${crates.path('v1')}`)).status).toBe(200);
    expect(await crates.list('v1')).toEqual([]);
  });

  test('is called again within a second once it is back, however often it failed', async () => {
    for (let count = 0; count < 30; count++) {
      const { message } = await api.served.refused(`GET ${crates.path('v2', 'a')}`);
      expect(message).toBe(failed(crates.kind) + of500);
    }
    expect(api.hook.reviews.length).toBeLessThan(30);
    api.mend();
    const backAt = performance.now();
    while ((await crates.send(`GET ${crates.path('v2', 'a')}`)).status !== 200) {
      // Far more than the second that it takes, for machines that are slow.
      if (performance.now() > backAt + 20_000) throw new Error('it is not called any more');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect((await crates.get('v3', 'a'))['spec']).toEqual({ tint: 'red', count: 3 });
  });
});

test('a webhook that cannot be reached is told as it is', async () => {
  const gone = await ConversionServer.start();
  const { url } = gone;
  const lone = await api.define({ hook: gone });
  await gone[Symbol.asyncDispose]();
  await lone.make('a');
  const { code, message } = await api.served.refused(`GET ${lone.path('v2', 'a')}`);
  expect(code).toBe(500);
  expect(message).toContain(`${failed(lone.kind)}Post "${url}?timeout=30s": `);
  expect(message).toContain('connection refused');
});

test('a webhook that hangs holds neither other definitions nor built-in requests', async () => {
  await using hanging = await ConversionServer.start();
  hanging.answer = hangs;
  const slow = await api.define({ hook: hanging });
  for (let count = 0; count < 20; count++) await slow.make(`a${String(count)}`);
  await crates.make('a');
  let endedCount = 0;
  const held = Array.from({ length: 20 }, async (_one, at) => {
    const { status } = await slow.send(`GET ${slow.path('v2', `a${String(at)}`)}`);
    endedCount++;
    return status;
  });
  const writes = [
    slow.send(`PATCH ${slow.path('v2', 'a2')}`, { body: { spec: { count: 9 } } }),
    slow.send(`POST ${slow.path('v2')}`, { body: slow.body('v2', 'b', { color: 'red' }) }),
    slow.send(`DELETE ${slow.path('v2')}?fieldSelector=spec.paint%3Dred`),
  ];
  const watch = await OpenWatch.open(api.served.api.server, slow.path('v2'));
  await eventually(() => hanging.reviews.length > 0);
  for (let count = 0; count < 10; count++) {
    await crates.patch('v2', 'a', { spec: { count } });
    expect((await crates.get('v3', 'a'))['spec']).toMatchObject({ count });
    for (const name of ['a1', 'a2']) await slow.patch('v1', name, { spec: { size: count } });
    const metadata = { name: `m${String(count)}` };
    expect((await slow.send(`POST ${configMaps}`, { body: { metadata } })).status).toBe(201);
    expect((await slow.send(`GET ${configMaps}`)).status).toBe(200);
  }
  expect((await slow.send(`DELETE ${slow.path('v1', 'a1')}`)).status).toBe(200);
  expect(endedCount).toBe(0);
  hanging.answer = convertedCrates;
  expect(hanging.underWayMax).toBeLessThanOrEqual(8);
  watch.close();
  await hanging[Symbol.asyncDispose]();
  expect(new Set(await Promise.all(held))).toEqual(new Set([500]));
  for (const { status } of await Promise.all(writes)) expect(status).toBe(500);
});
