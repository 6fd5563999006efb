import { expect, test } from '@jest/globals';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { TokenBucket } from './token-bucket.ts';

test('so many at once, then so many a second, and never more at once', () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket({ perSecond: 2, burst: 3 }, clock);
  const taken = (): number => {
    let count = 0;
    while (count < 10 && bucket.take()) count += 1;
    return count;
  };
  expect(taken()).toBe(3);
  clock.pass(499);
  expect(taken()).toBe(0);
  clock.pass(1);
  expect(taken()).toBe(1);
  clock.pass(60_000);
  expect(taken()).toBe(3);
});
