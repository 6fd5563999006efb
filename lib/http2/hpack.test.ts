import { describe, expect, test } from '@jest/globals';
import { http2Code } from './frames.ts';
import { encodeField, FieldDecoder } from './hpack.ts';
import type { Fields } from './hpack.ts';

const block = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const inPairs = (fields: Fields): (readonly [string, string])[] | undefined =>
  fields?.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? ''] as const] : []));
const newDecoder = (tableBytesMax = 0, listBytesMax = 64 * 1024) =>
  new FieldDecoder({ listBytesMax, tableBytesMax, make: inPairs });
const decode = (bytes: Buffer, decoder = newDecoder()) => decoder.decode(bytes, 0, bytes.length);
const decoded = (hex: string) => decode(block(hex));
const failure = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error;
  }
};

/** RFC 7541, appendix C. */
describe('the examples of the specification', () => {
  const date = ['date', 'Mon, 21 Oct 2013 20:13:21 GMT'];
  const response302 = [
    [':status', '302'],
    ['cache-control', 'private'],
    date,
    ['location', 'https://www.example.com'],
  ];
  const request = [
    [':method', 'GET'],
    [':scheme', 'http'],
    [':path', '/'],
    [':authority', 'www.example.com'],
  ];
  test.each([
    [
      'C.2.1',
      '400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572',
      [['custom-key', 'custom-header']],
    ],
    ['C.2.2', '040c 2f73 616d 706c 652f 7061 7468', [[':path', '/sample/path']]],
    ['C.2.3', '1008 7061 7373 776f 7264 0673 6563 7265 74', [['password', 'secret']]],
    ['C.2.4', '82', [[':method', 'GET']]],
    ['C.3.1', '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d', request],
    ['C.4.1', '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff', request],
    [
      'C.5.1',
      '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a' +
        '3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
      response302,
    ],
    [
      'C.6.1',
      '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e' +
        '919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
      response302,
    ],
  ])('%s', (_name, hex, fields) => {
    expect(decoded(hex)).toEqual(fields);
  });

  test.each([
    ['C.3.2', '8286 84be 5808 6e6f 2d63 6163 6865'],
    ['C.4.2', '8286 84be 5886 a8eb 1064 9cbf'],
    ['C.4.3', '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf'],
    ['C.5.2', '4803 3330 37c1 c0bf'],
    ['C.6.2', '4883 640e ffc1 c0bf'],
  ])('%s, which needs a dynamic table, is refused', (_name, hex) => {
    expect(failure(() => decoded(hex))).toMatchObject({ code: http2Code.compressionError });
  });
});

/** RFC 7541, appendix C.3 to C.6: blocks of one connection, which build on those before. */
describe('the examples with a dynamic table', () => {
  const requests = [
    [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
      [':authority', 'www.example.com'],
    ],
    [
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
      [':authority', 'www.example.com'],
      ['cache-control', 'no-cache'],
    ],
    [
      [':method', 'GET'],
      [':scheme', 'https'],
      [':path', '/index.html'],
      [':authority', 'www.example.com'],
      ['custom-key', 'custom-value'],
    ],
  ];
  const answer = (status: string, time: string, ...more: [string, string][]) => [
    [':status', status],
    ['cache-control', 'private'],
    ['date', `Mon, 21 Oct 2013 20:13:${time} GMT`],
    ['location', 'https://www.example.com'],
    ...more,
  ];
  const cookie = 'foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1';
  const answers = [
    answer('302', '21'),
    answer('307', '21'),
    answer('200', '22', ['content-encoding', 'gzip'], ['set-cookie', cookie]),
  ];
  test.each([
    [
      'C.3',
      4_096,
      [
        '8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        '8286 84be 5808 6e6f 2d63 6163 6865',
        '8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65',
      ],
      requests,
    ],
    [
      'C.4',
      4_096,
      [
        '8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff',
        '8286 84be 5886 a8eb 1064 9cbf',
        '8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf',
      ],
      requests,
    ],
    [
      'C.5, where fields are evicted',
      256,
      [
        '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032' +
          '303a 3133 3a32 3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63' +
          '6f6d',
        '4803 3330 37c1 c0bf',
        '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0' +
          '5a04 677a 6970 7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851' +
          '5745 4f49 553b 206d 6178 2d61 6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
      ],
      answers,
    ],
    [
      'C.6, where fields are evicted',
      256,
      [
        '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b' +
          'ff6e 919d 29ad 1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
        '4883 640e ffc1 c0bf',
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad' +
          '94e7 821d d7f2 e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160' +
          '65c0 03ed 4ee5 b106 3d50 07',
      ],
      answers,
    ],
  ])('%s', (_name, tableBytesMax, blocks, fields) => {
    const decoder = newDecoder(tableBytesMax);
    expect(blocks.map((hex) => decode(block(hex), decoder))).toEqual(fields);
  });

  test('a smaller table than is allowed evicts, and may grow again', () => {
    const decoder = newDecoder(4_096);
    const named = (...hex: string[]) => decode(block(hex.join('')), decoder);
    expect(named('4001 6101 62')).toEqual([['a', 'b']]);
    expect(named('be')).toEqual([['a', 'b']]);
    expect(named('20', '3fe1 1f', '82')).toEqual([[':method', 'GET']]);
    expect(failure(() => named('be'))).toMatchObject({ code: http2Code.compressionError });
    expect(failure(() => named('3fe2 1f'))).toMatchObject({ code: http2Code.compressionError });
  });

  test('a block that is known means something else once the table has changed', () => {
    const decoder = newDecoder(4_096);
    const named = (hex: string) => decode(block(hex), decoder);
    named('4001 6101 31');
    for (let round = 0; round < 3; round++) expect(named('be')).toEqual([['a', '1']]);
    named('4001 6101 32');
    for (let round = 0; round < 3; round++) expect(named('be')).toEqual([['a', '2']]);
  });

  test('many fields come and go', () => {
    const decoder = newDecoder(4_096);
    for (let count = 0; count < 1_000; count++) {
      const field = encodeField(`name-${String(count)}`, 'v'.repeat(count % 200));
      field[0] = 0x40;
      decode(field, decoder);
      expect(decode(Buffer.of(0xbe), decoder)?.[0]?.[0]).toBe(`name-${String(count)}`);
      if (count > 0)
        expect(decode(Buffer.of(0xbf), decoder)?.[0]?.[0]).toBe(`name-${String(count - 1)}`);
    }
  });

  test('a field that is too long for it empties it', () => {
    const decoder = newDecoder(64);
    decode(block('4001 6101 62'), decoder);
    const long = encodeField('name', 'v'.repeat(100));
    long[0] = 0x40;
    decode(long, decoder);
    expect(failure(() => decode(Buffer.of(0xbe), decoder))).toMatchObject({
      code: http2Code.compressionError,
    });
  });

  test('fields of a block that is too long are kept all the same', () => {
    const decoder = newDecoder(4_096, 100);
    const long = [encodeField('a', 'v'.repeat(100)), encodeField('b', 'c')].map((field) => {
      field[0] = 0x40;
      return field;
    });
    expect(decode(Buffer.concat(long), decoder)).toBeUndefined();
    expect(decode(Buffer.of(0xbe), decoder)).toEqual([['b', 'c']]);
  });
});

test('lengths that need more than one byte', () => {
  const value = 'v'.repeat(1_337);
  expect(decode(encodeField('name', value))).toEqual([['name', value]]);
});

test('the size of the table may be said to be 0, before the first field', () => {
  expect(decoded('20 20 88')).toEqual([[':status', '200']]);
});

test.each([
  ['a table size above 0', '3f e1 1f 88'],
  ['a table size after a field', '88 20'],
  ['the index 0', '80'],
  ['an index above the static table', 'be'],
  ['a name above the static table', '0f 2f 00'],
  ['a block that ends within a field', '40'],
  ['a block that ends within an integer', 'ff 80'],
  ['a string that goes on after its block', '00 05 61'],
  ['an integer of many bytes', '7f 80 80 80 80 80 80 80 01'],
  ['an integer above all bounds', '7f ff ff ff ff 7f'],
  ['a Huffman string with the end symbol', '00 84 ff ff ff ff 00'],
  ['a Huffman string that ends with a 0', '00 81 18 00'],
  ['a Huffman string with eight bits of padding', '00 82 1f ff 00'],
])('%s is refused', (_claim, hex) => {
  expect(failure(() => decoded(hex))).toMatchObject({ code: http2Code.compressionError });
});

test('fields that are together too long are not given', () => {
  const fields = Buffer.concat([encodeField('a', 'x'.repeat(60)), encodeField('b', '')]);
  expect(decode(fields, newDecoder(0, 200))).toHaveLength(2);
  expect(decode(fields, newDecoder(0, 100))).toBeUndefined();
});

test('a block that is known is told from one that differs in its last byte', () => {
  const decoder = newDecoder();
  for (let round = 0; round < 3; round++) {
    for (let index = 0; index < 6; index++) {
      const bytes = Buffer.concat([Buffer.of(0), encodeField('n', String(index)), Buffer.of(0)]);
      const fields = decoder.decode(bytes, 1, bytes.length - 1);
      expect(fields).toEqual([['n', String(index)]]);
    }
  }
});
