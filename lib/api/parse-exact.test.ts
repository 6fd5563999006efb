import { expect, test } from '@jest/globals';
import { parseExact } from './parse-exact.ts';

test.each([
  ['9007199254740991', 9007199254740991],
  ['9007199254740993', 9007199254740993n],
  ['-9007199254740993.00', -9007199254740993n],
  ['9007199254740993.5', 9007199254740994],
  ['1e300', 1e300],
])('%s', (text, value) => {
  expect(parseExact(`{"a":[${text}]}`)).toEqual({ a: [value] });
});
