import { describe, expect, test } from '@jest/globals';
import { cutOut, heldBytes, mega } from '../base/testing/held-bytes.ts';
import { canonicalQuantity, compareQuantities, parseQuantity } from './quantity.ts';

describe('canonical text of a quantity', () => {
  test.each([
    ['0', '0'],
    ['0m', '0'],
    ['0Ki', '0'],
    ['-0', '0'],
    ['1', '1'],
    ['+1', '1'],
    ['01', '1'],
    ['1.', '1'],
    ['.5', '500m'],
    ['0.5', '500m'],
    ['100m', '100m'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['2000000', '2M'],
    ['1000', '1k'],
    ['1001', '1001'],
    ['1024', '1024'],
    ['1Ki', '1Ki'],
    ['1024Ki', '1Mi'],
    ['1.5Gi', '1536Mi'],
    ['0.5Ki', '512'],
    ['1023Ki', '1023Ki'],
    ['512Mi', '512Mi'],
    ['1025Mi', '1025Mi'],
    ['0.3Ki', '307200m'],
    ['1.0001Ki', '1024102400u'],
    ['1e3', '1e3'],
    ['100e1', '1e3'],
    ['12E6', '12e6'],
    ['1E', '1E'],
    ['1e0', '1'],
    ['-1.5', '-1500m'],
    ['-2Ki', '-2Ki'],
    ['1n', '1n'],
    ['0.0000000001', '1n'],
    ['-0.0000000001', '-1n'],
    ['1.0000000001', '1000000001n'],
    ['9223372036854775807', '9223372036854775807'],
    ['9223372036854775808', '9223372036854775808'],
    ['1e30', '1e30'],
    ['-12e31', '-120e30'],
    ['9000E', '9000E'],
    ['8Ei', '9223372036854775807'],
    ['1e999999999', '1e999'],
    ['1e-999999999', '1e-9'],
  ])('%s is %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
  });

  test.each([
    '',
    '.',
    '-',
    'm',
    '1 Gi',
    '1gi',
    '1mi',
    '1K',
    '1e',
    '1ee3',
    'Infinity',
    '0x10',
    '1_000',
    '1,5',
  ])('%j is no quantity', (text) => {
    expect(canonicalQuantity(text)).toBeUndefined();
  });

  test('a text longer than any amount is refused without work', () => {
    expect(canonicalQuantity('9'.repeat(3_000_000))).toBeUndefined();
  });

  test('a remembered amount does not hold the body that it stood in', async () => {
    const held = await heldBytes(() => {
      for (let index = 0; index < 64; index++) canonicalQuantity(cutOut(index));
    });
    expect(held).toBeLessThan(8 * mega);
  });

  test('canonical text is a fixed point and keeps the amount', () => {
    const random = seeded(42);
    const suffixes = ['', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-2'];
    for (let round = 0; round < 2_000; round += 1) {
      const below = (bound: number): string => String(Math.floor(random() * bound));
      const suffix = suffixes[Math.floor(random() * suffixes.length)] ?? '';
      const text = `${below(5000)}.${below(100)}${suffix}`;
      const canonical = canonicalQuantity(text) ?? 'none';
      const amounts = [parseQuantity(text), parseQuantity(canonical)];
      expect([text, amounts[0]?.nano]).toEqual([text, amounts[1]?.nano]);
      expect(canonicalQuantity(canonical)).toBe(canonical);
    }
  });

  test('amounts compare across families of suffixes', () => {
    const of = (text: string): NonNullable<ReturnType<typeof parseQuantity>> => {
      const quantity = parseQuantity(text);
      if (quantity === undefined) throw new Error(text);
      return quantity;
    };
    expect(compareQuantities(of('1Ki'), of('1024'))).toBe(0);
    expect(compareQuantities(of('1k'), of('1Ki'))).toBeLessThan(0);
    expect(compareQuantities(of('1'), of('999m'))).toBeGreaterThan(0);
  });
});

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}
