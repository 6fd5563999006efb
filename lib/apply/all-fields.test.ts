import { expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { allFields } from './all-fields.ts';
import { writeFieldsV1 } from './fields-v1.ts';
import { keyed, mapOf, pathsOf, setOf, shapeWith, struct, text } from './testing/schemas.ts';

const shape = shapeWith({
  map: mapOf(text),
  maps: mapOf(mapOf(text)),
  set: setOf(text),
  list: keyed(['n'], { n: text, v: text }),
  spec: struct({ x: text, y: text }),
});

test('objects that differ in values only have one set, whose FieldsV1 is made once', () => {
  const [one, other] = ['1', '2'].map((x) => allFields({ map: { a: x }, spec: { x } }, shape));
  if (one === undefined || other === undefined) throw new Error('two sets');
  expect(one).toBe(other);
  expect(writeFieldsV1(one)).toBe(writeFieldsV1(other));
});

/** Each pair reads alike where names and identities are put together without care. */
const pairs: readonly (readonly [JsonObject, JsonObject])[] = [
  [{ map: { a: '', b: '' } }, { map: { 'a.1:b': '' } }],
  [{ maps: { a: { b: '' } } }, { maps: { 'a{1:b.}': {} } }],
  [{ maps: { a: {}, b: {} } }, { maps: { a: { b: '' } } }],
  [{ set: ['a', 'b'] }, { set: ['a","b'] }],
  [{ set: ['a'] }, { map: { a: '' } }],
  [{ list: [{ n: 'a' }, { n: 'b' }] }, { list: [{ n: 'a' }] }],
  [{ list: [{ n: 'a', v: '' }] }, { list: [{ n: 'a' }] }],
  [{ spec: { x: '' } }, { spec: { y: '' } }],
];

test.each(pairs)('%j has other fields than %j, in either order', (one, other) => {
  for (const [first, second] of [
    [one, other],
    [other, one],
  ] as const) {
    const sets = [allFields(first, shape), allFields(second, shape), allFields(first, shape)];
    const [before, between, after] = sets.map(pathsOf);
    expect(after).toBe(before);
    expect(between).not.toBe(before);
  }
});

test('values of two types are told apart', () => {
  const narrow = shapeWith({ map: mapOf(text) });
  expect(pathsOf(allFields({ map: { a: '' }, spec: {} }, narrow))).toBe('.map .map.a');
  expect(pathsOf(allFields({ map: { a: '' }, spec: {} }, shape))).toContain('.spec');
});
