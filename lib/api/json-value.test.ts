import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from './type-info.ts';
import { cloneAlike, cloneJson, copyMember, jsonEqual } from './json-value.ts';
import { isNameless } from '../base/nameless.ts';

const parse = (text: string): JsonObject => JSON.parse(text) as JsonObject;

describe('copies', () => {
  test('of many members share nothing, keep prototypes, and treat every key as data', () => {
    const members = Array.from({ length: 200 }, (_, at) => `"k${String(at)}":{"n":${String(at)}}`);
    const original = parse(`{"__proto__":{"x":1},${members.join(',')}}`);
    const copy = cloneAlike(original);
    expect(JSON.stringify(copy)).toBe(JSON.stringify(original));
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(isNameless(Object.getPrototypeOf(cloneAlike(cloneJson(original))))).toBe(true);
    expect(copy['k7']).not.toBe(original['k7']);
    expect(copy['x']).toBeUndefined();
  });

  test('share nothing and treat every key as data', () => {
    const original = parse('{"a":[{"b":1}],"__proto__":{"x":1},"constructor":"c"}');
    const copy = cloneJson(original);
    expect(JSON.stringify(copy)).toBe(JSON.stringify(original));
    expect(isNameless(Object.getPrototypeOf(copy))).toBe(true);
    expect(copy['a']).not.toBe(original['a']);
    expect(({} as JsonObject)['x']).toBeUndefined();
  });

  test('that are alike share nothing and keep prototypes and keys', () => {
    const original = parse('{"a":[{"b":[1]},2],"__proto__":{"x":1},"constructor":"c"}');
    original['map'] = Object.assign(Object.create(null), { 'k/v': [null] }) as JsonObject;
    const copy = cloneAlike(original);
    expect(JSON.stringify(copy)).toBe(JSON.stringify(original));
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect(isNameless(Object.getPrototypeOf(copy['map']))).toBe(true);
    for (const [mine, theirs] of [
      [copy['a'], original['a']],
      [(copy['a'] as JsonObject[])[0]?.['b'], (original['a'] as JsonObject[])[0]?.['b']],
      [copy['__proto__'], original['__proto__']],
      [(copy['map'] as JsonObject)['k/v'], original['map']['k/v']],
    ]) {
      expect(mine).toEqual(theirs);
      expect(mine).not.toBe(theirs);
    }
  });

  test('keep integers beyond 2^53', () => {
    expect(cloneJson({ n: 9007199254740993n })['n']).toBe(9007199254740993n);
  });
});

describe('equality', () => {
  test.each([
    ['{"a":1,"b":[2]}', '{"b":[2],"a":1}', true],
    ['{"a":[1,2]}', '{"a":[2,1]}', false],
    ['{"a":null}', '{}', false],
    ['{"a":{}}', '{"a":[]}', false],
    ['{"a":"1"}', '{"a":1}', false],
    ['{"__proto__":{"x":1}}', '{}', false],
    ['{"constructor":"c"}', '{"toString":"c"}', false],
  ])('of %s and %s is %p', (left, right, expected) => {
    expect(jsonEqual(parse(left), parse(right))).toBe(expected);
    expect(jsonEqual(parse(right), parse(left))).toBe(expected);
  });

  test('an undefined member is an absent one', () => {
    expect(jsonEqual({ a: undefined }, {})).toBe(true);
  });
});

describe('a copied member', () => {
  test.each([
    ['status', '{"status":{"x":1}}', '{"status":{"x":2}}', '{"status":{"x":2}}'],
    ['status', '{"status":{"x":1}}', '{}', '{}'],
    [
      'metadata.labels',
      '{}',
      '{"metadata":{"labels":{"a":"b"}}}',
      '{"metadata":{"labels":{"a":"b"}}}',
    ],
    [
      'metadata.labels',
      '{"metadata":{"labels":{"a":"b"},"name":"n"}}',
      '{}',
      '{"metadata":{"name":"n"}}',
    ],
    ['metadata.labels', '{}', '{}', '{}'],
  ])('%s of %s from %s gives %s', (path, target, source, expected) => {
    const into = parse(target);
    copyMember(into, parse(source), path);
    expect(JSON.stringify(into)).toBe(expected);
  });
});
