import { describe, expect, test } from '@jest/globals';
import { http2Code } from './http2-frames.ts';
import { decodeFields, encodeField, FieldDecoder } from './hpack.ts';

const bytesMax = 64 * 1024;
const block = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const decoded = (hex: string): [string, string][] => [...decodeFields(block(hex), bytesMax)];
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

test('lengths that need more than one byte', () => {
  const value = 'v'.repeat(1_337);
  expect([...decodeFields(encodeField('name', value), bytesMax)]).toEqual([['name', value]]);
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

test('fields that are together too long are refused', () => {
  const fields = Buffer.concat([encodeField('a', 'x'.repeat(60)), encodeField('b', '')]);
  expect([...decodeFields(fields, 200)]).toHaveLength(2);
  expect(failure(() => decodeFields(fields, 100))).toMatchObject({
    code: http2Code.enhanceYourCalm,
  });
});

test('a block that is known is told from one that differs in its last byte', () => {
  const decoder = new FieldDecoder(bytesMax);
  for (let round = 0; round < 3; round++) {
    for (let index = 0; index < 6; index++) {
      const bytes = Buffer.concat([Buffer.of(0), encodeField('n', String(index)), Buffer.of(0)]);
      const fields = decoder.decode(bytes, 1, bytes.length - 1);
      expect([...fields]).toEqual([['n', String(index)]]);
    }
  }
});
