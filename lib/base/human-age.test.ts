import { expect, test } from '@jest/globals';
import { humanAge } from './human-age.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

test.each([
  [-5, '<invalid>'],
  [-1, '0s'],
  [0, '0s'],
  [119, '119s'],
  [2 * minute, '2m'],
  [2 * minute + 1, '2m1s'],
  [10 * minute - 1, '9m59s'],
  [10 * minute + 30, '10m'],
  [3 * hour - 1, '179m'],
  [3 * hour, '3h'],
  [7 * hour + 59 * minute, '7h59m'],
  [8 * hour + 59 * minute, '8h'],
  [2 * day - 1, '47h'],
  [2 * day, '2d'],
  [7 * day + 23 * hour, '7d23h'],
  [8 * day + 23 * hour, '8d'],
  [2 * year - 1, '729d'],
  [2 * year, '2y'],
  [8 * year - day, '7y364d'],
  [9 * year + 100 * day, '9y'],
])('%i seconds read %s', (seconds, text) => {
  expect(humanAge(seconds * 1000)).toBe(text);
});
