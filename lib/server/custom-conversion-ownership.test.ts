// Who owns which fields of custom resources that are written in several versions, which a webhook
// of a real definition converts between.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { VersionName } from '../registry/testing/mixed-store.ts';
import type { Sent } from '../registry/testing/verb-driver.ts';
import type { ApiAnswer } from './testing/api-on-etcd.ts';
import { ConvertedApi, sizeFields } from './testing/converted-api.ts';
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

/** `spec` as the version has it. */
function apply(
  version: VersionName,
  manager: string,
  { spec, more = '' }: { readonly spec: object; readonly more?: string },
): Promise<ApiAnswer> {
  const line = `PATCH ${crates.path(version, 'a')}?fieldManager=${manager}${more}`;
  const apiVersion = `example.com/${version}`;
  return crates.send(line, {
    contentType: 'application/apply-patch+yaml',
    body: { kind: crates.kind, apiVersion, metadata: { name: 'a' }, spec },
  });
}
const patch = (version: VersionName, spec: object): Promise<ApiAnswer> =>
  crates.send(`PATCH ${crates.path(version, 'a')}?fieldManager=patcher`, { body: { spec } });

/** `manager operation version subresource fields` of each entry. */
function owners({ metadata }: Sent): string[] {
  const entries = (metadata['managedFields'] ?? []) as {
    readonly manager: string;
    readonly operation: string;
    readonly apiVersion: string;
    readonly subresource?: string;
    readonly fieldsV1: Record<string, Record<string, unknown> | undefined>;
  }[];
  return entries
    .map(({ manager, operation, apiVersion, subresource, fieldsV1 }) => {
      const own = { ...fieldsV1['f:spec'], ...fieldsV1['f:status'] };
      const fields = Object.keys(own).filter((key) => key !== '.');
      const place = subresource === undefined ? [] : [subresource];
      return [manager, operation, apiVersion.slice(-2), ...place, ...fields].join(' ');
    })
    .toSorted();
}
const ownersNow = async (version: VersionName = 'v1'): Promise<string[]> =>
  owners(await crates.get(version, 'a'));

test('each manager owns its fields in the version that it wrote in', async () => {
  expect((await apply('v1', 'one', { spec: { color: 'red', size: 3 } })).status).toBe(201);
  expect((await patch('v2', { count: 4 })).status).toBe(200);
  expect((await patch('v3', { note: 'n' })).status).toBe(200);
  const all = ['one Apply v1 f:color', 'patcher Update v2 f:count', 'patcher Update v3 f:note'];
  for (const version of ['v1', 'v2', 'v3'] as const) expect(await ownersNow(version)).toEqual(all);
});

test('a conflict is found across versions, and is taken by force', async () => {
  await apply('v1', 'one', { spec: { color: 'red' } });
  const { status, json } = await apply('v2', 'two', { spec: { paint: 'blue' } });
  expect([status, json]).toMatchObject([
    409,
    { reason: 'Conflict', details: { causes: [{ reason: 'FieldManagerConflict' }] } },
  ]);
  const same = await apply('v2', 'two', { spec: { paint: 'red' } });
  expect(same.status).toBe(200);
  expect(await ownersNow()).toEqual(['one Apply v1 f:color', 'two Apply v2 f:paint']);
  const taken = await apply('v3', 'two', { spec: { tint: 'blue' }, more: '&force=true' });
  expect(taken.json).toMatchObject({ spec: { tint: 'blue' } });
  expect(await ownersNow()).toEqual(['two Apply v3 f:tint']);
});

test('what is applied no more is removed, in whichever version it was applied', async () => {
  await apply('v1', 'one', { spec: { color: 'red', size: 3 } });
  const left = await apply('v2', 'one', { spec: { count: 3 } });
  expect((left.json as Sent)['spec']).toEqual({ count: 3 });
  expect(await ownersNow()).toEqual(['one Apply v2 f:count']);
});

test.each(['v1', 'v2', 'v3'] as const)(
  'a scale written in %s owns the field that the version has, and no other entry changes',
  async (version) => {
    await apply('v1', 'one', { spec: { color: 'red', size: 3 } });
    const { status } = await crates.send(
      `PATCH ${crates.path(version, 'a')}/scale?fieldManager=scaler`,
      { body: { spec: { replicas: 5 } } },
    );
    expect(status).toBe(200);
    expect(await ownersNow()).toEqual([
      'one Apply v1 f:color',
      `scaler Update ${version} scale f:${sizeFields[version]}`,
    ]);
  },
);

test('a status written in another version loses no entry', async () => {
  await apply('v1', 'one', { spec: { color: 'red' } });
  await patch('v2', { count: 4 });
  const line = `PATCH ${crates.path('v3', 'a')}/status?fieldManager=reporter`;
  await api.served.answered(line, { body: { status: { phase: 'Up' } } });
  expect(await ownersNow()).toEqual([
    'one Apply v1 f:color',
    'patcher Update v2 f:count',
    'reporter Update v3 status f:phase',
  ]);
});

test('a storage version that moves, and a migrator, change no owner', async () => {
  await apply('v1', 'one', { spec: { color: 'red' } });
  await patch('v2', { count: 4 });
  const before = await ownersNow();
  await crates.storeIn('v3');
  const line = `PUT ${crates.path('v2', 'a')}?fieldManager=migrator`;
  await api.served.answered(line, { body: await crates.get('v2', 'a') });
  expect(await crates.inEtcd('a')).toMatchObject({ spec: { tint: 'red', count: 4 } });
  expect(await ownersNow()).toEqual(before);
});

describe('a version that the definition has no more', () => {
  beforeEach(async () => {
    await apply('v1', 'one', { spec: { color: 'red' } });
    await apply('v3', 'three', { spec: { note: 'n' } });
    await crates.redefine((_spec, versions) => void versions.splice(2, 1));
  });

  test.each<[string, () => Promise<ApiAnswer>, string[]]>([
    [
      'an apply',
      () => apply('v2', 'two', { spec: { count: 4 } }),
      ['one Apply v1 f:color', 'two Apply v2 f:count'],
    ],
    [
      'an update',
      () => patch('v1', { size: 4 }),
      ['one Apply v1 f:color', 'patcher Update v1 f:size'],
    ],
  ])('loses its entry alone by the next write: %s', async (_claim, write, left) => {
    expect((await write()).status).toBe(200);
    expect(await ownersNow()).toEqual(left);
    expect((await crates.get('v1', 'a'))['spec']).toMatchObject({ color: 'red', note: 'n' });
  });
});

test('a version neither served nor stored is asked for by its owners alone', async () => {
  await apply('v3', 'three', { spec: { tint: 'red' } });
  await crates.serve('v3', false);
  api.mend();
  await crates.list('v2');
  await patch('v1', { size: 4 });
  const { json } = await apply('v1', 'one', { spec: { color: 'blue' } });
  expect(json).toMatchObject({ reason: 'Conflict' });
  expect(await ownersNow()).toEqual(['patcher Update v1 f:size', 'three Apply v3 f:tint']);
  expect(api.calls.slice(0, 1)).toEqual(['1 v2']);
  expect(api.calls.slice(1)).toContain('1 v3');
});

test('a webhook that fails is an error of each write that needs it and wipes nothing', async () => {
  await apply('v1', 'one', { spec: { color: 'red' } });
  await patch('v2', { count: 4 });
  const before = await crates.get('v1', 'a');
  api.hook.answer = (_review, { response }) => void response.writeHead(500).end();
  const text = `^conversion webhook for example.com/v[12], Kind=${crates.kind} failed: an error on`;
  const writes: (() => Promise<ApiAnswer>)[] = [
    () => patch('v1', { size: 5 }),
    () => patch('v2', { count: 5 }),
    () => apply('v1', 'one', { spec: { color: 'blue' } }),
    () => apply('v2', 'two', { spec: { note: 'n' } }),
  ];
  for (const [at, write] of writes.entries()) {
    const { status, json } = await write();
    const { message } = json as { readonly message: string };
    expect([at, status, message]).toEqual([at, 500, expect.stringMatching(text)]);
  }
  expect(await crates.get('v1', 'a')).toEqual(before);
  // Where the field of a scale is in each version says the definition alone.
  const scale = `PATCH ${crates.path('v1', 'a')}/scale?fieldManager=scaler`;
  await api.served.answered(scale, { body: { spec: { replicas: 9 } } });
  expect(await ownersNow()).toEqual(['one Apply v1 f:color', 'scaler Update v1 scale f:size']);
});
