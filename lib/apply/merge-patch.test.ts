import { describe, expect, test } from '@jest/globals';
import { sortedText } from '../api/raw-json.ts';
import type { JsonObject, JsonValue } from '../api/type-info.ts';
import { StatusError } from '../base/status.ts';
import { parseData, rawData } from '../codec/json.ts';
import { applyMergePatch, parseMergePatch } from './merge-patch.ts';

// RFC 7386, appendix A, and what it leaves out.
test.each<[string, string, string]>([
  ['{"a":"b"}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"b"}', '{"b":"c"}', '{"a":"b","b":"c"}'],
  ['{"a":"b"}', '{"a":null}', '{}'],
  ['{"a":"b","b":"c"}', '{"a":null}', '{"b":"c"}'],
  ['{"a":["b"]}', '{"a":"c"}', '{"a":"c"}'],
  ['{"a":"c"}', '{"a":["b"]}', '{"a":["b"]}'],
  ['{"a":{"b":"c"}}', '{"a":{"b":"d","c":null}}', '{"a":{"b":"d"}}'],
  ['{"a":[{"b":"c"}]}', '{"a":[1]}', '{"a":[1]}'],
  ['["a","b"]', '["c","d"]', '["c","d"]'],
  ['{"a":"b"}', '["c"]', '["c"]'],
  ['{"a":"foo"}', 'null', 'null'],
  ['{"a":"foo"}', '"bar"', '"bar"'],
  ['{"e":null}', '{"a":1}', '{"e":null,"a":1}'],
  ['[1,2]', '{"a":"b","c":null}', '{"a":"b"}'],
  ['{}', '{"a":{"bb":{"ccc":null}}}', '{"a":{"bb":{}}}'],
  ['{"a":1}', '{"a":[null,{"b":null}]}', '{"a":[null,{"b":null}]}'],
  ['{"a":{"b":1}}', '{}', '{"a":{"b":1}}'],
  ['{"__proto__":{"a":1}}', '{"__proto__":{"b":2}}', '{"__proto__":{"a":1,"b":2}}'],
  ['{"__proto__":1,"constructor":2}', '{"__proto__":null,"constructor":null}', '{}'],
  [
    '{}',
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  ],
])('%s merged with %s is %s', (document, patch, expected) => {
  const result = applyMergePatch(JSON.parse(document) as JsonValue, JSON.parse(patch) as JsonValue);
  expect(JSON.stringify(result)).toBe(expected);
  expect(({} as JsonObject)['polluted']).toBeUndefined();
});

describe('a patch body', () => {
  test.each(['', '{', '[]', '"x"', '5', 'null'])('%j is a 400', (body) => {
    try {
      parseMergePatch(Buffer.from(body));
      throw new Error('was read');
    } catch (error) {
      expect(error).toBeInstanceOf(StatusError);
      expect(error).toMatchObject({ code: 400, reason: 'BadRequest' });
    }
  });
  test('is applied any number of times: the result shares nothing with it', () => {
    const patch = parseMergePatch(Buffer.from('{"a":{"l":[{"x":1}]}}'));
    const result = applyMergePatch({}, patch) as { a: { l: { x: number }[] } };
    const [entry] = result.a.l;
    if (entry !== undefined) entry.x = 2;
    expect(JSON.stringify(applyMergePatch({}, patch))).toBe('{"a":{"l":[{"x":1}]}}');
  });
  test('integers beyond 2^53 stay exact', () => {
    expect(parseMergePatch(Buffer.from('{"a":9007199254740993}'))).toEqual({
      a: 9007199254740993n,
    });
  });
});

test.each([
  ['{}', '{"a":{"y":1.0, "x":1e400},"b":[ 1.0 ],"c":null}'],
  ['{"a":{"x":null,"z":0.10}}', '{"a":{"y":1.0,"z":0.10},"b":[ 1.0 ],"c":null}'],
  [
    '{"b":[ 2.0],"c":{"d":{"e":null,"f":1.00}}}',
    '{"a":{"y":1.0, "x":1e400},"b":[ 2.0],"c":{"d":{"f":1.00}}}',
  ],
])('raw JSON keeps its text beside what %s changes', (patch, expected) => {
  const document = rawData(Buffer.from('{"b":[ 1.0 ],"a":{"y":1.0, "x":1e400},"c":null}'));
  const parsed = parseMergePatch(Buffer.from(patch), rawData);
  for (let turn = 0; turn < 2; turn += 1) {
    expect(sortedText(applyMergePatch(document, parsed))).toBe(expected);
  }
});

test('a patch applied twice is applied once, hostile keys included (seeded)', () => {
  let state = 3;
  const pick = (below: number): number => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return Math.floor((state / 4294967296) * below);
  };
  const names = ['__proto__', 'constructor', 'a', 'b', '1'];
  const random = (depth: number, nulls: boolean): JsonValue => {
    if (depth === 0 || pick(4) === 0) return nulls && pick(3) === 0 ? null : pick(9);
    const object = Object.create(null) as JsonObject;
    for (let count = pick(4); count > 0; count -= 1)
      object[names[pick(5)] ?? ''] = random(depth - 1, nulls);
    return object;
  };
  for (let round = 0; round < 500; round += 1) {
    const [document, patch] = [random(3, false), random(3, true)];
    const once = applyMergePatch(document, patch);
    const raw = (value: JsonValue): JsonValue => rawData(Buffer.from(JSON.stringify(value)));
    const text = sortedText(applyMergePatch(raw(document), raw(patch)));
    expect([round, sortedText(parseData(Buffer.from(text)))]).toEqual([round, sortedText(once)]);
    expect([round, JSON.stringify(applyMergePatch(once, patch))]).toEqual([
      round,
      JSON.stringify(once),
    ]);
    expect(Object.keys(Object.prototype)).toEqual([]);
  }
});
