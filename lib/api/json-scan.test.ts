import { expect, test } from '@jest/globals';
import { endOfString } from './json-scan.ts';

test.each([
  ['empty', '""', 1],
  ['plain', '"ab","c"', 3],
  ['with an escaped quote', String.raw`"a\"b"`, 5],
  ['that ends with an escaped backslash', String.raw`"a\\","b"`, 4],
  ['with a backslash before an escaped quote', String.raw`"\\\""`, 5],
  ['of backslashes', String.raw`"\\\\\\"`, 7],
  ['that never ends', '"abc', 3],
  ['whose last quote is escaped', String.raw`"abc\"`, 5],
])('the end of a string %s', (_name, text, end) => {
  expect(endOfString(text, 0)).toBe(end);
});
