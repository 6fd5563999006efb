import { describe, expect, test } from '@jest/globals';
import { compacted, endOfValue, indented, visitElements, visitMembers } from './json-spans.ts';

const seed = Number(process.env['JSON_SEED'] ?? Date.now() % 100_000);
let state = seed;
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

// None ends in an escape: V8 13.6 takes such keys for others (`{"x":0,"a\\\\":1}`, then `"a\\n"`).
const words = ['', 'a', '10', '"x', '\\x', '{', ']', ':', ',', '😀', 'ä b', '\nx', '__proto__'];
const word = (): string => words[random(words.length)] ?? '';
function value(depth: number): unknown {
  switch (random(depth > 4 ? 4 : 6)) {
    case 0:
      return null;
    case 1:
      return random(2) === 0;
    case 2:
      return random(1000) / 8 - 50;
    case 3:
      return word();
    case 4:
      return Array.from({ length: random(4) }, () => value(depth + 1));
    default: {
      const entries = Array.from({ length: random(4) }, () => [word(), value(depth + 1)] as const);
      return Object.fromEntries(entries);
    }
  }
}

test(`line breaks come and go (JSON_SEED=${String(seed)})`, () => {
  for (let turn = 0; turn < 2_000; turn += 1) {
    const one = value(0);
    const [compact, pretty] = [JSON.stringify(one), JSON.stringify(one, undefined, 2)];
    expect(indented(compact)).toBe(pretty);
    expect(indented(compact, '  ')).toBe(pretty.replaceAll('\n', '\n  '));
    expect(compacted(pretty)).toBe(compact);
  }
});

test(`parts are found (JSON_SEED=${String(seed)})`, () => {
  for (let turn = 0; turn < 2_000; turn += 1) {
    const one = value(0);
    const text = random(2) === 0 ? JSON.stringify(one) : JSON.stringify(one, undefined, 1);
    const around = ` ${text}\t,`;
    expect(around.slice(1, endOfValue(around, 1))).toBe(text);
    const found: unknown[] = [];
    const take = (from: number): number => {
      const to = endOfValue(text, from);
      found.push(JSON.parse(text.slice(from, to)));
      return to;
    };
    if (Array.isArray(one)) {
      expect(visitElements(text, 0, take)).toBe(text.length);
      expect(found).toEqual(one);
    } else if (text.startsWith('{')) {
      const keys: string[] = [];
      const visit = (key: string, from: number): number => {
        keys.push(key);
        return take(from);
      };
      expect(visitMembers(text, 0, visit)).toBe(text.length);
      expect(keys).toEqual(Object.keys(one as object));
      expect(found).toEqual(Object.values(one as object));
    }
  }
});

describe('text for answers', () => {
  test.each([
    ['{"a":"<&>","<":1}', '{"a":"\\u003c\\u0026\\u003e","\\u003c":1}'],
    ['{"a":"\u2028\u2029"}', '{"a":"\\u2028\\u2029"}'],
    ['{"a":"\\u003c \\/ \\u00e9 é"}', '{"a":"\\u003c \\/ \\u00e9 é"}'],
    [' { "a" :\n1.0 ,\t"a" : [ 1e400 , -0 ] } ', '{"a":1.0,"a":[1e400,-0]}'],
    ['"  "', '"  "'],
    ['{"a\\"  ":" b "}', '{"a\\"  ":" b "}'],
  ])('of %j', (text, sent) => {
    expect(compacted(text)).toBe(sent);
    expect(compacted(sent)).toBe(sent);
  });
});

test.each([
  '',
  '{',
  '{"',
  '{"a"',
  '{"a":',
  '{"a":,',
  '{,',
  '[',
  '[,',
  '[}',
  '[[',
  '"',
  '{"a":1',
  ']',
])('text that is cut or no JSON ends every function: %j', (text) => {
  const pass = (from: number): number => endOfValue(text, from);
  expect(endOfValue(text, 0)).toBeLessThanOrEqual(text.length);
  expect(visitMembers(text, 0, (_key, from) => pass(from))).toBeGreaterThan(0);
  expect(visitElements(text, 0, pass)).toBeGreaterThan(0);
});
