import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { dropStated, removeFields, restoreOwned } from './prune.ts';
import { fields, keyed, mapOf, setOf, shapeWith, struct, text, textOf } from './testing/schemas.ts';

const shape = shapeWith({
  spec: struct({ a: text, b: text }),
  map: mapOf(mapOf(text)),
  set: setOf(text),
  list: keyed(['n'], { n: text, v: text, w: text }),
  byDefault: keyed(['n'], { n: { ...text, default: 'x' }, v: text }),
  atomic: { type: 'array', items: text },
});

const all = {};
const held = (below: JsonObject): JsonObject => ({ '.': {}, ...below });

test.each<[string, JsonValue, JsonObject, JsonValue]>([
  ['a field', { spec: { a: '1', b: '2' } }, { 'f:spec': { 'f:a': all } }, null],
  ['nothing that is not there', { set: ['a'] }, { 'f:map': all, 'f:x': all }, { set: ['a'] }],
  ['an element', { list: [{ n: '1' }, { n: '2' }] }, { 'f:list': { 'k:{"n":"1"}': all } }, null],
  ['a whole', { atomic: ['a'], set: [] }, { 'f:atomic': all }, { set: [] }],
  ['an entry with all below', { map: { a: { b: '1' } } }, { 'f:map': { 'f:a': all } }, null],
])('removes %s, and declared fields that hold it', (_what, value, gone, expected) => {
  expect(removeFields(value, fields(gone), shape)).toEqual(expected);
});

test.each<[string, JsonValue, JsonObject, JsonObject, JsonValue]>([
  [
    'a declared field for what is owned in it',
    { spec: { a: '1', b: '2' } },
    { 'f:spec': { 'f:a': all, 'f:b': all } },
    { 'f:spec': { 'f:b': all } },
    { spec: { b: '2' } },
  ],
  [
    'an entry without what is not owned in it',
    { map: { a: { b: '1' } } },
    { 'f:map': { 'f:a': held({ 'f:b': all }) } },
    { 'f:map': { 'f:a': all } },
    { map: { a: {} } },
  ],
])('restores %s', (_what, value, gone, owned, expected) => {
  const left = removeFields(value, fields(gone), shape);
  expect(textOf(restoreOwned(value, left, fields(owned), shape))).toBe(textOf(expected));
});

/** As an applier that stated `last` gives it up, where others own `owned`. */
function givenUp(value: JsonValue, last: JsonObject, owned: JsonObject): JsonValue | undefined {
  const left = removeFields(value, fields(last), shape);
  const kept = restoreOwned(value, left, fields(owned), shape);
  return dropStated(value, kept, fields(last), shape);
}

describe('who gives up', () => {
  test.each<[string, JsonValue, JsonObject, JsonObject, JsonValue]>([
    [
      'leaves what nobody ever stated beside it',
      { spec: { a: '1', b: '2' }, set: ['x'] },
      { 'f:set': { 'v:"x"': all } },
      {},
      { spec: { a: '1', b: '2' } },
    ],
    [
      'takes a declared field with what nobody stated in it',
      { spec: { a: '1', b: '2' }, set: ['x'] },
      { 'f:spec': { 'f:a': all } },
      {},
      { set: ['x'] },
    ],
    [
      'leaves a declared field that lost all it held as null',
      { map: { a: {} }, set: [] },
      { 'f:map': { 'f:a': all } },
      { 'f:map': held({}) },
      { map: null, set: [] },
    ],
    [
      'leaves an entry that lost all it held as an object',
      { map: { a: { b: '1' } } },
      { 'f:map': { 'f:a': held({ 'f:b': all }) } },
      { 'f:map': { 'f:a': all } },
      { map: { a: {} } },
    ],
    [
      'takes an entry with what others own in it',
      { map: { a: { b: '1' }, c: {} } },
      { 'f:map': { 'f:a': held({ 'f:b': all }) } },
      { 'f:map': { 'f:a': { 'f:b': all } } },
      { map: { c: {} } },
    ],
    [
      'leaves an element of others with its keys',
      { list: [{ n: '1', v: 'a' }] },
      { 'f:list': { 'k:{"n":"1"}': held({ 'f:n': all, 'f:v': all }) } },
      { 'f:list': { 'k:{"n":"1"}': all } },
      { list: [{ n: '1' }] },
    ],
    [
      'takes keys that are as by default',
      { byDefault: [{ n: 'x', v: 'a' }] },
      { 'f:byDefault': { 'k:{"n":"x"}': held({ 'f:n': all }) } },
      { 'f:byDefault': { 'k:{"n":"x"}': held({ 'f:v': all }) } },
      { byDefault: [{ v: 'a' }] },
    ],
    [
      'touches no elements that are there twice',
      { list: [{ n: '1', v: 'a' }, { n: '1', w: 'b' }, { n: '2' }] },
      { 'f:list': { 'k:{"n":"2"}': held({ 'f:n': all }) } },
      { 'f:list': { 'k:{"n":"1"}': all } },
      {
        list: [
          { n: '1', v: 'a' },
          { n: '1', w: 'b' },
        ],
      },
    ],
    [
      'takes no part of elements that are there twice',
      {
        list: [
          { n: '1', v: 'a' },
          { n: '1', w: 'b' },
        ],
      },
      { 'f:list': { 'k:{"n":"1"}': { 'f:v': all } } },
      { 'f:list': { 'k:{"n":"1"}': all } },
      {
        list: [
          { n: '1', v: 'a' },
          { n: '1', w: 'b' },
        ],
      },
    ],
    [
      'leaves what others own of the rest in its order',
      { set: ['c', 'a', 'b'] },
      { 'f:set': { 'v:"a"': all, 'v:"b"': all, 'v:"c"': all } },
      { 'f:set': { 'v:"b"': all, 'v:"c"': all } },
      { set: ['c', 'b'] },
    ],
  ])('%s', (_what, value, last, owned, expected) => {
    expect(textOf(givenUp(value, last, owned))).toBe(textOf(expected));
  });

  test('gets the same value where nothing goes', () => {
    const value = { list: [{ n: '1' }], set: ['a'] };
    const last = { 'f:set': { 'v:"a"': all } };
    expect(givenUp(value, last, last)).toBe(value);
  });
});
