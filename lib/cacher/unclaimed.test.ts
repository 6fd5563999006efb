import { expect, test } from '@jest/globals';
import { Unclaimed } from './unclaimed.ts';

const held = { value: new Uint8Array(), revision: 1 };

test('keys lie below prefixes of one and of two segments', () => {
  const keys = ['pods/n/a', 'pods/m/a', 'pods-x/n/a', 'zoo/lions/n/a', 'zoo/lions/b', 'zoo/x', 'y'];
  const below = (prefix: string, gone: readonly string[] = []): string[] => {
    const unclaimed = new Unclaimed();
    for (const key of keys) unclaimed.set(key, held);
    for (const key of ['absent/key', ...gone]) unclaimed.delete(key);
    return [...unclaimed.take(prefix, () => true).keys()].sort();
  };
  expect(below('pods')).toEqual(['m/a', 'n/a']);
  expect(below('zoo/lions')).toEqual(['b', 'n/a']);
  expect(below('zoo')).toEqual(['lions/b', 'lions/n/a', 'x']);
  expect(below('zoo/tigers')).toEqual([]);
  expect(below('zoo', ['zoo/lions/b', 'zoo/x'])).toEqual(['lions/n/a']);
});

test('what is taken is gone, and what is not of the resource stays', () => {
  const unclaimed = new Unclaimed();
  for (const key of ['zoo/lions/n/a', 'zoo/lions/b']) unclaimed.set(key, held);
  const isNamespaced = (path: string): boolean => path.includes('/');
  expect([...unclaimed.take('zoo/lions', isNamespaced)]).toEqual([['n/a', held]]);
  expect([...unclaimed.take('zoo/lions', () => true)]).toEqual([['b', held]]);
  expect(unclaimed.take('zoo/lions', () => true).size).toBe(0);
});

test('a resource looks at the keys that may be its own, among many', () => {
  const unclaimed = new Unclaimed();
  for (let i = 0; i < 2_000; i += 1) unclaimed.set(`zoo/kind${String(i)}/a`, held);
  let looks = 0;
  unclaimed.take('zoo/kind7', () => {
    looks += 1;
    return true;
  });
  expect(looks).toBe(1);
});
