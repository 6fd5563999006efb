import { describe, expect, test } from '@jest/globals';
import { difference, FieldSet, intersection, isSameSet, memberPaths } from './field-set.ts';
import { setOf, union, unionOf, within, without } from './field-set.ts';
import { fields } from './testing/schemas.ts';

const { empty, leaf } = FieldSet;
const a = setOf(['f:a']);
const ab = setOf(['f:a', 'f:b']);
const aAndAb = setOf(['f:a'], ['f:a', 'f:b']);
const abc = setOf(['f:a', 'f:b', 'f:c']);
const d = setOf(['f:d']);
const names = { empty, leaf, a, ab, aAndAb, abc, d };
type Name = keyof typeof names;
const listed = (set: FieldSet): string =>
  [...memberPaths(set)].map((path) => path.join('').replaceAll('f:', '')).join(' ');

describe('sets', () => {
  test.each<[Name, Name, string, string, string, string]>([
    // left, right, union, intersection, difference, without
    ['a', 'a', 'a', 'a', '', ''],
    ['a', 'empty', 'a', '', 'a', 'a'],
    ['empty', 'a', 'a', '', '', ''],
    ['a', 'd', 'a d', '', 'a', 'a'],
    ['a', 'ab', 'a ab', '', 'a', 'a'],
    ['ab', 'a', 'a ab', '', 'ab', ''],
    ['aAndAb', 'a', 'a ab', 'a', 'ab', ''],
    ['aAndAb', 'ab', 'a ab', 'ab', 'a', 'a'],
    ['abc', 'ab', 'ab abc', '', 'abc', ''],
    ['ab', 'abc', 'ab abc', '', 'ab', 'ab'],
    ['leaf', 'empty', '', '', '', ''],
  ])('%s and %s', (left, right, joined, both, rest, above) => {
    const [one, other] = [names[left], names[right]];
    expect(listed(union(one, other))).toBe(joined);
    expect(listed(intersection(one, other))).toBe(both);
    expect(listed(difference(one, other))).toBe(rest);
    expect(listed(without(one, other))).toBe(above);
  });

  test('that are members themselves lose that alone, or all', () => {
    const whole = ab.asMember;
    expect(difference(whole, leaf).isMember).toBe(false);
    expect(isSameSet(difference(whole, leaf), ab)).toBe(true);
    expect(without(whole, leaf)).toBe(empty);
    expect(union(ab, leaf).isMember).toBe(true);
    expect(intersection(whole, leaf)).toBe(leaf);
  });
});

test.each([
  ['what lies at a path and below it, with what holds it', [['f:a', 'f:b']], 'a ab abc'],
  ['any element of a list', [['f:l', '*', 'f:v']], 'lk:1 lk:1v'],
  ['nothing', [['f:x']], ''],
  ['all', [[]], 'a d ab abc lk:1 lk:1n lk:1v'],
])('within paths lies %s', (_what, paths, kept) => {
  const list = setOf(['f:l', 'k:1'], ['f:l', 'k:1', 'f:n'], ['f:l', 'k:1', 'f:v']);
  const all = unionOf([a, ab, abc, d, list]);
  expect(listed(within(all, setOf(...paths)))).toBe(kept);
  expect(within(all, leaf)).toBe(all);
});

describe('what equals an argument is that argument', () => {
  const copy = (): FieldSet => setOf(['f:a'], ['f:a', 'f:b']);
  test.each<[string, () => FieldSet, FieldSet]>([
    ['union with itself', () => union(aAndAb, aAndAb), aAndAb],
    ['union with an equal one', () => union(aAndAb, copy()), aAndAb],
    ['union with a part', () => union(aAndAb, ab), aAndAb],
    ['union with nothing', () => union(ab, empty), ab],
    ['union of nothing', () => union(empty, ab), ab],
    ['intersection with itself', () => intersection(ab, ab), ab],
    ['difference to others', () => difference(ab, d), ab],
    ['difference to what is above', () => difference(ab, a), ab],
    ['without others', () => without(ab, d), ab],
    ['without what is below', () => without(ab, abc), ab],
    ['difference to an equal one', () => difference(aAndAb, copy()), empty],
    ['without an equal one', () => without(aAndAb, copy()), empty],
    ['intersection with others', () => intersection(ab, d), empty],
    ['a member as a member', () => leaf.asMember, leaf],
    ['nothing as a member', () => empty.asMember, leaf],
    ['a set of no members', () => setOf(), empty],
    ['no children', () => FieldSet.of(false, new Map()), empty],
    ['a member without children', () => FieldSet.of(true, new Map()), leaf],
  ])('%s', (_what, make, expected) => {
    expect(make()).toBe(expected);
  });

  test('parts that stay are shared', () => {
    const both = union(abc, d);
    expect(both.below('f:a')).toBe(abc.below('f:a'));
    expect(difference(both, d).below('f:a')).toBe(abc.below('f:a'));
    expect(both.below('f:x')).toBe(empty);
  });

  test('arguments stay as they are', () => {
    for (const [left, right] of [
      [aAndAb, abc],
      [abc, aAndAb],
      [ab, d],
    ] as const) {
      const before = [listed(left), listed(right)];
      for (const operation of [union, intersection, difference, without]) operation(left, right);
      expect([listed(left), listed(right)]).toEqual(before);
    }
  });
});

test.each<[string, FieldSet, FieldSet, boolean]>([
  ['equal ones in another order', setOf(['f:a'], ['f:d']), setOf(['f:d'], ['f:a']), true],
  ['more members', setOf(['f:a'], ['f:d']), a, false],
  ['fewer members', a, setOf(['f:a'], ['f:d']), false],
  ['another member', a, d, false],
  ['a member that holds another', aAndAb, ab, false],
  ['nothing and a member', empty, leaf, false],
])('isSameSet: %s', (_what, left, right, expected) => {
  expect(isSameSet(left, right)).toBe(expected);
});

test('members are listed before those of the objects beside them', () => {
  const set = fields({ 'f:a': { '.': {}, 'f:x': { 'f:y': {} } }, 'f:__proto__': {}, 'f:': {} });
  expect([...memberPaths(set)]).toEqual([['f:a'], ['f:__proto__'], ['f:'], ['f:a', 'f:x', 'f:y']]);
});

test.each([0, 1, 2, 7, 64])('the union of %i sets holds what each of them holds', (count) => {
  const paths = Array.from({ length: count }, (_, at) => ['f:a', `f:${String(at)}`]);
  const all = unionOf(paths.map((path) => setOf(path)));
  expect(isSameSet(all, setOf(...paths))).toBe(true);
});
