import { describe, expect, test } from '@jest/globals';
import { canonicalElement, keyElement, keyLabel, keyText, pathText } from './path-element.ts';
import { fieldElement, valueElement } from './path-element.ts';

test.each([
  ['a field', 'f:spec', 'f:spec'],
  ['a field without a name', 'f:', 'f:'],
  ['a field named like a step', 'f:f:x', 'f:f:x'],
  ['a field named __proto__', 'f:__proto__', 'f:__proto__'],
  ['a value with spaces', 'v: "a" ', 'v:"a"'],
  ['a value with escapes', 'v:"\\u0061\\u002f"', 'v:"a/"'],
  ['a number with decimals that are zeros', 'v:1.0', 'v:1'],
  ['an integer beyond 2^53', 'v:9007199254740993', 'v:9007199254740993'],
  ['a boolean', 'v:true', 'v:true'],
  ['null', 'v:null', 'v:null'],
  ['keys with spaces', 'k:{ "a" : 1 , "b" : "x" }', 'k:{"a":1,"b":"x"}'],
  ['keys in another order', 'k:{"protocol":"TCP","port":80}', 'k:{"port":80,"protocol":"TCP"}'],
  ['keys in the order of bytes', 'k:{"\u{1f600}":1,"\uff5e":2}', 'k:{"\uff5e":2,"\u{1f600}":1}'],
  ['a key beyond 2^53', 'k:{"id":-9007199254740993}', 'k:{"id":-9007199254740993}'],
  ['a key named __proto__', 'k:{"b":1,"__proto__":2}', 'k:{"__proto__":2,"b":1}'],
  ['no keys', 'k:{}', 'k:{}'],
  ['a place', 'i:007', 'i:7'],
  ['an unknown sort of step', 'x:1', undefined],
  ['nothing', '', undefined],
  ['a dot', '.', undefined],
])('%s has one text', (_what, text, expected) => {
  expect(canonicalElement(text)).toBe(expected);
  if (expected !== undefined) expect(canonicalElement(expected)).toBe(expected);
});

test.each(['v:', 'v:a', 'v:"', 'k:', 'k:1', 'k:[]', 'k:null', 'k:{', 'i:', 'i:x', 'i:1.5'])(
  '%j is refused',
  (text) => {
    expect(() => canonicalElement(text)).toThrow(SyntaxError);
  },
);

test('steps are made as they are read', () => {
  expect(fieldElement('a')).toBe('f:a');
  expect(valueElement('a"')).toBe('v:"a\\""');
  expect(valueElement(2n ** 60n)).toBe('v:1152921504606846976');
  const keys = [keyText(keyLabel('port'), 80), keyText(keyLabel('protocol'), 'TCP')];
  expect(keyElement(keys.join())).toBe('k:{"port":80,"protocol":"TCP"}');
});

describe('a path is read as', () => {
  test.each<[string, string[]]>([
    ['', []],
    ['.spec.a.b', ['f:spec', 'f:a.b']],
    [
      '.ports[port=80,protocol="TCP"].name',
      ['f:ports', 'k:{"port":80,"protocol":"TCP"}', 'f:name'],
    ],
    ['.ids[id=9007199254740993]', ['f:ids', 'k:{"id":9007199254740993}']],
    ['.a[__proto__="x"]', ['f:a', 'k:{"__proto__":"x"}']],
    ['.finalizers[="a"]', ['f:finalizers', 'v:"a"']],
    ['.list[3]', ['f:list', 'i:3']],
  ])('%s', (text, path) => {
    expect(pathText(path)).toBe(text);
  });
});
