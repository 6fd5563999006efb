import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { FieldSet, isSameSet, memberPaths, setOf } from './field-set.ts';
import { readFieldsV1, writeFieldsV1 } from './fields-v1.ts';

const json = (text: string): JsonValue => JSON.parse(text) as JsonValue;
const written = (set: FieldSet | undefined): string =>
  set === undefined ? 'none' : JSON.stringify(writeFieldsV1(set));
const long = 'n'.repeat(256 * 1024);

describe('read and written', () => {
  test.each([
    '{}',
    '{"f:a":{}}',
    '{"f:a":{".":{},"f:b":{}}}',
    '{"f:a":{"f:b":{"f:c":{}}}}',
    '{"f:":{"f:":{}},"f:.":{},"f:__proto__":{"f:__proto__":{}},"f:constructor":{}}',
    '{"f:list":{"k:{\\"__proto__\\":1}":{".":{},"f:__proto__":{}}}}',
    '{"f:set":{"v:\\"\\"":{},"v:\\"a\\"":{},"v:1":{},"v:9007199254740993":{}}}',
    '{"f:a":{},"i:1":{},"k:{\\"a\\":1}":{},"v:1":{}}',
    `{"f:${long}":{}}`,
  ])('%.60s is the same', (text) => {
    expect(written(readFieldsV1(json(text)))).toBe(text);
  });

  test.each([
    [
      'steps in any order',
      '{"v:1":{},"f:b":{},"k:{\\"b\\":1,\\"a\\":2}":{},"f:a":{}}',
      '{"f:a":{},"f:b":{},"k:{\\"a\\":2,\\"b\\":1}":{},"v:1":{}}',
    ],
    ['a member that says so', '{"f:a":{".":{}}}', '{"f:a":{}}'],
    [
      'a dot that holds something',
      '{"f:a":{".":{"f:x":{}},"f:b":{}}}',
      '{"f:a":{".":{},"f:b":{}}}',
    ],
    ['steps of an unknown sort', '{"x:a":5,"f:a":{},"":{}}', '{"f:a":{}}'],
    ['what holds steps of an unknown sort alone', '{"f:a":{"x:b":{}},"f:b":{}}', '{"f:b":{}}'],
  ])('%s: in one form', (_what, text, expected) => {
    expect(written(readFieldsV1(json(text)))).toBe(expected);
  });
});

test.each<[string, JsonValue]>([
  ['null', null],
  ['a list', []],
  ['a text', 'f:a'],
  ['a field that holds null', { 'f:a': null }],
  ['a field that holds a list', { 'f:a': [] }],
  ['a field that holds a text', { 'f:a': { 'f:b': 'x' } }],
  ['keys that are no JSON', { 'k:{': {} }],
  ['keys that are no object', { 'k:1': {} }],
  ['a value that is no JSON', { 'f:a': { 'v:x': {} } }],
  ['a place that is no number', { 'i:x': {} }],
  ['an integer beyond 2^53 in it', { 'f:a': 2n ** 60n }],
])('%s is no FieldsV1', (_what, value) => {
  expect(readFieldsV1(value)).toBeUndefined();
});

test('equal texts give one set, and a set is written once', () => {
  const value = (): JsonObject => ({ 'f:kept': { 'f:once': {} } });
  const set = readFieldsV1(value());
  expect(readFieldsV1(value())).toBe(set);
  const one = setOf(['f:a', 'f:b']);
  expect(writeFieldsV1(one)).toBe(writeFieldsV1(one));
  expect(Object.isFrozen(writeFieldsV1(one))).toBe(true);
});

test('names beyond the texts that are kept are read all the same', () => {
  const set = readFieldsV1({ [`f:${long}`]: { 'f:a': {} } }) ?? FieldSet.empty;
  expect(isSameSet(set, setOf([`f:${long}`, 'f:a']))).toBe(true);
  expect([...memberPaths(set)]).toHaveLength(1);
});

test('hostile names change no prototype', () => {
  readFieldsV1(json('{"f:__proto__":{"f:polluted":{}},"__proto__":{"f:polluted":{}}}'));
  expect(Object.keys(Object.prototype)).toEqual([]);
});
