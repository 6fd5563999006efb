import { expect, test } from '@jest/globals';
import { listClose, listOpen, listSeparator, watchEvent } from './frame.ts';

const text = (...chunks: Uint8Array[]): string => Buffer.concat(chunks).toString();
const entry = Buffer.from('{"metadata":{"name":"a"}}');

test.each([
  [{ resourceVersion: '5' }, '{"resourceVersion":"5"}'],
  [
    { resourceVersion: '5', continue: 't"', remainingItemCount: 0 },
    '{"resourceVersion":"5","continue":"t\\"","remainingItemCount":0}',
  ],
  [{ resourceVersion: '', continue: '', remainingItemCount: undefined }, '{}'],
])('a list is its envelope around its entries: %j', (metadata, shown) => {
  expect(text(listOpen('PodList', 'v1', metadata), entry, listSeparator, entry, listClose)).toBe(
    `{"kind":"PodList","apiVersion":"v1","metadata":${shown},"items":[${text(entry)},` +
      `${text(entry)}]}\n`,
  );
  expect(JSON.parse(text(listOpen('PodList', 'v1', metadata), listClose))).toMatchObject({
    items: [],
  });
});

test.each(['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] as const)(
  'an event of type %s is one line',
  (type) => {
    const line = `{"type":"${type}","object":{"metadata":{"name":"a"}}}\n`;
    expect(text(watchEvent(type, entry))).toBe(line);
  },
);
