import { describe, expect, test } from '@jest/globals';
import { ipText, parseCidr } from '../../api/ip-address.ts';
import { addressBands, chosenFrom, holds, portBands, random } from './bands.ts';

/** `FIRST+COUNT` of each band, in the order of choice. */
function bandsOf(cidr: string): string {
  const network = parseCidr(cidr);
  if (network === undefined) return 'no network';
  return addressBands(network)
    .map(({ first, count }) => `${ipText(first, network.family)}+${String(count)}`)
    .join(' ');
}

describe('bands', () => {
  test.each([
    ['10.0.0.0/28', '10.0.0.1+14'],
    ['10.0.0.0/27', '10.0.0.17+14 10.0.0.1+16'],
    ['10.0.0.0/24', '10.0.0.17+238 10.0.0.1+16'],
    ['10.0.0.0/22', '10.0.0.65+958 10.0.0.1+64'],
    ['10.0.0.0/12', '10.0.1.1+1048318 10.0.0.1+256'],
    ['10.0.0.0/30', '10.0.0.1+2'],
    ['10.0.0.0/32', ''],
    ['fd00::/112', 'fd00::101+65279 fd00::1+256'],
    ['fd00::/64', 'fd00::101+18446744073709551359 fd00::1+256'],
  ])('of %s are %s', (cidr, expected) => {
    expect(bandsOf(cidr)).toBe(expected);
  });

  test.each([
    [30_000, 2_768, '30086+2682 30000+86'],
    [30_000, 16, '30000+16'],
    [30_000, 17, '30016+1 30000+16'],
    [1, 65_535, '129+65407 1+128'],
  ])('of %d and %d ports are %s', (first, count, expected) => {
    const bands = portBands({ first, count });
    expect(bands.map((band) => `${String(band.first)}+${String(band.count)}`).join(' ')).toBe(
      expected,
    );
  });

  test('hold their first and last number, and no other', () => {
    const bands = portBands({ first: 30_000, count: 100 });
    const numbers = [29_999n, 30_000n, 30_015n, 30_016n, 30_099n, 30_100n];
    expect(numbers.map((number) => holds(bands, number))).toEqual([
      false,
      true,
      true,
      true,
      true,
      false,
    ]);
  });
});

describe('a choice', () => {
  test('finds every number once, those of the upper band first, then nothing', () => {
    const bands = portBands({ first: 1, count: 32 });
    const taken = new Set<bigint>();
    for (let count = 0; count < 32; count++) {
      const number = chosenFrom(bands, (one) => taken.has(one), random);
      if (number === undefined) throw new Error('there is one more');
      expect(number > 16n).toBe(count < 16);
      taken.add(number);
    }
    expect(chosenFrom(bands, (one) => taken.has(one), random)).toBeUndefined();
  });

  test('asks for one number more than are taken', () => {
    const bands = portBands({ first: 1, count: 65_535 });
    let asked = 0;
    const isTaken = (): boolean => ++asked <= 3;
    expect(chosenFrom(bands, isTaken, () => 0n)).toBe(132n);
    expect(asked).toBe(4);
  });
});
