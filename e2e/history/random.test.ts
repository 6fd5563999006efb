// Choices replay from their seed and labels, and follow their weights.

import { expect, test } from '@jest/globals';
import { newSeed, Random } from './random.ts';

const draw = (random: Random): number[] => Array.from({ length: 20 }, () => random.below(1000));

test('the same seed and labels choose the same, others choose otherwise', () => {
  const seed = newSeed();
  const first = draw(new Random(seed, 'client', 1));
  expect(draw(new Random(seed, 'client', 1))).toEqual(first);
  expect(draw(new Random(seed, 'client', 2))).not.toEqual(first);
  expect(draw(new Random(`${seed}x`, 'client', 1))).not.toEqual(first);
});

test('weights are respected', () => {
  const random = new Random('weights');
  const counts = { often: 0, seldom: 0, never: 0 };
  for (let count = 0; count < 10_000; count += 1) {
    counts[random.weighted({ often: 9, seldom: 1, never: 0 })] += 1;
  }
  expect(counts.never).toBe(0);
  expect(counts.seldom).toBeGreaterThan(800);
  expect(counts.seldom).toBeLessThan(1200);
});
