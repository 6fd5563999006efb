import { describe, expect, test } from '@jest/globals';
import { isRecord } from './json-value.ts';
import { opened, parsed, RawJson, rawJsonOf, sortedText } from './raw-json.ts';
import type { JsonObject, JsonValue } from './type-info.ts';

function raw(text: string): JsonValue & RawJson {
  const made = RawJson.of(text);
  if (!(made instanceof RawJson)) throw new Error(`${text} is null`);
  return made;
}
const textOf = (value: JsonValue | undefined): string =>
  value instanceof RawJson ? value.text : JSON.stringify(value);

describe('raw JSON', () => {
  test('opens level by level, each part in its own text', () => {
    const level = opened(raw(' {"b": {"x" : 1.0},"a":null,"\\u0061":[ 1e400 ],"s":"\\/"} '));
    expect(isRecord(level)).toBe(true);
    const members = level as JsonObject;
    expect(Object.keys(members)).toEqual(['b', 'a', 's']);
    expect(['b', 'a', 's'].map((key) => textOf(members[key]))).toEqual([
      '{"x" : 1.0}',
      '[ 1e400 ]',
      '"\\/"',
    ]);
    expect((opened(members['a'] ?? null) as JsonValue[]).map(textOf)).toEqual(['1e400']);
    expect(members['s'] instanceof RawJson && opened(members['s'])).toBe(members['s']);
  });

  test('null is null', () => {
    expect(RawJson.of(' null ')).toBeNull();
    expect((opened(raw('{"a":null}')) as JsonObject)['a']).toBeNull();
  });

  test.each<[string, JsonValue]>([
    ['{"a":[1.0,"x"]}', { a: [1, 'x'] }],
    ['12345678901234567890', 12345678901234567890n],
    ['{"a" : -9007199254740993 }', { a: -9007199254740993n }],
    ['"\\ud800"', '\ufffd'],
    ['false', false],
  ])('%s has a value', (text, value) => {
    expect(raw(text).value).toEqual(value);
    expect(parsed(RawJson.of(text))).toEqual(value);
  });

  test.each([
    ['1', 0],
    ['{"a":[{}]}', 3],
    ['"[[[["', 0],
  ])('%s has a depth', (text, depth) => {
    expect(raw(text).depth).toBe(depth);
  });

  test('any key is data', () => {
    const members = opened(raw('{"__proto__":{"polluted":true}}')) as JsonObject;
    expect(Object.keys(members)).toEqual(['__proto__']);
    expect(members['polluted']).toBeUndefined();
    expect(JSON.stringify(raw('{"__proto__":1}').value)).toBe('{"__proto__":1}');
  });

  test('is equal when its text is, and printable by those who do not know it', () => {
    expect(raw('{"a":1}')).toEqual(raw('{"a":1}'));
    expect(raw('{"a":1}')).not.toEqual(raw('{"a":1.0}'));
    expect(JSON.stringify({ in: raw('{"a": 1.0}') })).toBe('{"in":{"a":1}}');
  });
});

describe('JSON without a text of its own', () => {
  test.each<[JsonValue, string]>([
    [{ b: 1, a: { d: [true, null], c: 'x' } }, '{"a":{"c":"x","d":[true,null]},"b":1}'],
    [{ b: 1, 10: 2, 9: 3, '～': 4, '😀': 5 }, '{"10":2,"9":3,"b":1,"～":4,"😀":5}'],
    [{ '<': '&>\u2028' }, '{"\\u003c":"\\u0026\\u003e\\u2028"}'],
    [
      { a: 12345678901234567890n, b: 1e21, c: 1e-7 },
      '{"a":12345678901234567890,"b":1e+21,"c":1e-7}',
    ],
  ])('is spelt as Go spells maps: %j', (value, text) => {
    expect(sortedText(value)).toBe(text);
    expect(textOf(rawJsonOf(value))).toBe(text);
  });

  test('keeps the text of what is raw in it', () => {
    const kept = RawJson.of('{ "z":1.0, "a":"<" }');
    expect(sortedText({ b: kept, a: [kept] })).toBe(
      '{"a":[{ "z":1.0, "a":"<" }],"b":{ "z":1.0, "a":"<" }}',
    );
    expect(rawJsonOf(kept)).toBe(kept);
  });
});
