import { describe, expect, test } from '@jest/globals';
import { FrameReader } from './frame-reader.ts';
import type { FrameSink } from './frame-reader.ts';
import { frameFlag, frameType, http2Code, newFrame } from './frames.ts';
import { settingsFrame } from './frames.ts';
import { dataFrame, headersFrame } from './testing/raw-connection.ts';

const { endHeaders, endStream, padded, priority } = frameFlag;
const { continuation, headers } = frameType;

/** What the sink was told, pieces of contents joined. */
function told(bytes: Buffer, pieceBytes: number): string[] {
  const lines: string[] = [];
  let content = '';
  const sink: FrameSink = {
    frame: (type, flags, streamId, payload) =>
      lines.push(`frame ${type} ${flags} ${streamId} ${payload.toString()}`),
    headers: (streamId, isLast, block, from, to) =>
      lines.push(`headers ${streamId} ${isLast} ${block.toString('latin1', from, to)}`),
    dataBegins: (streamId, length) => lines.push(`data ${streamId} ${length}`),
    data: (chunk, from, to) => (content += chunk.toString('latin1', from, to)),
    dataEnds: (isLast) => {
      lines.push(`${content} ${isLast}`);
      content = '';
    },
  };
  const reader = new FrameReader(sink, 100);
  const buffer = Buffer.alloc(pieceBytes);
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    const count = bytes.copy(buffer, 0, at, at + pieceBytes);
    reader.read(buffer, count);
    buffer.fill(0);
  }
  return lines;
}

const settings = settingsFrame([]);
const ofStream = (type: number, flags: number, text: string): Buffer =>
  newFrame({ type, flags, streamId: 5 }, Buffer.from(text, 'latin1'));

const good: [string, Buffer, string[]][] = [
  [
    'contents and fields',
    Buffer.concat([
      headersFrame(5, Buffer.from('head')),
      dataFrame(5, Buffer.from('content')),
      dataFrame(5, Buffer.alloc(0)),
      dataFrame(5, Buffer.from('end'), endStream),
    ]),
    [
      'headers 5 false head',
      'data 5 7',
      'content false',
      'data 5 0',
      ' false',
      'data 5 3',
      'end true',
    ],
  ],
  [
    'padding, which counts for flow control',
    Buffer.concat([
      ofStream(headers, padded | endHeaders, '\u0003headPAD'),
      dataFrame(5, Buffer.from('\u0003contentPAD'), padded),
      dataFrame(5, Buffer.from('\u0003PAD'), padded),
      dataFrame(5, Buffer.from('\u0000'), padded | endStream),
    ]),
    [
      'headers 5 false head',
      'data 5 11',
      'content false',
      'data 5 4',
      ' false',
      'data 5 1',
      ' true',
    ],
  ],
  [
    'priorities, which are passed over',
    ofStream(headers, priority | padded | endHeaders | endStream, '\u0001PRIORheadP'),
    ['headers 5 true head'],
  ],
  [
    'fields in several frames',
    Buffer.concat([
      ofStream(headers, padded | endStream, '\u0001heP'),
      ofStream(continuation, 0, 'a'),
      ofStream(continuation, 0, ''),
      ofStream(continuation, endHeaders, 'd'),
    ]),
    ['headers 5 true head'],
  ],
  [
    'other frames, whole',
    Buffer.concat([ofStream(6, 1, 'payload'), ofStream(0x42, 0xff, '')]),
    ['frame 6 1 5 payload', 'frame 66 255 5 '],
  ],
];

describe.each([1, 2, 3, 7, 10, 1_000])('in pieces of %d bytes', (pieceBytes) => {
  test.each(good)('%s', (_claim, bytes, lines) => {
    const [first, ...rest] = told(Buffer.concat([settings, bytes]), pieceBytes);
    expect(first).toBe('frame 4 0 0 ');
    expect(rest).toEqual(lines);
  });

  test.each<[string, Buffer, number]>([
    ['a frame above 16 KiB', dataFrame(5, Buffer.alloc(16_385)), http2Code.frameSizeError],
    ['DATA of no stream', dataFrame(0, Buffer.alloc(1)), http2Code.protocolError],
    ['HEADERS of no stream', headersFrame(0, Buffer.alloc(0)), http2Code.protocolError],
    ['DATA that is all padding', dataFrame(5, Buffer.of(1), padded), http2Code.protocolError],
    ['padded DATA without bytes', dataFrame(5, Buffer.alloc(0), padded), http2Code.protocolError],
    ['HEADERS with too much padding', ofStream(headers, padded | endHeaders, '\u0002P'), 1],
    ['padded HEADERS without bytes', ofStream(headers, padded | endHeaders, ''), 1],
    ['HEADERS shorter than a priority', ofStream(headers, priority | endHeaders, 'PRI'), 1],
    ['CONTINUATION of nothing', ofStream(continuation, endHeaders, ''), http2Code.protocolError],
    [
      'a frame within fields',
      Buffer.concat([ofStream(headers, 0, 'he'), dataFrame(5, Buffer.alloc(1))]),
      http2Code.protocolError,
    ],
    [
      'CONTINUATION of another stream',
      Buffer.concat([
        ofStream(headers, 0, 'he'),
        newFrame({ type: continuation, flags: endHeaders, streamId: 7 }, Buffer.from('ad')),
      ]),
      http2Code.protocolError,
    ],
    [
      'fields without an end',
      Buffer.concat([
        ofStream(headers, 0, 'he'),
        ...Array.from({ length: 10 }, () => ofStream(continuation, 0, 'x'.repeat(10))),
      ]),
      http2Code.enhanceYourCalm,
    ],
    [
      'empty CONTINUATION without an end',
      Buffer.concat([
        ofStream(headers, 0, 'he'),
        ...Array.from({ length: 65 }, () => ofStream(continuation, 0, '')),
      ]),
      http2Code.enhanceYourCalm,
    ],
  ])('%s is refused', (_claim, bytes, code) => {
    let error: unknown;
    try {
      told(Buffer.concat([settings, bytes]), pieceBytes);
    } catch (cause) {
      error = cause;
    }
    expect(error).toMatchObject({ code });
  });

  test.each([
    ['something else', dataFrame(5, Buffer.alloc(1))],
    ['an answer to settings', newFrame({ type: frameType.settings, flags: 1 }, Buffer.alloc(0))],
    ['another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ])('%s instead of settings is refused', (_claim, bytes) => {
    expect(() => told(bytes, pieceBytes)).toThrow();
  });
});
