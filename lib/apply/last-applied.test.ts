import { describe, expect, test } from '@jest/globals';
import { recordAt } from '../api/json-access.ts';
import type { JsonObject } from '../api/type-info.ts';
import { applyWithLastApplied } from './last-applied.ts';
import type { LastAppliedWrite } from './last-applied.ts';
import { ownerIdentity } from './owners.ts';
import type { Entry, Writer } from './owners.ts';
import { pathText } from './path-element.ts';
import { fields, mapOf, shapeWith, text } from './testing/schemas.ts';

const annotation = 'last-applied';
const shape = shapeWith({ data: mapOf(text) });
const object = (data: JsonObject, note?: JsonObject | string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'Thing',
  metadata: {
    name: 'n',
    ...(note === undefined
      ? {}
      : { annotations: { [annotation]: typeof note === 'string' ? note : JSON.stringify(note) } }),
  },
  data,
});

/** Another one owns `a` and `b`. */
function written(writer: Partial<Writer> = {}): LastAppliedWrite {
  const other: Entry = {
    manager: 'other',
    operation: 'Update',
    apiVersion: 'v1',
    subresource: '',
    time: 't0',
    fields: fields({ 'f:data': { 'f:a': {}, 'f:b': {} } }),
  };
  return {
    writer: {
      manager: 'kubectl',
      operation: 'Apply',
      apiVersion: 'v1',
      subresource: '',
      ...writer,
    },
    owners: new Map([[ownerIdentity(other), other]]),
    versions: { apiVersion: 'v1', shapeIn: () => shape, to: (same) => same },
    settable: (fields) => fields,
    time: 't1',
    force: false,
    canonical: (same) => same,
    annotation,
  };
}

const conflicts = async (
  live: JsonObject,
  configuration: JsonObject,
  write = written(),
): Promise<string> => {
  const result = await applyWithLastApplied(live, configuration, write);
  return 'object' in result ? 'applied' : result.map(({ path }) => pathText(path)).join(' ');
};

describe('fields of others conflict', () => {
  const live = { a: '1', b: '1' };
  test.each<[string, JsonObject | string | undefined, JsonObject, string]>([
    ['unless the note has them as they are', object({ a: '1' }), { a: '2' }, 'applied'],
    ['where there is no note', undefined, { a: '2' }, '.data.a'],
    ['where the note has another value', object({ a: '0' }), { a: '2' }, '.data.a'],
    ['where the note does not have them', object({ a: '1' }), { a: '2', b: '2' }, '.data.b'],
    [
      'where the note is of another version',
      { ...object({ a: '1' }), apiVersion: 'v0' },
      { a: '2' },
      '.data.a',
    ],
    ['where the note is no JSON', '{', { a: '2' }, '.data.a'],
    ['where the note is no object', '[]', { a: '2' }, '.data.a'],
    ['where the note is null', 'null', { a: '2' }, '.data.a'],
  ])('%s', async (_what, note, data, expected) => {
    expect(await conflicts(object(live, note), object(data))).toBe(expected);
  });

  test.each<[string, Partial<Writer>]>([
    ['of another manager', { manager: 'm' }],
    ['through a subresource', { subresource: 'status' }],
  ])('%s, whatever the note says', async (_what, writer) => {
    const noted = object({ a: '1' }, object({ a: '1' }));
    expect(await conflicts(noted, object({ a: '2' }), written(writer))).toBe('.data.a');
  });
});

/** The note after an apply; undefined: there is none. */
async function noteAfter(
  live: JsonObject,
  configuration: JsonObject,
  write = written(),
): Promise<unknown> {
  const result = await applyWithLastApplied(live, configuration, { ...write, force: true });
  if (!('object' in result)) throw new Error('is forced');
  return recordAt(recordAt(result.object, 'metadata'), 'annotations')?.[annotation];
}

describe('the note', () => {
  const noted = object({ a: '1' }, object({ a: '1' }));

  test('follows what is applied, with members in order and a line’s end', async () => {
    const configuration = { metadata: { name: 'n' }, data: { c: '3' }, kind: 'Thing' };
    const text = '{"data":{"c":"3"},"kind":"Thing","metadata":{"name":"n"}}\n';
    expect(await noteAfter(noted, configuration)).toBe(text);
  });
  test('is not noted itself', async () => {
    const metadata = { name: 'n', annotations: { [annotation]: 'x', kept: 'y' } };
    const note = await noteAfter(noted, { metadata });
    expect(note).toBe('{"metadata":{"annotations":{"kept":"y"},"name":"n"}}\n');
  });
  test('is not made where there is none', async () => {
    expect(await noteAfter(object({ a: '1' }), object({ a: '2' }))).toBeUndefined();
  });
  test('stays where others apply', async () => {
    const note = await noteAfter(noted, object({ a: '2' }), written({ manager: 'm' }));
    expect(note).toBe(JSON.stringify(object({ a: '1' })));
  });
  test('goes where it has no room', async () => {
    const configuration = object({ a: 'x'.repeat(256 * 1024) });
    expect(await noteAfter(noted, configuration)).toBeUndefined();
  });
  test('that says the same leaves the object as it is', async () => {
    const once = await applyWithLastApplied(noted, object({ a: '1' }), written());
    if (!('object' in once)) throw new Error('has no conflicts');
    const write = { ...written(), owners: once.owners };
    const again = await applyWithLastApplied(once.object, object({ a: '1' }), write);
    expect('object' in again && again.object).toBe(once.object);
  });
});
