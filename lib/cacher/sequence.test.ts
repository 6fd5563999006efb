import { expect, test } from '@jest/globals';
import { Sequence } from './sequence.ts';

test('elements keep their number while older ones go', () => {
  const sequence = new Sequence<number>();
  for (let i = 0; i < 1_000; i++) sequence.push(i);
  for (let i = 0; i < 900; i++) expect(sequence.shift()).toBe(i);
  expect([sequence.first, sequence.end, sequence.length]).toEqual([900, 1_000, 100]);
  expect(sequence.at(899)).toBeUndefined();
  expect(sequence.at(950)).toBe(950);
  expect(sequence.oldest()).toBe(900);
});

test('older elements put in front get the numbers before the first', () => {
  const sequence = new Sequence<string>();
  sequence.push('c');
  sequence.push('d');
  sequence.shift();
  sequence.prepend(['a', 'b']);
  expect(sequence.first).toBe(-1);
  expect([-1, 0, 1].map((number) => sequence.at(number))).toEqual(['a', 'b', 'd']);
  expect(sequence.end).toBe(2);
});

test('find gives the first number that has reached, the end when none has', () => {
  const sequence = new Sequence<number>();
  for (const revision of [3, 5, 5, 9]) sequence.push(revision);
  expect([0, 3, 4, 5, 9].map((after) => sequence.find((revision) => revision > after))).toEqual([
    0, 1, 1, 3, 4,
  ]);
  sequence.clear();
  expect([sequence.first, sequence.end, sequence.shift()]).toEqual([4, 4, undefined]);
});
