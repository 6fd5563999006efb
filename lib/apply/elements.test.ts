import { describe, expect, test } from '@jest/globals';
import type { JsonValue } from '../api/type-info.ts';
import { byIdentity, identityOf, UnidentifiedElement, uniqueByIdentity } from './elements.ts';
import { keyLabel } from './path-element.ts';
import { leafShape } from './shape.ts';
import type { KeyedShape, SetShape } from './shape.ts';

const set: SetShape = { kind: 'set' };
const keyed = (...keys: (readonly [string, JsonValue | undefined])[]): KeyedShape => ({
  kind: 'keyed',
  keys: keys.map(([name, byDefault]) => ({ name, label: keyLabel(name), byDefault })),
  element: leafShape,
});
const ports = keyed(['port', undefined], ['protocol', 'TCP']);

describe('an element is known by', () => {
  test.each<[string, JsonValue, SetShape | KeyedShape, string]>([
    ['its value', 'a', set, 'v:"a"'],
    ['its whole number', 9007199254740993n, set, 'v:9007199254740993'],
    ['its keys', { port: 80, protocol: 'UDP' }, ports, 'k:{"port":80,"protocol":"UDP"}'],
    ['what an absent key stands for', { port: 80 }, ports, 'k:{"port":80,"protocol":"TCP"}'],
    ['the keys that it has', {}, ports, 'k:{"protocol":"TCP"}'],
    ['null as an absent key', { port: null }, ports, 'k:{"protocol":"TCP"}'],
    ['a default, where its prototype has the name', {}, keyed(['toString', 1]), 'k:{"toString":1}'],
    [
      'a key named __proto__',
      JSON.parse('{"__proto__":1}') as JsonValue,
      keyed(['__proto__', 2]),
      'k:{"__proto__":1}',
    ],
  ])('%s', (_what, element, shape, expected) => {
    expect(identityOf(element, shape)).toBe(expected);
  });
});

test.each<[string, JsonValue, SetShape | KeyedShape, RegExp]>([
  ['an object in a set', {}, set, /a text, a number or a boolean/],
  ['null in a list with keys', null, ports, /must be an object/],
  ['an element without keys', {}, keyed(['a', undefined], ['b', undefined]), /none .* keys: a, b/],
  ['a key that is an object', { port: { a: 2n ** 60n } }, ports, /key port .* no object or list/],
  ['a key that is a list', { port: [80] }, ports, /key port .* no object or list/],
  ['names of its prototype', {}, keyed(['constructor', undefined]), /none .* keys: constructor/],
])('%s has no identity', (_what, element, shape, message) => {
  expect(() => identityOf(element, shape)).toThrow(message);
  expect(() => identityOf(element, shape)).toThrow(UnidentifiedElement);
});

test('elements with one identity are kept in their order, or refused', () => {
  const list = ['b', 'a', 'b'];
  expect([...byIdentity(list, set)]).toEqual([
    ['v:"b"', ['b', 'b']],
    ['v:"a"', ['a']],
  ]);
  expect(() => uniqueByIdentity(list, set)).toThrow(': duplicate entries for key [="b"]');
  const error = new UnidentifiedElement('why').below('k:{"a":1}').below('f:list');
  expect(error.message).toBe('.list[a=1]: why');
});
