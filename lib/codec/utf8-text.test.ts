import { expect, test } from '@jest/globals';
import { utf8Text, utf8TextIn } from './utf8-text.ts';

const long = 'x'.repeat(80);

test.each<[string, Buffer]>([
  ['nothing', Buffer.alloc(0)],
  ['short ASCII', Buffer.from('web-1')],
  ['long ASCII', Buffer.from(long)],
  ['short text beyond ASCII', Buffer.from('ä😀')],
  ['long text beyond ASCII', Buffer.from(`${long}漢`)],
  ['the character that stands for wrong bytes', Buffer.from('\ufffd')],
  ['short bytes that are no text', Buffer.from([0x61, 0xff])],
  ['long bytes that are no text', Buffer.concat([Buffer.from(long), Buffer.from([0xc3])])],
])('%s is read within other bytes as alone', (_claim, bytes) => {
  const around = Buffer.concat([Buffer.from([0xff]), bytes, Buffer.from([0xa9])]);
  expect(utf8TextIn(around, 1, 1 + bytes.length)).toBe(utf8Text(bytes));
});
