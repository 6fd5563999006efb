// What an environment accepts: versions, and the errors that people read.
import { describe, expect, test } from '@jest/globals';
import { intType, parseTypeText, typeText } from './model/cel-type.ts';
import { CompileErrors, Environment, ProgramFailure } from './environment.ts';
import { compileErrors, naming, programOf, sampleEnvironment } from './testing/evaluate.ts';

describe('versions', () => {
  test.each<[string, number]>([
    ['names.filter(n, n != "").sort().size() > 0', 34],
    ['names.exists(i, n, i > 0 && n != "")', 32],
    ['semver("1.2.3").major() == 1', 33],
    ['isIP(name)', 30],
    ['sets.contains(names, names)', 29],
    ['object.?a.hasValue()', 28],
    ['quantity(name).isInteger()', 28],
    ['count < 1.5', 28],
    ['authorizer.path("/").check("get").allowed()', 27],
  ])('%s is new in 1.%i', (text, since) => {
    const inVersion = (version: number | 'stored'): readonly string[] =>
      compileErrors(text, sampleEnvironment({ version }));
    expect(inVersion(since)).toEqual([]);
    expect(inVersion('stored')).toEqual([]);
    expect(inVersion(since - 1)).not.toEqual([]);
  });

  test('selectors of the authorizer can be left out', () => {
    const text =
      'authorizer.group("").resource("pods").labelSelector("a=b").check("list").allowed()';
    expect(compileErrors(text)).toEqual([]);
    expect(compileErrors(text, sampleEnvironment({ authorizerSelectors: false }))).toEqual([
      "1:52: undeclared reference to 'labelSelector' (in container '')",
    ]);
  });
});

describe('errors', () => {
  test('a reserved word as a variable of a loop is wrong at each place', () => {
    expect(compileErrors('names.all(for, for != "")')).toEqual([
      '1:11: reserved identifier: for',
      '1:11: argument must be a simple name',
      '1:16: reserved identifier: for',
    ]);
  });

  test('name the line and mark the place', () => {
    const compiled = sampleEnvironment().compile('count > 1 &&\n  nam == "ä"');
    expect(compiled).toBeInstanceOf(CompileErrors);
    expect((compiled as CompileErrors).toText()).toBe(
      [
        "ERROR: <input>:2:3: undeclared reference to 'nam' (in container '')",
        ' |   nam == "ä"',
        ' | ..^',
      ].join('\n'),
    );
  });

  test('are all reported, not only the first', () => {
    expect(compileErrors('nam + count.size() + "a" * 2')).toEqual([
      "1:1: undeclared reference to 'nam' (in container '')",
      "1:17: found no matching overload for 'size' applied to 'int.()'",
      "1:26: found no matching overload for '_*_' applied to '(string, int)'",
    ]);
  });

  test('of syntax say what was expected', () => {
    const [error] = compileErrors('count +');
    expect(error).toMatch(/^1:8: Syntax error: expected an expression/);
  });

  test('of constants refuse the program', () => {
    const compiled = sampleEnvironment().compile('int("a") == count');
    expect(compiled).toBeInstanceOf(ProgramFailure);
    expect((compiled as ProgramFailure).message).toBe(
      "type conversion error from 'string' to 'int'",
    );
  });

  test('of literals are found when compiling', () => {
    expect(compileErrors('duration("1x")')).toEqual(['1:10: invalid duration argument']);
    expect(compileErrors('name.matches("[")')[0]).toMatch(/^1:14: invalid matches argument/);
    expect(compileErrors('[1, "a"]')).toEqual(["1:5: expected type 'int' but found 'string'"]);
  });
});

describe('types', () => {
  test.each([
    ['names.map(n, {n: [n.size()]})', 'list(map(string, list(int)))'],
    ['object.a', 'dyn'],
    ['object.?a', 'optional_type(dyn)'],
    ['{1: names}[1]', 'list(string)'],
    ['timestamp(name) - timestamp(name)', 'google.protobuf.Duration'],
  ])('%s', (text, type) => {
    expect(typeText(programOf(text).resultType)).toBe(type);
  });

  test('declared ones are read from texts', () => {
    const type = parseTypeText('map(string, list(int))');
    const environment = new Environment({ naming, variables: [{ name: 'm', type }] });
    expect(programOf('m["a"][0]', environment).resultType).toEqual(intType);
  });
});

test('extended environments know both sets of variables', () => {
  const extended = sampleEnvironment().extend([{ name: 'more', type: intType }]);
  expect(compileErrors('more + count == 2', extended)).toEqual([]);
  expect(programOf('more + count', extended).uses('more')).toBe(true);
  expect(programOf('count', extended).uses('more')).toBe(false);
});
