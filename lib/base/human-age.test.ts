import { expect, test } from '@jest/globals';
import { humanAge, humanAgeUntilMs } from './human-age.ts';

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

test.each([0, 999, 119_000, 599_999])('%i ms read the same until', (from) => {
  expect(humanAgeUntilMs(from)).toBe((Math.floor(from / 1000) + 1) * 1000);
});
test('an age reads the same until it may change', () => {
  let steps = 0;
  for (let at = -3; at < 10 * year * 1000; steps++) {
    const untilMs = humanAgeUntilMs(at);
    expect(untilMs).toBeGreaterThan(at);
    expect(humanAge(untilMs - 1)).toBe(humanAge(at));
    at = untilMs;
  }
  // Milliseconds before; then seconds of ten minutes, minutes of eight hours, hours of eight days,
  // days of ten years.
  expect(steps).toBe(3 + 600 + 470 + 184 + 3_642);
});
