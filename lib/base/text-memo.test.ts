import { describe, expect, test } from '@jest/globals';
import { cutOut, heldBytes, mega } from './testing/held-bytes.ts';
import { TextMemo, ownText } from './text-memo.ts';

describe('a memo of texts', () => {
  const bounds = { countMax: 3, lengthMax: 5 };

  test('makes the value of a text once', () => {
    const memo = new TextMemo<string>(bounds);
    let made = 0;
    const make = (text: string): string => `${text}${String(++made)}`;
    expect([memo.of('a', make), memo.of('a', make), memo.of('b', make)]).toEqual([
      'a1',
      'a1',
      'b2',
    ]);
  });

  test('is emptied when it would hold too many', () => {
    const memo = new TextMemo<number>(bounds);
    for (const text of ['a', 'b', 'c']) memo.of(text, () => 1);
    expect(memo.size).toBe(3);
    memo.of('d', () => 1);
    expect(memo.size).toBe(1);
  });

  test('keeps neither long texts nor undefined', () => {
    const memo = new TextMemo<number>(bounds);
    expect(memo.of('123456', () => 1)).toBe(1);
    expect(memo.of('a', () => undefined)).toBeUndefined();
    expect(memo.size).toBe(0);
  });

  test('does not hold what its texts were cut out of', async () => {
    const memo = new TextMemo<string>({ countMax: 64, lengthMax: 64 });
    const held = await heldBytes(() => {
      for (let index = 0; index < 64; index++) memo.of(cutOut(index), (text) => text);
    });
    expect(memo.size).toBe(64);
    expect(held).toBeLessThan(8 * mega);
  });
});

test.each(['', 'a', 'plain ASCII text', 'Grüße \u{1f600}', '\ud800 alone', '"\\\u0000\u2028'])(
  'an own text is the same text: %j',
  (text) => {
    expect(ownText(text)).toBe(text);
  },
);
