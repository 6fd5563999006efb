import { describe, expect, test } from '@jest/globals';
import { parseFieldSelector, parseLabelSelector } from './selector.ts';

const objects: Readonly<Record<string, Record<string, string>>> = {
  a: { env: 'prod', tier: 'web' },
  b: { env: 'dev' },
  c: { tier: 'db', n: '5' },
  d: {},
};
const selected = (text: string): string => {
  const matches = parseLabelSelector(text) ?? (() => true);
  return Object.entries(objects)
    .filter(([, labels]) => matches(labels))
    .map(([name]) => name)
    .join('');
};

describe('a label selector selects', () => {
  test.each([
    ['env=prod', 'a'],
    ['env==prod', 'a'],
    ['env!=prod', 'bcd'],
    ['env', 'ab'],
    ['!env', 'cd'],
    ['env in (prod,dev)', 'ab'],
    ['env notin (prod)', 'bcd'],
    ['env in (prod),tier', 'a'],
    ['env=prod,tier=db', ''],
    ['n>4', 'c'],
    ['n<5', ''],
    ['tier in (web, db)', 'ac'],
    ['env in ()', ''],
    ['env=', ''],
    [' env = prod ', 'a'],
    ['', 'abcd'],
    ['env in (,dev)', 'b'],
    ['env in (dev,)', 'b'],
    ['!env,tier', 'c'],
    ['env=,tier=', ''],
    ['constructor', ''],
    ['!constructor', 'abcd'],
    ['env>1', ''],
    ['in', ''],
    ['notin=x', ''],
  ])('%s', (text, names) => {
    expect(selected(text)).toBe(names);
  });
});

describe('a label selector that cannot be read is refused with', () => {
  test.each([
    ['env=prod=x', "found '=', expected: ',' or 'end of string'"],
    ['=x', "found '=', expected: !, identifier, or 'end of string'"],
    ['env in prod', "unable to parse requirement: found 'prod' expected: '('"],
    ['env in (prod', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['!env=x', "found '=', expected: ',' or 'end of string'"],
    [',', "found ',', expected: !, identifier, or 'end of string'"],
    ['a,,b', "found ',', expected: identifier after ','"],
    ['a,', "found '', expected: identifier after ','"],
    [
      'env>abc',
      'unable to parse requirement: values[0]: Invalid value: "abc": ' +
        "for 'Gt', 'Lt' operators, the value must be an integer",
    ],
    [
      'bad key=x',
      "unable to parse requirement: found 'key', expected: in, notin, =, ==, !=, gt, lt",
    ],
    ['env=bad!value', "found '!', expected: ',' or 'end of string'"],
    ['(x)', "found '(', expected: !, identifier, or 'end of string'"],
    ['==', "found '==', expected: !, identifier, or 'end of string'"],
    ['env in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
  ])('%s', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(expect.objectContaining({ code: 400, message }));
  });
  test('values and keys that no label can have', () => {
    expect(() => parseLabelSelector(`a in (${'x'.repeat(64)})`)).toThrow(
      /values\[0\]\[a\]: Invalid value/,
    );
    expect(() => parseLabelSelector('a/b/c')).toThrow(/Invalid value: "a\/b\/c"/);
  });
});

const meta = ['metadata.name', 'metadata.namespace'];
const podFields = [...meta, 'spec.nodeName'];

describe('a field selector', () => {
  test.each([
    ['', []],
    ['metadata.name=b', [['metadata.name', '=', 'b']]],
    ['metadata.name==b', [['metadata.name', '=', 'b']]],
    ['metadata.name!=b', [['metadata.name', '!=', 'b']]],
    [
      'metadata.name=b,metadata.namespace=',
      [
        ['metadata.name', '=', 'b'],
        ['metadata.namespace', '=', ''],
      ],
    ],
    [String.raw`metadata.name=a\,b\=c\\d`, [['metadata.name', '=', String.raw`a,b=c\d`]]],
    ['metadata.name=a,', [['metadata.name', '=', 'a']]],
  ])('%s', (text, terms) => {
    const parsed = parseFieldSelector(text, { fieldSelectors: meta });
    expect(parsed.map(({ path, operator, value }) => [path, operator, value])).toEqual(terms);
  });
  test.each([
    ['metadata.name', meta, "invalid selector: 'metadata.name'; can't understand 'metadata.name'"],
    [
      'metadata.name in (a)',
      meta,
      "invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'",
    ],
    [
      'metadata.uid=x',
      meta,
      '"metadata.uid" is not a known field selector: only "metadata.name", "metadata.namespace"',
    ],
    ['spec.x=b', podFields, 'field label not supported: spec.x'],
    ['metadata.name=a=b', meta, 'invalid field selector: unescaped character in value: ='],
    [
      String.raw`metadata.name=a\x`,
      meta,
      String.raw`invalid field selector: invalid escape sequence: \x`,
    ],
  ])('%s is refused', (text, selectable, message) => {
    expect(() => parseFieldSelector(text, { fieldSelectors: selectable })).toThrow(
      expect.objectContaining({ code: 400, message }),
    );
  });
});
