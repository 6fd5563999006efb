// Whatever the text or the data: an answer in time, within memory, and never a property that only
// JavaScript knows.
import { describe, expect, test } from '@jest/globals';
import { costLimitMessage, memoryLimitMessage } from './eval/frame.ts';
import { compileErrors, evaluate, programOf } from './testing/evaluate.ts';
import { limits } from '../base/limits.ts';
import { inLinearTime } from '../base/testing/processor-time.ts';

describe('texts', () => {
  const tooDeep = ['0:0: expression recursion limit exceeded: 250'];

  test.each<[string, string, readonly string[]]>([
    ['deep parentheses', `${'('.repeat(251)}1${')'.repeat(251)}`, tooDeep],
    ['deep lists', '['.repeat(100_000), tooDeep],
    ['deep maps', '{'.repeat(100_000), tooDeep],
    ['deep objects', 'a{'.repeat(50_000), tooDeep],
    ['deep conditionals', `${'x?x:'.repeat(20_000)}x`, tooDeep],
    ['a long chain of fields', `x${'.a'.repeat(40_000)}`, ['0:0: max recursion depth exceeded']],
    [
      '5,000 comparisons in a row',
      `name${' == name'.repeat(5_000)}`,
      ['0:0: max recursion depth exceeded'],
    ],
    [
      'more than 100,000 characters',
      'a'.repeat(100_001),
      ['0:0: expression code point size exceeds limit: size: 100001, limit 100000'],
    ],
  ])('refused: %s', (_claim, text, errors) => {
    const found = inLinearTime(() => compileErrors(text));
    expect(found.map((line) => line.replace(/^-1:/, '0:'))).toEqual(errors);
  });

  test.each<[string, string, unknown]>([
    ['parentheses within the limit', `${'('.repeat(200)}1${')'.repeat(200)}`, 1],
    ['many signs', `${'-'.repeat(99_999)}1`, -1],
    ['many terms of a conjunction', `true${' && true'.repeat(10_000)}`, true],
    ['a text of 100,000 wide characters', `"${'é'.repeat(99_991)}".size()`, 99_991],
  ])('understood: %s', (_claim, text, value) => {
    const program = inLinearTime(() => programOf(text));
    expect(inLinearTime(() => program.evaluate({}))).toMatchObject({ kind: 'value', value });
  });

  test('a text full of errors reports a hundred of them', () => {
    expect(inLinearTime(() => compileErrors('$'.repeat(100_000)))).toHaveLength(100);
  });
});

describe('regular expressions', () => {
  test.each(['^(a+)+$', '(a|aa)+$', '(.*)*x', 'a*a*a*a*a*a*b'])('%s takes linear time', (regex) => {
    const name = `${'a'.repeat(50_000)}!`;
    expect(inLinearTime(() => evaluate('name.matches(x)', { name, x: regex }))).toBe(false);
  });

  test('repetitions that would take much memory are refused', () => {
    const regex = '((a{0,100}){0,100}){0,100}';
    expect(evaluate('name.matches(x)', { name: 'a', x: regex })).toBe(
      'error: error parsing regexp: invalid repeat count: `{0,100}`',
    );
  });
});

describe('limits', () => {
  const many = Array.from({ length: 1_000 }, (_, index) => index);

  test('are those of the reference', () => {
    expect(limits.expressionCostMax).toBe(1_000_000);
  });

  test.each([
    'x.all(i, x.all(j, x.all(k, i + j + k >= 0)))',
    'x.map(i, x.map(j, x.map(k, k)))',
    'x.distinct() == x',
    'lists.range(9000000000).size() > 0',
    'x.map(i, name).join(name).size() > 0',
  ])('%s ends at its cost', (text) => {
    const result = inLinearTime(() =>
      programOf(text).evaluate({ x: many, name: 'n'.repeat(1_000_000) }),
    );
    expect(result).toMatchObject({ kind: 'error', message: costLimitMessage, isCancelled: true });
    expect(costLimitMessage).toBe('operation cancelled: actual cost limit exceeded');
  });

  test.each([
    'name.replace("n", name).size() > 0',
    'x.map(i, name.replace("n", "nnnnnn")).size() > 0',
    'x.map(i, "%s".format([name])).size() > 0',
  ])('%s ends at its memory', (text) => {
    const result = inLinearTime(() =>
      programOf(text).evaluate({ x: many, name: 'n'.repeat(50_000) }),
    );
    expect(result).toMatchObject({ kind: 'error', message: memoryLimitMessage });
  });

  test('sums of lists are not copied', () => {
    const x = Array.from({ length: 100_000 }, (_, index) => index);
    expect(inLinearTime(() => evaluate('x.all(i, (x + x).size() > 0)', { x }))).toBe(true);
  });

  test('searches take linear time', () => {
    const name = 'a'.repeat(1_000_000);
    const x = `${'a'.repeat(500_000)}b`;
    expect(inLinearTime(() => evaluate('name.lastIndexOf(x)', { name, x }))).toBe(-1);
    expect(inLinearTime(() => evaluate('name.indexOf(x)', { name: `${name}ü`, x }))).toBe(-1);
  });

  test('data that nests too deeply ends the evaluation', () => {
    let [left, right]: unknown[][] = [[], []];
    for (let depth = 0; depth < 100_000; depth++) [left, right] = [[left], [right]];
    expect(evaluate('x == object', { x: left, object: right })).toBe(
      `error: ${memoryLimitMessage}`,
    );
  });

  test('a deadline ends loops', () => {
    let looks = 0;
    const isExpired = (): boolean => ++looks > 2;
    const options = { isExpired, costLimit: Infinity };
    expect(evaluate('x.all(i, x.all(j, true))', { x: many }, options)).toBe(
      'error: operation interrupted',
    );
    expect(looks).toBe(3);
  });
});

describe('names that JavaScript gives a meaning', () => {
  const own = JSON.parse('{"__proto__": 5, "constructor": 6}') as unknown;

  test.each<[string, unknown]>([
    ['x.__proto__', 'error: no such key: __proto__'],
    ['x.constructor', 'error: no such key: constructor'],
    ['x["toString"]', 'error: no such key: toString'],
    ['has(x.hasOwnProperty)', false],
    ['"valueOf" in x', false],
    ['x.?__proto__.hasValue()', false],
    ['object.__proto__ + object.constructor', 11],
    ['{"__proto__": 1}.__proto__ + {"constructor": 2}.size()', 2],
    ['{"a": 1}.map(k, k) == ["a"] && !has({"a": 1}.__proto__)', true],
  ])('%s', (text, value) => {
    expect(evaluate(text, { x: {}, object: own })).toEqual(value);
  });

  test.each(['__proto__', 'constructor', 'toString()', 'x.hasOwnProperty("a")', 'valueOf(1)'])(
    '%s is undeclared',
    (text) => {
      expect(compileErrors(text)[0]).toMatch(/undeclared reference to '\w+' \(in container ''\)$/);
    },
  );

  test('written objects keep such keys as plain keys', () => {
    const written = evaluate('{"__proto__": {"polluted": true}}') as object;
    expect(Object.keys(written)).toEqual(['__proto__']);
    expect(Reflect.get({}, 'polluted')).toBeUndefined();
  });
});
