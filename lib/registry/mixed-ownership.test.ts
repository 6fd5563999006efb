// Who owns which fields of objects that are written in several versions, which only a call converts
// between: nothing is lost to another version, a version that is gone, or a call that fails.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { StatusError } from '../base/status.ts';
import { MixedWalls, wall } from './testing/mixed-walls.ts';
import type { VersionName } from './testing/mixed-store.ts';
import { failure, fresh } from './testing/verb-driver.ts';
import type { Sent } from './testing/verb-driver.ts';

let walls: MixedWalls;
beforeAll(async () => {
  walls = await MixedWalls.start();
});
afterAll(() => walls.stop());
let name = '';
beforeEach(async () => {
  await walls.reset();
  name = fresh();
});

const apply = (version: VersionName, manager: string, spec: object, more = ''): Promise<Sent> =>
  walls.verbs.apply(
    walls.store(version),
    name,
    { kind: 'Wall', apiVersion: `example.com/${version}`, ...wall(name, spec) },
    { query: `fieldManager=${manager}${more}` },
  );
const patch = (version: VersionName, document: object, more: object = {}): Promise<Sent> =>
  walls.verbs.patch(walls.store(version), name, document, {
    query: 'fieldManager=updater',
    ...more,
  });

/** `manager operation version fields` of each entry, fields of spec alone. */
function owners({ metadata }: Sent): string[] {
  const entries = (metadata['managedFields'] ?? []) as {
    readonly manager: string;
    readonly operation: string;
    readonly apiVersion: string;
    readonly fieldsV1: Record<string, Record<string, unknown> | undefined>;
  }[];
  return entries
    .map(({ manager, operation, apiVersion, fieldsV1 }) => {
      const fields = Object.keys(fieldsV1['f:spec'] ?? fieldsV1['f:status'] ?? {}).filter(
        (key) => key !== '.',
      );
      return [manager, operation, apiVersion.slice(-2), ...fields].join(' ');
    })
    .toSorted();
}

test('managers own fields in the version that they wrote, whoever writes in another', async () => {
  await apply('v1', 'applier', { color: 'red' });
  const grown = await patch('v2', { spec: { size: 4 } });
  expect(owners(grown)).toEqual(['applier Apply v1 f:color', 'updater Update v2 f:size']);
  const { details, code } = await failure(apply('v2', 'other', { paint: 'blue' }));
  expect([code, details?.causes?.map(({ field }) => field)]).toEqual([409, ['.spec.color']]);
  const taken = await apply('v2', 'other', { paint: 'blue' }, '&force=true');
  expect(taken).toMatchObject({ spec: { paint: 'blue', size: 4 } });
  expect(owners(taken)).toEqual(['other Apply v2 f:paint', 'updater Update v2 f:size']);
});

test('what is applied no more goes, in whichever version it was', async () => {
  await apply('v1', 'applier', { color: 'red', size: 2 });
  await apply('v1', 'other', { size: 2 });
  const left = await apply('v2', 'applier', { size: 2 });
  expect(left['spec']).toEqual({ size: 2 });
  expect(owners(left)).toEqual(['applier Apply v2 f:size', 'other Apply v1 f:size']);
});

test('a write of the status in another version keeps all entries', async () => {
  await apply('v1', 'applier', { color: 'red' });
  const status = { subresource: 'status' };
  const shown = await patch('v3', { status: { phase: 'Done' } }, status);
  expect(owners(shown)).toEqual(['applier Apply v1 f:color', 'updater Update v3 f:phase']);
  expect(shown).toMatchObject({ spec: { tint: 'red' }, status: { phase: 'Done' } });
});

test('objects that are sent hold apiVersion, kind, name, namespace and uid', async () => {
  const made = await apply('v1', 'applier', { color: 'red', size: 2 });
  await apply('v2', 'other', { size: 2 });
  await apply('v3', 'other', {});
  await apply('v1', 'applier', {});
  await patch('v2', { spec: { size: 9 } });
  const { namespace, uid } = made.metadata;
  expect(walls.converted.length).toBeGreaterThan(4);
  for (const object of walls.converted) {
    expect(object).toMatchObject({
      kind: 'Wall',
      apiVersion: expect.stringMatching(/^example.com\/v[123]$/) as unknown,
      metadata: { name, namespace, uid },
    });
  }
});

describe('a version that the kind has not any more', () => {
  beforeEach(async () => {
    await apply('v1', 'applier', { color: 'red' });
    walls.storeIn('v2');
    await patch('v2', { spec: { size: 4 } });
    walls.storeIn('v2', ['v2', 'v3']);
    walls.calls.length = 0;
  });

  test('loses its entries by the next apply, which nothing blocks', async () => {
    const applied = await apply('v2', 'other', { paint: 'blue' });
    expect(owners(applied)).toEqual(['other Apply v2 f:paint', 'updater Update v2 f:size']);
    expect(walls.calls).toEqual([]);
  });

  test('loses its entries by the next update, and no other entry', async () => {
    const updated = await patch('v3', { spec: { size: 5 } });
    expect(owners(updated)).toEqual(['updater Update v3 f:size']);
  });
});

test('a call that fails is an error of the write, and no entry is lost', async () => {
  await apply('v1', 'applier', { color: 'red' });
  walls.storeIn('v2');
  const before = await patch('v2', { spec: { size: 4 } });
  const message = 'conversion webhook for example.com/v2, Kind=Wall failed: no';
  walls.fault = new StatusError(500, '', message);
  for (const write of [
    patch('v2', { spec: { size: 5 } }),
    patch('v2', { status: { phase: 'x' } }, { subresource: 'status' }),
    apply('v2', 'other', { size: 4 }),
  ]) {
    expect(await failure(write)).toMatchObject({ code: 500, message });
  }
  walls.fault = undefined;
  const after = await walls.verbs.get(walls.store('v2'), name);
  expect(after).toEqual(before);
});
