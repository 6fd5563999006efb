import { expect, test } from '@jest/globals';
import { isNameless } from '../base/nameless.ts';
import { newRecord } from './record.ts';

const prototypeOf = (value: object): unknown => Object.getPrototypeOf(value);

test('a record has no names but those it is given', () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'];
  const record = newRecord();
  for (const name of names) {
    expect(record[name]).toBeUndefined();
    expect(name in record).toBe(false);
    record[name] = name;
  }
  expect(JSON.stringify(record)).toBe(`{${names.map((name) => `"${name}":"${name}"`).join()}}`);
  expect(Object.keys(newRecord())).toEqual([]);
});

test('who writes into the prototype of records fails', () => {
  expect(() => Object.assign(prototypeOf(newRecord()) as object, { x: 1 })).toThrow(TypeError);
});

test.each([
  ['a record', newRecord(), true],
  ['an object without prototype', Object.create(null) as object, true],
  ['a plain object', {}, false],
])('%s', (_name, value, isSo) => {
  expect(isNameless(prototypeOf(value))).toBe(isSo);
});
