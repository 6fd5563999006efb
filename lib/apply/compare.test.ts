import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { rawData } from '../codec/json.ts';
import { compare } from './compare.ts';
import { UnidentifiedElement } from './elements.ts';
import { atomic, keyed, mapOf, open, pathsOf, setOf } from './testing/schemas.ts';
import { shapeWith, struct, text } from './testing/schemas.ts';

const shape = shapeWith({
  a: text,
  n: { type: 'integer' },
  spec: struct({ x: text, y: text }),
  map: mapOf(text),
  maps: mapOf(mapOf(text)),
  set: setOf(text),
  list: keyed(['n'], { n: text, v: text }),
  wholeList: { type: 'array', items: struct({ x: text }) },
  whole: atomic(struct({ x: text, y: text })),
  open,
});

function told(before: JsonObject, after: JsonObject): string {
  const found = compare(before, after, shape);
  if (found === undefined) return 'same';
  const parts = [`changed ${pathsOf(found.changed)}`, `removed ${pathsOf(found.removed)}`];
  return parts.filter((part) => !part.endsWith(' ')).join('; ');
}

test.each<[string, JsonObject, JsonObject, string]>([
  ['the same', { a: '1', map: { x: '1' } }, { map: { x: '1' }, a: '1' }, 'same'],
  ['a value', { a: '1' }, { a: '2' }, 'changed .a'],
  ['a value that came', {}, { a: '1' }, 'changed .a'],
  ['a value that went', { a: '1' }, {}, 'removed .a'],
  ['undefined and absence', { a: undefined }, {}, 'same'],
  ['an integer in two forms', { n: 5 }, { n: 5n }, 'same'],
  ['integers beyond 2^53', { n: 9007199254740993n }, { n: 9007199254740992n }, 'changed .n'],
  ['an object that came', {}, { spec: { x: '1' } }, 'changed .spec .spec.x'],
  ['an object that went', { spec: { x: '1' } }, {}, 'removed .spec .spec.x'],
  [
    'what an object holds',
    { spec: { x: '1' } },
    { spec: { y: '1' } },
    'changed .spec.y; removed .spec.x',
  ],
  ['an object that holds nothing', {}, { spec: {} }, 'changed .spec'],
  ['an empty object and null', { map: {} }, { map: null }, 'changed .map'],
  ['an object that loses all', { map: { a: '1' } }, { map: {} }, 'removed .map.a'],
  ['an object that becomes null', { map: { a: '1' } }, { map: null }, 'removed .map.a'],
  ['entries of entries', { maps: { a: {} } }, { maps: { a: { b: '1' } } }, 'changed .maps.a.b'],
  ['sets in another order', { set: ['a', 'b'] }, { set: ['b', 'a'] }, 'same'],
  [
    'elements of sets',
    { set: ['a', 'b'] },
    { set: ['c', 'a'] },
    'changed .set[="c"]; removed .set[="b"]',
  ],
  [
    'an element that is doubled',
    { set: ['a'] },
    { set: ['a', 'a'] },
    'changed .set[="a"]; removed .set[="a"]',
  ],
  ['elements that stay doubled', { set: ['a', 'a'] }, { set: ['a', 'a'] }, 'same'],
  [
    'keyed lists in another order',
    { list: [{ n: '1' }, { n: '2' }] },
    { list: [{ n: '2' }, { n: '1' }] },
    'same',
  ],
  [
    'a field of an element',
    { list: [{ n: '1', v: 'a' }] },
    { list: [{ n: '1', v: 'b' }] },
    'changed .list[n="1"].v',
  ],
  [
    'an element that came',
    { list: [] },
    { list: [{ n: '1' }] },
    'changed .list[n="1"] .list[n="1"].n',
  ],
  [
    'elements that were doubled',
    { list: [{ n: '1' }, { n: '1', v: 'x' }] },
    { list: [{ n: '1' }] },
    'changed .list[n="1"] .list[n="1"].n; removed .list[n="1"]',
  ],
  [
    'wholes in another order',
    { wholeList: [{ x: '1' }, {}] },
    { wholeList: [{}, { x: '1' }] },
    'changed .wholeList',
  ],
  [
    'members of a whole in another order',
    { whole: { x: '1', y: '2' } },
    { whole: { y: '2', x: '1' } },
    'same',
  ],
  ['a part of a whole', { whole: { x: '1' } }, { whole: { x: '2' } }, 'changed .whole'],
  [
    'what no schema knows',
    { open: { a: { b: 1 } } },
    { open: { a: { b: 2 } } },
    'changed .open.a.b',
  ],
  ['lists that no schema knows', { open: [1, 2] }, { open: [2, 1] }, 'changed .open'],
  ['an object in the place of a value', { open: 1 }, { open: { a: 1 } }, 'changed .open .open.a'],
  [
    'a value in the place of an object',
    { open: { a: 1 } },
    { open: 1 },
    'changed .open; removed .open.a',
  ],
  [
    'names of prototypes',
    { map: {} },
    { map: JSON.parse('{"__proto__":"1","toString":"2"}') as JsonObject },
    'changed .map.__proto__ .map.toString',
  ],
  ['fields that the type does not have', { unknown: 1 }, { unknown: 2 }, 'same'],
])('%s', (_what, before, after, expected) => {
  expect(told(before, after)).toBe(expected);
});

describe('raw JSON', () => {
  test('is compared by what it says', () => {
    const raw = (value: string): JsonObject => ({ open: rawData(Buffer.from(value)) });
    expect(told(raw('{"a": 1.0, "b": 2}'), raw('{"b":2,"a":1}'))).toBe('same');
    expect(told(raw('{"a":{"b":1}}'), raw('{"a":{"b":2}}'))).toBe('changed .open.a.b');
    expect(told(raw('[1]'), raw('[ 1 ]'))).toBe('same');
  });
});

test('elements that cannot be told apart fail', () => {
  expect(() => compare({ list: [] }, { list: [{ v: 'x' }] }, shape)).toThrow(UnidentifiedElement);
});
