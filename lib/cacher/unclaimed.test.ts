import { expect, test } from '@jest/globals';
import { Unclaimed } from './unclaimed.ts';

const held = { value: new Uint8Array(), revision: 1 };
const below = (unclaimed: Unclaimed, prefix: string): string[] =>
  [...unclaimed.below(prefix)].map(([key]) => key).sort();

test('keys lie below prefixes of one and of two segments', () => {
  const unclaimed = new Unclaimed();
  const keys = ['pods/n/a', 'pods/m/a', 'pods-x/n/a', 'zoo/lions/n/a', 'zoo/lions/b', 'zoo/x', 'y'];
  for (const key of keys) unclaimed.set(key, held);
  expect(below(unclaimed, 'pods')).toEqual(['pods/m/a', 'pods/n/a']);
  expect(below(unclaimed, 'zoo/lions')).toEqual(['zoo/lions/b', 'zoo/lions/n/a']);
  expect(below(unclaimed, 'zoo')).toEqual(['zoo/lions/b', 'zoo/lions/n/a', 'zoo/x']);
  expect(below(unclaimed, 'zoo/tigers')).toEqual([]);
  for (const [key] of unclaimed.below('zoo/lions')) unclaimed.delete(key);
  unclaimed.delete('absent/key');
  expect(below(unclaimed, 'zoo')).toEqual(['zoo/x']);
});

test('a resource looks at the keys that may be its own, among many', () => {
  const unclaimed = new Unclaimed();
  for (let i = 0; i < 2_000; i += 1) unclaimed.set(`zoo/kind${String(i)}/a`, held);
  let looks = 0;
  for (const [key] of unclaimed.below('zoo/kind7')) {
    looks += 1;
    unclaimed.delete(key);
  }
  expect(looks).toBe(1);
});
