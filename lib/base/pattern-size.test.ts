import { describe, expect, test } from '@jest/globals';
import { limits } from './limits.ts';
import { patternSize } from './pattern-size.ts';
import { compilePattern } from './pattern.ts';

describe('the size of a regular expression', () => {
  test.each<[string, string, number]>([
    ['nothing', '', 0],
    ['characters', 'abc', 3],
    ['a class is one', '[^]a-z\\]]', 1],
    ['an escape is one', '\\d\\{', 2],
    ['a repetition counts what it repeats', 'ab{7}', 8],
    ['a range counts its most', 'a{2,9}', 9],
    ['an open range counts its least', 'a{5,}', 5],
    ['no repetition: a brace without a count', 'a{,5}', 5],
    ['a group is repeated as a whole', '(ab){100}', 400],
    ['groups within groups', '((a{10}){10}){10}', 1_220],
  ])('%s', (_name, source, steps) => {
    expect(patternSize(source).steps).toBe(steps);
  });

  test.each([
    ['a long text', 'a'.repeat(limits.patternStepsMax + 1)],
    ['many repetitions', 'a{1000}'.repeat(17)],
    ['classes of properties', `${'\\pL'.repeat(limits.patternStepsMax)}.`],
  ])('%s is refused before it is compiled', (_name, source) => {
    const error = 'error parsing regexp: expression too large';
    expect(compilePattern(source)).toEqual({ error });
  });

  test.each([
    ['((a{0,100}){0,100}){0,100}', '{0,100}'],
    ['(a{10}b{500}){3}', '{3}'],
    ['a{1001}', '{1001}'],
    ['((a{2})*x){501,}', '{501,}'],
  ])('%s repeats too often', (source, repetition) => {
    const error = `error parsing regexp: invalid repeat count: \`${repetition}\``;
    expect(compilePattern(source)).toEqual({ error });
  });

  test('repetitions beside one another do not multiply', () => {
    expect(compilePattern('(a{100}b{100}){9}c{100}')).not.toHaveProperty('error');
  });

  test('what is long and small compiles', () => {
    expect(compilePattern(`^(${'[a-z0-9]{1,63}\\.'.repeat(100)})?$`)).not.toHaveProperty('error');
  });
});
