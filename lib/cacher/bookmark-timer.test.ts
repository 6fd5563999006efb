import { expect, test } from '@jest/globals';
import { BookmarkTimer } from './bookmark-timer.ts';

/** The times at which a bookmark becomes due. */
function dueTimes(spread: number): number[] {
  const timer = new BookmarkTimer(100);
  const times: number[] = [];
  for (let nowMs = 1000; nowMs <= 1300; nowMs += 5)
    if (timer.tick(nowMs, spread)) times.push(nowMs);
  return times;
}

test('the first bookmark comes in the last quarter of an interval, others after whole ones', () => {
  expect(dueTimes(0)).toEqual([1075, 1175, 1275]);
  expect(dueTimes(0.8)).toEqual([1095, 1195, 1295]);
});

test('a bookmark is due until it is sent', () => {
  const timer = new BookmarkTimer(100);
  timer.tick(0, 0);
  expect(timer.isDue).toBe(false);
  timer.tick(80, 0);
  timer.tick(90, 0);
  expect(timer.isDue).toBe(true);
  timer.clear();
  expect(timer.isDue).toBe(false);
});
