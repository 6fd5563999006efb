import { describe, expect, test } from '@jest/globals';
import type { OutgoingHttpHeaders } from 'node:http2';
import { FieldDecoder } from '../../http2/hpack.ts';
import { responseBlock } from './response-head.ts';

type Field = readonly [name: string, value: string];

/** Of a client that keeps no table, as it is told. */
function decoded(block: Buffer): Field[] {
  const decoder = new FieldDecoder({
    listBytesMax: 1_000_000,
    tableBytesMax: 0,
    make: (fields = []): Field[] =>
      fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? ''] as const] : [])),
  });
  return decoder.decode(block, 0, block.length);
}

const given = 'Thu, 01 Jan 1970 00:00:00 GMT';
const date: Field = ['date', given];
const own = (headers: OutgoingHttpHeaders): Field[] =>
  decoded(responseBlock(200, { ...headers, date: given })).slice(1, -1);

describe('the status', () => {
  test.each([200, 204, 206, 304, 400, 404, 500])('%d is one byte', (status) => {
    const block = responseBlock(status, { date: given });
    expect(decoded(block)).toEqual([[':status', String(status)], date]);
    expect(decoded(block.subarray(0, 1))).toEqual([[':status', String(status)]]);
  });

  test.each([201, 302, 401, 409, 410, 422, 429, 501, 503, 504, 599])('%d is spelled', (status) => {
    expect(decoded(responseBlock(status, { date: given }))).toEqual([
      [':status', String(status)],
      date,
    ]);
  });

  test('is not what a header says', () => {
    expect(decoded(responseBlock(201, { ':status': 500, date: given }))).toEqual([
      [':status', '201'],
      date,
    ]);
  });
});

describe('fields', () => {
  test.each<[string, OutgoingHttpHeaders, readonly Field[]]>([
    ['none', {}, []],
    [
      'names that are known',
      { 'content-type': 'a/b', via: 'c' },
      [
        ['content-type', 'a/b'],
        ['via', 'c'],
      ],
    ],
    [
      'names that are not',
      { 'audit-id': '1-2', x: 'y' },
      [
        ['audit-id', '1-2'],
        ['x', 'y'],
      ],
    ],
    [
      'mixed case',
      { 'Content-Type': 'A/b', 'X-A': 'B' },
      [
        ['content-type', 'A/b'],
        ['x-a', 'B'],
      ],
    ],
    [
      'an array',
      { 'set-cookie': ['a', 'b', ''] },
      [
        ['set-cookie', 'a'],
        ['set-cookie', 'b'],
        ['set-cookie', ''],
      ],
    ],
    ['an empty array', { x: [] }, []],
    [
      'numbers',
      { 'content-length': 0, x: 12.5 },
      [
        ['content-length', '0'],
        ['x', '12.5'],
      ],
    ],
    ['an empty value', { x: '' }, [['x', '']]],
    ['none of undefined', { x: undefined, y: '1' }, [['y', '1']]],
    ['bytes above 0x7f', { x: '\u0080\u00e4\u00ff' }, [['x', '\u0080\u00e4\u00ff']]],
    [
      'names of members of objects',
      { constructor: 'a', ['__proto__']: 'b' },
      [
        ['constructor', 'a'],
        ['__proto__', 'b'],
      ],
    ],
  ])('%s', (_claim, headers, expected) => {
    expect(own(headers)).toEqual(expected);
  });

  test.each([0, 1, 126, 127, 128, 254, 255, 256, 16_511, 16_512, 20_000, 300_000])(
    'a value of %d bytes',
    (length) => {
      const value = 'ä'.repeat(length);
      expect(own({ x: value, y: [value, 'end'] })).toEqual([
        ['x', value],
        ['y', value],
        ['y', 'end'],
      ]);
    },
  );

  test.each([1, 126, 127, 128, 300])('a name of %d bytes', (length) => {
    expect(own({ ['n'.repeat(length)]: 'v' })).toEqual([['n'.repeat(length), 'v']]);
  });

  test('more names than are kept', () => {
    const names = Array.from({ length: 1_200 }, (_, at) => `x-${String(at)}`);
    const headers = Object.fromEntries(names.map((name) => [name, name.toUpperCase()]));
    const expected = names.map((name) => [name, name.toUpperCase()]);
    expect(own(headers)).toEqual(expected);
    expect(own(headers)).toEqual(expected);
  });

  test.each(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])(
    '%s is left out, however it is written',
    (name) => {
      const shouted = name.toUpperCase();
      for (let count = 0; count < 2; count++) {
        expect(own({ [name]: 'a', [shouted]: ['b'], x: 'c' })).toEqual([['x', 'c']]);
      }
    },
  );
});

describe('the date', () => {
  const datesOf = (status: number, headers: OutgoingHttpHeaders): string[] =>
    decoded(responseBlock(status, headers)).flatMap(([name, value]) =>
      name === 'date' ? [value] : [],
    );

  test('is added once', () => {
    const before = Math.floor(Date.now() / 1_000) * 1_000;
    const dates = datesOf(404, { x: '1' });
    expect(dates).toEqual([new Date(dates[0] ?? '').toUTCString()]);
    expect(Date.parse(dates[0] ?? '')).toBeGreaterThanOrEqual(before);
    expect(Date.parse(dates[0] ?? '')).toBeLessThanOrEqual(Date.now());
  });

  test.each([100, 103])('is not of %d, which is no answer yet', (status) => {
    expect(decoded(responseBlock(status, {}))).toEqual([[':status', String(status)]]);
  });

  test.each(['date', 'Date', 'DATE'])('is kept where it is given as %s', (name) => {
    expect(datesOf(200, { [name]: given, x: '1' })).toEqual([given]);
  });

  test('is added where the given one is undefined', () => {
    expect(datesOf(200, { date: undefined })).toHaveLength(1);
  });
});

test('a block says nothing of the one before', () => {
  const long = decoded(responseBlock(201, { x: 'a'.repeat(10_000), date: given }));
  const short = decoded(responseBlock(200, { y: 'b', date: given }));
  expect([long.length, long[1]?.[1].length]).toEqual([3, 10_000]);
  expect(short).toEqual([[':status', '200'], ['y', 'b'], date]);
  expect(decoded(responseBlock(201, { x: 'a'.repeat(10_000), date: given }))).toEqual(long);
});
