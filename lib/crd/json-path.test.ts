// JSONPaths of columns, as kubectl's templates understand them.
import { describe, expect, test } from '@jest/globals';
import { limits } from '../base/limits.ts';
import type { JsonValue } from '../api/type-info.ts';
import { findValues } from './json-path.ts';
import { parseJsonPath } from './parse-json-path.ts';

const object: JsonValue = {
  metadata: { name: 'a', labels: { 'x.y/z': 'l' } },
  spec: {
    n: 5,
    nothing: null,
    list: [
      { k: 'a', on: true, n: 1 },
      { k: 'b', on: false, n: 2 },
      { k: 'c', n: 3 },
    ],
    numbers: [10, 20, 30, 40],
    'a b': 1,
  },
};

function found(path: string, of: JsonValue = object): readonly JsonValue[] | undefined | 'no path' {
  const parsed = parseJsonPath(path);
  return parsed === undefined ? 'no path' : findValues(parsed, of, { steps: 10_000 });
}

describe('a path finds', () => {
  test.each<[string, JsonValue[]]>([
    ['.spec.n', [5]],
    ['$.spec.n', [5]],
    ['@.spec.n', [5]],
    ['.spec.none.deeper', []],
    ['.spec.nothing', [null]],
    ['.spec.nothing.deeper', []],
    ['.spec.n.deeper', []],
    ['.metadata.labels.x\\.y/z', ['l']],
    ["['spec']['n']", [5]],
    ["['spec'].n", [5]],
    ['.spec.list[0].k', ['a']],
    ['.spec.list[-1].k', ['c']],
    ['.spec.list[*].k', ['a', 'b', 'c']],
    ['.spec.list[:].n', [1, 2, 3]],
    ['.spec.numbers[1:3]', [20, 30]],
    ['.spec.numbers[-2:]', [30, 40]],
    ['.spec.numbers[:-1]', [10, 20, 30]],
    ['.spec.numbers[0:4:2]', [10, 30]],
    ['.spec.numbers[0,2]', [10, 30]],
    ['.spec.numbers[2:2]', []],
    ['.spec.list[?(@.k=="b")].n', [2]],
    ["..list[?(@.k=='b')].n", [2]],
    ['.spec.list[?(@.k!="b")].k', ['a', 'c']],
    ['.spec.list[?(@.n>1)].k', ['b', 'c']],
    ['.spec.list[?(@.n<=1)].k', ['a']],
    ['.spec.list[?(@.on==true)].k', ['a']],
    ['.spec.list[?(@.on)].k', ['a', 'b']],
    ['.spec.list[?(@.none)].k', []],
    ['..k', ['a', 'b', 'c']],
    ['.metadata.*', ['a', { 'x.y/z': 'l' }]],
    ["['metadata','spec'].name", ['a']],
    ['.spec.n} and {.metadata.name', [5]],
    ['', [object]],
  ])('%s', (path, expected) => {
    expect(found(path)).toEqual(expected);
  });
});

describe('a path finds nothing at all where it', () => {
  test.each([
    ['asks for an element beyond the end', '.spec.numbers[9]'],
    ['asks for elements of what is no list', '.spec.n[0]'],
    ['filters what is no list', '.spec.n[?(@.a)]'],
    ['compares a text with a number', '.spec.list[?(@.k==1)]'],
    ['orders truths', '.spec.list[?(@.on>true)]'],
    ['steps by nothing', '.spec.numbers[0:4:0]'],
    ['names a word', 'range'],
  ])('%s', (_, path) => {
    expect(found(path)).toBeUndefined();
  });
});

describe('no path is', () => {
  test.each([
    '.a[',
    '.a[x]',
    '.a[?(@.b]',
    '.a[?(@.b)',
    ".a['b",
    '.a["b',
    '"a',
    '....a',
    '.a{b',
    '.a[-]',
    '1.2.3',
  ])('%s', (path) => {
    expect(found(path)).toBe('no path');
  });
});

describe('a path costs', () => {
  test('no more values than it is given, however it is written', () => {
    const wide = { a: Array.from({ length: 1_000 }, () => ({ a: [1] })) };
    const path = parseJsonPath('..a..a..*');
    const budget = { steps: limits.columnStepsMax };
    expect(path && findValues(path, wide, { steps: 500 })).toBeUndefined();
    const small = parseJsonPath('.a[0]');
    expect(small && findValues(small, wide, budget)).toEqual([{ a: [1] }]);
    expect(budget.steps).toBeGreaterThan(limits.columnStepsMax - 20);
  });

  test('no stack, however deep it nests', () => {
    for (const open of ['[?(@.a', "[0,[1,'"]) {
      expect(parseJsonPath(`.a${open.repeat(100_000)}`)).toBeUndefined();
    }
    const filters = `${'[?(@.a'.repeat(50_000)}${')]'.repeat(50_000)}`;
    expect(parseJsonPath(filters)).toBeUndefined();
    let deep: JsonValue = 1;
    for (let depth = 0; depth < 5_000; depth += 1) deep = { a: deep };
    const path = parseJsonPath('..b');
    expect(path && findValues(path, deep, { steps: 100_000 })).toEqual([]);
  });
});
