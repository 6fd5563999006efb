import { expect, test } from '@jest/globals';
import { limits } from '../base/limits.ts';
import type { Item } from '../cacher/resource-view.ts';
import { gather } from './gather.ts';
import { framedPieces, piecesOf, tailEntries } from './pieces.ts';

const { answerChunkBytes } = limits;

const tail = (length: number, fill: string): Buffer => Buffer.alloc(length, fill);

const inMemory = (bytes: Buffer): Item =>
  ({
    listTail: () => bytes,
    listTailBytes: bytes.length,
    copyListTail: (target: Buffer, at: number) => bytes.copy(target, at),
  }) as unknown as Item;

const frame = {
  open: Buffer.from('{"items":['),
  first: Buffer.from('{'),
  between: Buffer.from(',{'),
  close: Buffer.from(']}'),
};

const openBytes = frame.open.length + frame.first.length;

test.each<[string, readonly number[]]>([
  ['none', []],
  ['one', [100]],
  ['several', [100, 200, 0, 300]],
  ['many', Array.from({ length: 200 }, (_, at) => 1_000 + at * 17)],
  ['one that fills the chunk but for the end', [answerChunkBytes - openBytes - 2]],
  ['one that fills the chunk', [answerChunkBytes - openBytes]],
  ['one that is a byte too long for it', [answerChunkBytes - openBytes + 1]],
  ['entries as large as a chunk', [answerChunkBytes - 2, answerChunkBytes, answerChunkBytes - 1]],
  ['large ones between small ones', [10, 3 * answerChunkBytes, 10, 2 * answerChunkBytes]],
])('%s are sent alike with and without views of them', (_name, lengths) => {
  const bytes = lengths.map((length, at) => tail(length, String.fromCharCode(97 + (at % 26))));
  const entries = tailEntries(bytes.map(inMemory));
  if (entries === undefined) throw new Error('they are in memory');
  const direct = framedPieces(entries, frame);
  const whole = Buffer.concat([...direct]);
  const separators = lengths.map((_, at) => (at === 0 ? frame.first : frame.between));
  const parts = bytes.flatMap((one, at) => [separators[at] ?? Buffer.alloc(0), one]);
  expect(whole.equals(Buffer.concat([frame.open, ...parts, frame.close]))).toBe(true);
  expect(direct.totalBytes).toBe(whole.length);
  const { framed: _framed, ...plain } = direct;
  for (const pieces of [direct, plain, piecesOf(bytes, frame)]) {
    const sent = [...gather(pieces)].map((gathered) => Buffer.from(gathered.bytes));
    expect(Buffer.concat(sent).equals(whole)).toBe(true);
  }
  const written = [...gather(direct)].filter(({ chunk }) => chunk !== undefined);
  expect(written.every((one) => one.bytes.length <= answerChunkBytes)).toBe(true);
});

test('an item whose entry is yet to be made takes the list along', () => {
  const made = { listTail: () => tail(5, 'x') } as unknown as Item;
  expect(tailEntries([inMemory(tail(5, 'x')), made])).toBeUndefined();
});
