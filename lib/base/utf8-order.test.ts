import { describe, expect, test } from '@jest/globals';
import { sortUtf8, utf8SortKey } from './utf8-order.ts';

const seed = Number(process.env['ORDER_SEED'] ?? Date.now() % 100_000);
let state = seed;
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

/** Characters around every border of the two orders. */
const characters = [
  'a',
  '/',
  'é',
  '\ud7ff',
  '\ue000',
  '~',
  '\uffff',
  '😀',
  '\u{10000}',
  '\u{10ffff}',
];
const word = (): string =>
  Array.from({ length: random(5) }, () => characters[random(characters.length)]).join('');
const byBytes = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other));

describe('the order of UTF-8', () => {
  test(`is that of sort keys (ORDER_SEED=${String(seed)})`, () => {
    for (let turn = 0; turn < 20_000; turn += 1) {
      const [one, other] = [word(), word()];
      const [left, right] = [utf8SortKey(one), utf8SortKey(other)];
      const found = left < right ? -1 : left > right ? 1 : 0;
      expect([one, other, found]).toEqual([one, other, byBytes(one, other)]);
    }
  });

  test(`sorts lists (ORDER_SEED=${String(seed)})`, () => {
    for (let turn = 0; turn < 500; turn += 1) {
      const words = Array.from({ length: random(12) }, word);
      expect(sortUtf8([...words])).toEqual([...words].sort(byBytes));
    }
  });

  test('leaves texts alone that both orders agree on', () => {
    const text = 'namespace/näme';
    expect(utf8SortKey(text)).toBe(text);
  });
});
