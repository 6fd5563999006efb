// Random bytes, and random frames with random faults: cut in pieces anywhere they mean the same,
// and nothing but an error of the protocol is thrown.
import { expect, test } from '@jest/globals';
import { FrameReader } from './frame-reader.ts';
import type { FrameSink } from './frame-reader.ts';
import { frameFlag, Http2Error, newFrame, settingsFrame } from './frames.ts';
import { encodeField, FieldDecoder } from './hpack.ts';
import { randomOf } from './testing/random.ts';
import type { Below } from './testing/random.ts';
import { dataFrame, headersFrame } from './testing/raw-connection.ts';

/** One field that is kept, and one that is not. */
const block = Buffer.concat([encodeField('content-type', 'a/b'), Buffer.of(0x88)]);
block[0] = 0x40;
const answer = Buffer.concat([
  headersFrame(1, block),
  dataFrame(1, Buffer.from('answer')),
  headersFrame(1, block, frameFlag.endStream),
]);

const seed = Number(process.env['FRAMES_SEED'] ?? Date.now() % 1_000_000);
const count = Number(process.env['FRAMES_COUNT'] ?? 2_000);

function randomFrames(below: Below): Buffer {
  const frames = [settingsFrame([])];
  for (let left = below(6); left > 0; left--) {
    const payload = below(2) === 0 ? block : Buffer.alloc(below(40));
    const random = Buffer.from(Array.from(payload, (byte) => (below(4) > 0 ? byte : below(256))));
    const head = { type: below(11), flags: below(64), streamId: below(6) };
    frames.push(below(3) === 0 ? answer : newFrame(head, random));
  }
  const bytes = Buffer.concat(frames);
  for (let faults = below(4); faults > 0; faults--) bytes[below(bytes.length)] = below(256);
  return bytes;
}

/** What the sink was told, and the error that it ended with. */
function told(bytes: Buffer, pieceOf: () => number): string[] {
  const lines: string[] = [];
  const decoder = new FieldDecoder({
    listBytesMax: 1_000,
    tableBytesMax: 200,
    make: (fields) => fields,
  });
  let content = '';
  const sink: FrameSink = {
    frame: (...frame) => lines.push(JSON.stringify(frame)),
    headers: (streamId, isLast, block, from, to) => {
      const fields = decoder.decode(block, from, to);
      lines.push(JSON.stringify([streamId, isLast, fields]));
    },
    dataBegins: (streamId, length) => lines.push(`${streamId} ${length}`),
    data: (chunk, from, to) => (content += chunk.toString('latin1', from, to)),
    dataEnds: (isLast) => {
      lines.push(`${content} ${isLast}`);
      content = '';
    },
  };
  const reader = new FrameReader(sink, 1_000);
  try {
    for (let at = 0; at < bytes.length;) {
      const piece = Buffer.from(bytes.subarray(at, at + pieceOf()));
      reader.read(piece, piece.length);
      at += piece.length;
    }
  } catch (error) {
    if (!(error instanceof Http2Error)) throw error;
    lines.push(`${error.code} ${error.message}`);
  }
  return lines;
}

test(`frames mean the same in any pieces (FRAMES_SEED=${String(seed)})`, () => {
  for (let index = 0; index < count; index++) {
    const below = randomOf(seed + index);
    const bytes = randomFrames(below);
    const whole = told(bytes, () => bytes.length);
    expect(told(bytes, () => 1)).toEqual(whole);
    expect(told(bytes, () => 1 + below(20))).toEqual(whole);
  }
});
