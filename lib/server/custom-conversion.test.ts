// Custom resources whose versions a webhook converts, as clients see them: every verb in every
// version at once, whichever is stored.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { colorFields } from '../registry/testing/mixed-store.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import { ConvertedApi, sizeFields, versionNames } from './testing/converted-api.ts';
import type { Crates } from './testing/converted-api.ts';

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

const namesOf = (items: readonly Sent[]): string[] => items.map(({ metadata }) => metadata.name);
const table = 'application/json;as=Table;v=v1;g=meta.svc.io';
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.svc.io';
const partialList = 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.svc.io';

describe.each(versionNames)('in %s', (version) => {
  const color = colorFields[version];
  const size = sizeFields[version];
  const apiVersion = `example.com/${version}`;
  const path = (name = ''): string => crates.path(version, name);

  test('an object is made, read, replaced and deleted', async () => {
    const made = await crates.write(version, 'a', { color: 'red', size: 3 });
    const spec = { [color]: 'red', [size]: 3 };
    expect(made).toMatchObject({ apiVersion, kind: crates.kind, spec });
    expect(made['spec']).toEqual(spec);
    expect(await crates.inEtcd('a')).toMatchObject({ spec: { color: 'red', size: 3 } });
    expect(await crates.get(version, 'a')).toEqual(made);
    const body = { ...made, spec: { [color]: 'blue' } };
    const replaced = await api.served.answered(`PUT ${path('a')}`, { body });
    expect(replaced).toMatchObject({ apiVersion, metadata: { generation: 2 } });
    expect(replaced['spec']).toEqual({ [color]: 'blue' });
    expect((await crates.get('v1', 'a'))['spec']).toEqual({ color: 'blue' });
    const deleted = await crates.send(`DELETE ${path('a')}`);
    expect([deleted.status, deleted.json]).toMatchObject([200, { status: 'Success' }]);
  });

  test.each<[string, string, object]>([
    ['a merge patch', 'application/merge-patch+json', { spec: { note: 'n', [color]: null } }],
    [
      'a JSON patch',
      'application/json-patch+json',
      [
        { op: 'test', path: `/spec/${color}`, value: 'red' },
        { op: 'add', path: '/spec/note', value: 'n' },
        { op: 'remove', path: `/spec/${color}` },
      ],
    ],
  ])('%s sees and changes what the version shows', async (_claim, contentType, body) => {
    await crates.make('a');
    const { status, json } = await crates.send(`PATCH ${path('a')}`, { contentType, body });
    expect([status, json]).toMatchObject([200, { apiVersion, spec: { note: 'n', [size]: 3 } }]);
    expect((await crates.inEtcd('a'))['spec']).toEqual({ size: 3, note: 'n' });
  });

  test('an apply makes and changes objects', async () => {
    const contentType = 'application/apply-patch+yaml';
    const apply = (spec: object): Promise<Sent> =>
      api.served.answered(`PATCH ${path('a')}?fieldManager=m`, {
        contentType,
        body: { kind: crates.kind, apiVersion, metadata: { name: 'a' }, spec },
      });
    expect((await apply({ [color]: 'red', [size]: 3 }))['apiVersion']).toBe(apiVersion);
    expect((await apply({ [color]: 'blue' }))['spec']).toEqual({ [color]: 'blue' });
    expect((await crates.inEtcd('a'))['spec']).toEqual({ color: 'blue' });
  });

  test('the status is written by itself', async () => {
    const made = await crates.make('a');
    const status = { phase: 'Up', n: 2 };
    const line = `${path('a')}/status`;
    const patched = await api.served.answered(`PATCH ${line}`, { body: { status, spec: {} } });
    expect(patched).toMatchObject({ apiVersion, status, spec: { [color]: 'red', [size]: 3 } });
    const body = { ...patched, spec: {}, status: { phase: 'Down' } };
    expect(await api.served.answered(`PUT ${line}`, { body })).toMatchObject({
      ...{ apiVersion, status: { phase: 'Down' }, spec: { [color]: 'red', [size]: 3 } },
      metadata: { generation: made.metadata['generation'] },
    });
    expect(await api.served.answered(`GET ${line}`)).toMatchObject({ status: { phase: 'Down' } });
  });

  test("the scale is that of the version's own path", async () => {
    await crates.make('a');
    const line = `${path('a')}/scale`;
    const scale = await api.served.answered(`GET ${line}`);
    expect(scale).toMatchObject({ kind: 'Scale', spec: { replicas: 3 }, status: { replicas: 0 } });
    const body = { ...scale, spec: { replicas: 5 } };
    expect(await api.served.answered(`PUT ${line}`, { body })).toMatchObject({
      spec: { replicas: 5 },
    });
    expect((await crates.get('v2', 'a'))['spec']).toEqual({ paint: 'red', count: 5 });
    const patched = await api.served.answered(`PATCH ${line}`, { body: { spec: { replicas: 6 } } });
    expect(patched['spec']).toEqual({ replicas: 6 });
    expect((await crates.inEtcd('a'))['spec']).toEqual({ color: 'red', size: 6 });
  });

  test('lists come whole, in chunks, selected, as Table and as metadata', async () => {
    await crates.make('a', { color: 'red' }, { labels: { 'shown-in': 'v1' } });
    await crates.make('b', { color: 'blue' });
    await crates.make('c', { color: 'red' });
    const all = await crates.list(version);
    expect(all.map((one) => [one['apiVersion'], one['spec']])).toEqual(
      ['red', 'blue', 'red'].map((value) => [apiVersion, { [color]: value }]),
    );
    const first = await api.served.answered(`GET ${path()}?limit=2`);
    expect(namesOf(first['items'] as Sent[])).toEqual(['a', 'b']);
    const rest = `limit=2&continue=${encodeURIComponent(String(first.metadata['continue']))}`;
    expect(namesOf(await crates.list(version, rest))).toEqual(['c']);
    const field = encodeURIComponent(`spec.${color}=red`);
    expect(namesOf(await crates.list(version, `fieldSelector=${field}`))).toEqual(['a', 'c']);
    // The webhook changes this label, so that what is selected is what is shown.
    const label = `labelSelector=shown-in%3D${version}`;
    expect(namesOf(await crates.list(version, label))).toEqual(['a']);
    const shown = await api.served.answered(`GET ${path()}`, { accept: table });
    expect(shown).toMatchObject({
      kind: 'Table',
      columnDefinitions: [{ name: 'Name' }, { name: color }],
      rows: [{ cells: ['a', 'red'] }, { cells: ['b', 'blue'] }, { cells: ['c', 'red'] }],
    });
    const metadata = await api.served.answered(`GET ${path()}?${label}`, { accept: partialList });
    expect(metadata).toMatchObject({
      kind: 'PartialObjectMetadataList',
      items: [{ kind: 'PartialObjectMetadata', metadata: { labels: { 'shown-in': version } } }],
    });
    const one = await api.served.answered(`GET ${path('a')}`, { accept: partial });
    expect(one).toMatchObject({ metadata: { labels: { 'shown-in': version } } });
  });

  test('a watch tells of writes in all versions, each object as the version shows it', async () => {
    const made = await crates.make('a');
    const watch = await crates.watch(version, `resourceVersion=${made.metadata.resourceVersion}`);
    const rows = await crates.watch(version, '', table);
    await crates.patch('v1', 'a', { spec: { color: 'blue' } });
    await crates.patch('v2', 'a', { spec: { paint: 'gold' } });
    await crates.patch('v3', 'a', { spec: { tint: 'grey' } });
    await crates.send(`DELETE ${crates.path('v2', 'a')}`);
    await watch.count(4);
    const type = ['MODIFIED', 'MODIFIED', 'MODIFIED', 'DELETED'];
    expect(watch.events.map((event) => [event.type, event.object['spec']])).toEqual(
      ['blue', 'gold', 'grey', 'grey'].map((value, at) => [
        type[at],
        { [color]: value, [size]: 3 },
      ]),
    );
    await rows.count(5);
    const cells = rows.events.map(({ object }) => object['rows']) as { cells: unknown[] }[][];
    expect(cells.map(([row]) => row?.cells[1])).toEqual(['red', 'blue', 'gold', 'grey', 'grey']);
    watch.close();
    rows.close();
  });

  test('a selecting watch sees objects begin and cease to match', async () => {
    const made = await crates.make('a', {});
    const field = encodeURIComponent(`spec.${color}=red`);
    const { resourceVersion } = made.metadata;
    const query = `fieldSelector=${field}&resourceVersion=${resourceVersion}`;
    const watch = await crates.watch(version, query);
    for (const value of ['red', 'blue', 'red']) {
      await crates.patch('v2', 'a', { spec: { paint: value } });
    }
    await watch.count(3);
    expect(watch.told).toEqual(['ADDED a', 'DELETED a', 'ADDED a']);
    watch.close();
  });

  test('deletecollection takes what its selector finds in the version', async () => {
    for (const [name, value] of Object.entries({ a: 'red', b: 'blue', c: 'red' })) {
      await crates.make(name, { color: value });
    }
    const field = encodeURIComponent(`spec.${color}=red`);
    const { status, json } = await crates.send(`DELETE ${path()}?fieldSelector=${field}`);
    const { items } = json as { items: Sent[] };
    expect([status, ...namesOf(items)]).toEqual([200, 'a', 'c']);
    expect(items[0]).toMatchObject({ apiVersion, spec: { [color]: 'red' } });
    expect(namesOf(await crates.list(version))).toEqual(['b']);
    expect((await crates.send(`DELETE ${path()}`)).status).toBe(200);
    expect(await crates.list(version)).toEqual([]);
  });

  test('a dry run answers in the version and stores nothing', async () => {
    const body = crates.body(version, 'a', { color: 'red' });
    const made = await api.served.answered(`POST ${path()}?dryRun=All`, { body });
    expect(made).toMatchObject({ apiVersion, spec: { [color]: 'red' } });
    expect((await crates.send(`GET ${path('a')}`)).status).toBe(404);
  });
});

test('all versions are written at once, and nothing of any is lost', async () => {
  await crates.make('a', {});
  const members = { v1: 'a', v2: 'b', v3: 'c' } as const;
  await Promise.all(
    versionNames.map(async (version) => {
      for (let count = 1; count <= 10; count++) {
        await crates.patch(version, 'a', { spec: { [members[version]]: String(count) } });
      }
    }),
  );
  for (const version of versionNames) {
    expect((await crates.get(version, 'a'))['spec']).toEqual({ a: '10', b: '10', c: '10' });
  }
});

test('field validation and rules are those of the version of the request', async () => {
  const body: JsonObject = {
    ...{ kind: crates.kind, apiVersion: 'example.com/v2', metadata: { name: 'a' } },
    spec: { color: 'red', paint: 5 },
  };
  const strict = await api.served.refused(`POST ${crates.path('v2')}?fieldValidation=Strict`, {
    body: { ...body, spec: { color: 'red' } },
  });
  expect(strict).toMatchObject({
    code: 400,
    message: expect.stringContaining('unknown field "spec.color"') as unknown,
  });
  const { code, causes } = await api.served.refused(`POST ${crates.path('v2')}`, { body });
  expect([code, causes]).toMatchObject([422, [{ field: 'spec.paint' }]]);
  expect(api.calls).toEqual([]);
});
