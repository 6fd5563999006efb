import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { UnidentifiedElement } from './elements.ts';
import { mergeApplied } from './merge-applied.ts';
import { frozen } from './testing/random-history.ts';
import { atomic, keyed, mapOf, open, setOf, shapeWith } from './testing/schemas.ts';
import { struct, text, textOf } from './testing/schemas.ts';

const shape = shapeWith({
  a: text,
  spec: struct({ x: text, y: text }),
  map: mapOf(text),
  set: setOf(text),
  list: keyed(['n'], { n: text, v: text, w: text }),
  ports: keyed(['port', 'protocol'], {
    port: { type: 'integer' },
    protocol: { ...text, default: 'TCP' },
    v: text,
  }),
  wholeList: { type: 'array', items: text },
  whole: atomic(mapOf(text)),
  open,
});
const merged = (live: JsonObject, applied: JsonObject): JsonValue | undefined =>
  mergeApplied(frozen(live), frozen(applied), shape);

describe('merges', () => {
  test.each<[string, JsonObject, JsonObject, JsonObject]>([
    ['values', { a: '1' }, { a: '2' }, { a: '2' }],
    ['members', { spec: { x: '1', y: '1' } }, { spec: { y: '2' } }, { spec: { x: '1', y: '2' } }],
    ['entries', { map: { b: '1' } }, { map: { a: '1' } }, { map: { b: '1', a: '1' } }],
    ['wholes as one', { whole: { a: '1' } }, { whole: { b: '1' } }, { whole: { b: '1' } }],
    ['atomic lists as one', { wholeList: ['a'] }, { wholeList: ['b'] }, { wholeList: ['b'] }],
    ['nothing over members', { map: { a: '1' } }, { map: {} }, { map: { a: '1' } }],
    [
      'null over members',
      { map: { a: '1' }, set: ['a'] },
      { map: null, set: null },
      { map: { a: '1' }, set: ['a'] },
    ],
    ['null over nothing', { map: {} }, { map: null }, { map: null }],
    ['null over a value', { a: '1' }, { a: null }, { a: null }],
    [
      'what no schema knows',
      { open: { a: { b: 1 } } },
      { open: { a: { c: 2 } } },
      { open: { a: { b: 1, c: 2 } } },
    ],
    ['an object over a value', { open: 1 }, { open: { a: 1 } }, { open: { a: 1 } }],
    ['a value over an object', { open: { a: 1 } }, { open: [1] }, { open: [1] }],
    ['fields that the type does not have', { b: { c: 1 } }, { b: { d: 1 } }, { b: { d: 1 } }],
    [
      'values of the wrong type',
      { map: 'x', set: 'y' },
      { map: { a: '1' }, set: ['a'] },
      { map: { a: '1' }, set: ['a'] },
    ],
    [
      'elements by their keys',
      { list: [{ n: '1', v: 'a' }] },
      { list: [{ n: '1', w: 'b' }] },
      { list: [{ n: '1', v: 'a', w: 'b' }] },
    ],
    [
      'elements by what absent keys stand for',
      { ports: [{ port: 1, protocol: 'TCP' }] },
      {
        ports: [
          { port: 1, v: 'a' },
          { port: 1, protocol: 'UDP' },
        ],
      },
      {
        ports: [
          { port: 1, protocol: 'TCP', v: 'a' },
          { port: 1, protocol: 'UDP' },
        ],
      },
    ],
    [
      'one element over several',
      {
        list: [
          { n: '1', v: 'a' },
          { n: '1', v: 'b' },
        ],
      },
      { list: [{ n: '1', w: 'c' }] },
      { list: [{ n: '1', w: 'c' }] },
    ],
    [
      'elements beside doubled ones',
      { list: [{ n: '1' }, { n: '2' }, { n: '1', v: 'b' }] },
      { list: [{ n: '2', v: 'c' }] },
      { list: [{ n: '1' }, { n: '2', v: 'c' }, { n: '1', v: 'b' }] },
    ],
  ])('%s', (_what, live, applied, expected) => {
    expect(textOf(merged(live, applied))).toBe(textOf(expected));
  });

  test('names of prototypes like any other', () => {
    const names = JSON.parse('{"__proto__":"1","constructor":"2"}') as JsonObject;
    const result = merged({ map: { toString: '0' } }, { map: names }) as { map: JsonObject };
    expect(Object.entries(result.map)).toEqual([
      ['toString', '0'],
      ['__proto__', '1'],
      ['constructor', '2'],
    ]);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });
});

// Letters are elements: of a set, and of a list with keys.
describe('the order of lists', () => {
  test.each([
    // live, applied, merged
    ['', 'ab', 'ab'],
    ['ab', '', 'ab'],
    ['ab', 'ab', 'ab'],
    ['ab', 'ba', 'ba'],
    ['abc', 'b', 'abc'],
    ['abc', 'ca', 'bca'],
    ['xay', 'a', 'xay'],
    ['xay', 'ab', 'xayb'],
    ['xay', 'ba', 'xbay'],
    ['xayb', 'ab', 'xayb'],
    ['xayb', 'ba', 'xyba'],
    ['xyz', 'ab', 'xyzab'],
    ['axb', 'acb', 'axcb'],
    ['abcd', 'dcba', 'dcba'],
    ['aab', 'ab', 'ab'],
    ['aab', 'b', 'aab'],
    ['xaya', 'ba', 'xbay'],
  ])('of %j with %j applied is %j', (live, applied, expected) => {
    const letters = (list: string): string[] => list.split('');
    const elements = (list: string): JsonObject[] => letters(list).map((n) => ({ n }));
    const inSet = merged({ set: letters(live) }, { set: letters(applied) }) as { set: string[] };
    expect(inSet.set.join('')).toBe(expected);
    const inList = merged({ list: elements(live) }, { list: elements(applied) });
    expect(textOf(inList)).toBe(textOf({ list: elements(expected) }));
    const again = merged({ set: letters(expected) }, { set: letters(applied) });
    expect(again).toEqual(inSet);
  });
});

test('what one side alone has is shared with it', () => {
  const live = { spec: { x: '1' }, map: { a: '1' } };
  const applied = { map: { b: '1' }, open: { c: 1 } };
  const result = merged(live, applied) as JsonObject;
  expect(result['spec']).toBe(live.spec);
  expect(result['open']).toBe(applied.open);
  expect(mergeApplied(live, undefined, shape)).toBe(live);
  expect(mergeApplied(undefined, applied, shape)).toBe(applied);
});

test.each<[string, JsonObject, JsonObject]>([
  ['twice in the configuration', { set: ['b'] }, { set: ['a', 'a'] }],
  ['without keys in the configuration', { list: [] }, { list: [{ v: 'a' }] }],
  ['without keys in the live object', { list: [{ v: 'a' }] }, { list: [{ n: '1' }] }],
])('elements %s are refused', (_what, live, applied) => {
  expect(() => merged(live, applied)).toThrow(UnidentifiedElement);
});
