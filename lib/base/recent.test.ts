import { expect, test } from '@jest/globals';
import { Recent } from './recent.ts';

test('what was asked for longest ago makes room', () => {
  const gone: number[] = [];
  const recent = new Recent<number>(2, (value) => gone.push(value));
  recent.set('a', 1);
  recent.set('b', 2);
  expect(recent.get('a')).toBe(1);
  recent.set('c', 3);
  expect([recent.get('b'), gone]).toEqual([undefined, [2]]);
  expect([...recent.entries()]).toEqual([
    ['a', 1],
    ['c', 3],
  ]);
});

test('what is set again, deleted or cleared is gone', () => {
  const gone: number[] = [];
  const recent = new Recent<number>(3, (value) => gone.push(value));
  for (const [index, key] of ['a', 'a', 'b', 'c'].entries()) recent.set(key, index);
  recent.delete('b');
  recent.delete('none');
  recent.clear();
  expect([gone, [...recent.entries()]]).toEqual([[0, 2, 1, 3], []]);
});
