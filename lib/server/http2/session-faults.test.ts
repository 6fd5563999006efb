// Clients that break the protocol: what ends their connection, and what one stream alone
// (RFC 9113, section 5.4).
import { expect, test } from '@jest/globals';
import { limits } from '../../base/limits.ts';
import { frameFlag, frameType, http2Code, resetStream } from '../../http2/frames.ts';
import { settingId, settingsFrame, windowUpdate } from '../../http2/frames.ts';
import { anyFrame, dataFrame, headersFrame, uint32 } from '../../http2/testing/raw-connection.ts';
import { answerOf, block, connectClient, farewells, get } from './testing/played-client.ts';
import { pattern, post, resets, playedServer } from './testing/played-client.ts';

const { endHeaders, endStream, padded, priority } = frameFlag;
const { continuation, headers, ping, settings } = frameType;
const { protocolError, frameSizeError, flowControlError, streamClosed } = http2Code;
const { compressionError, enhanceYourCalm } = http2Code;
const nothing = Buffer.alloc(0);

const played = playedServer();

const one = uint32(1);

test.each<[string, Buffer, number]>([
  ['a push', anyFrame(frameType.pushPromise, 1, uint32(2)), protocolError],
  ['a frame above 16 KiB', dataFrame(1, Buffer.alloc(16_385)), frameSizeError],
  ['settings of no whole number', anyFrame(settings, 0, Buffer.alloc(5)), frameSizeError],
  ['settings of a stream', anyFrame(settings, 1, nothing), protocolError],
  ['an answer to settings with some', anyFrame(settings, 0, Buffer.alloc(6), 1), frameSizeError],
  [
    'an impossible window',
    settingsFrame([[settingId.initialWindowSize, 2 ** 31]]),
    flowControlError,
  ],
  [
    'windows of streams above the limit',
    Buffer.concat([
      windowUpdate(1, 1_000),
      settingsFrame([[settingId.initialWindowSize, 2 ** 31 - 1]]),
    ]),
    flowControlError,
  ],
  ['frames that are too small', settingsFrame([[settingId.frameSizeMax, 16_383]]), protocolError],
  ['frames that are too large', settingsFrame([[settingId.frameSizeMax, 2 ** 24]]), protocolError],
  ['more than pushes', settingsFrame([[settingId.enablePush, 2]]), protocolError],
  [
    'more settings than there may be',
    anyFrame(settings, 0, Buffer.alloc(6 * (limits.http2SettingsPerFrameMax + 1))),
    enhanceYourCalm,
  ],
  ['a ping of 7 bytes', anyFrame(ping, 0, Buffer.alloc(7)), frameSizeError],
  ['a ping of 9 bytes', anyFrame(ping, 0, Buffer.alloc(9)), frameSizeError],
  ['a ping of a stream', anyFrame(ping, 1, Buffer.alloc(8)), protocolError],
  ['a good-bye of a stream', anyFrame(frameType.goAway, 1, Buffer.alloc(8)), protocolError],
  ['a short good-bye', anyFrame(frameType.goAway, 0, Buffer.alloc(7)), frameSizeError],
  ['a window of 0', windowUpdate(0, 0), protocolError],
  ['a window above the limit', windowUpdate(0, 2 ** 31 - 1), flowControlError],
  ['a short window', anyFrame(frameType.windowUpdate, 0, Buffer.alloc(3)), frameSizeError],
  [
    'a short window of a stream',
    anyFrame(frameType.windowUpdate, 1, Buffer.alloc(5)),
    frameSizeError,
  ],
  ['a window of a stream to come', windowUpdate(5, 1), protocolError],
  ['a window of a stream of the server', windowUpdate(2, 1), protocolError],
  ['a reset of a stream to come', resetStream(5, 0), protocolError],
  ['a reset of a stream of the server', resetStream(2, 0), protocolError],
  ['a reset of no stream', resetStream(0, 0), protocolError],
  ['a short reset', anyFrame(frameType.resetStream, 1, Buffer.alloc(3)), frameSizeError],
  ['a long reset', anyFrame(frameType.resetStream, 1, Buffer.alloc(5)), frameSizeError],
  ['a stream of the server', get(2), protocolError],
  ['header fields of no stream', get(0), protocolError],
  ['contents of no stream', dataFrame(0, one), protocolError],
  ['contents of a stream to come', dataFrame(5, one), protocolError],
  ['a priority of no stream', anyFrame(frameType.priority, 0, Buffer.alloc(5)), protocolError],
  [
    'contents after the end',
    Buffer.concat([dataFrame(1, one, endStream), dataFrame(1, one)]),
    streamClosed,
  ],
  [
    'header fields after the end',
    Buffer.concat([dataFrame(1, one, endStream), get(1)]),
    streamClosed,
  ],
  ['CONTINUATION of nothing', anyFrame(continuation, 1, nothing, endHeaders), protocolError],
  [
    'CONTINUATION of another stream',
    Buffer.concat([anyFrame(headers, 5, nothing), anyFrame(continuation, 7, nothing, endHeaders)]),
    protocolError,
  ],
  [
    'a ping within header fields',
    Buffer.concat([anyFrame(headers, 5, nothing), anyFrame(ping, 0, Buffer.alloc(8))]),
    protocolError,
  ],
  ['padding longer than contents', dataFrame(1, Buffer.of(3, 0, 0), padded), protocolError],
  ['contents without their padding', dataFrame(1, nothing, padded), protocolError],
  ['padding longer than fields', headersFrame(5, Buffer.of(3, 0, 0), padded), protocolError],
  ['fields without their priority', headersFrame(5, Buffer.alloc(4), priority), protocolError],
  ['a field of no table', headersFrame(5, Buffer.of(0xbe), endStream), compressionError],
  ['trailers of no table', headersFrame(1, Buffer.of(0xbe), endStream), compressionError],
  ['a larger table', headersFrame(5, Buffer.of(0x3f, 0xe2, 0x1f), endStream), compressionError],
])('%s: the connection ends', async (_claim, bytes, code) => {
  let closedCount = 0;
  played.answer = (_request, response) => void response.on('close', () => closedCount++);
  const connection = await connectClient(played.server);
  connection.write(post(1), post(3), bytes, get(9));
  expect(await farewells(connection, 9)).toEqual([{ lastId: 3, code }]);
  expect(closedCount).toBe(2);
});

const requestOf = (...fields: [string, string][]): Buffer =>
  headersFrame(3, block(...fields), endStream);
const usual: [string, string][] = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/'],
];

test.each<[string, number, number, Buffer]>([
  ['a window of 0', 1, protocolError, windowUpdate(1, 0)],
  ['a window above the limit', 1, flowControlError, windowUpdate(1, 2 ** 31 - 1)],
  ['trailers that do not end it', 1, protocolError, headersFrame(1, block(['x', 'y']))],
  [
    'trailers with a pseudo field', // RFC 9113, section 8.1 and 8.3
    1,
    protocolError,
    Buffer.concat([dataFrame(1, pattern(5)), headersFrame(1, block([':path', '/']), endStream)]),
  ],
  ['a body longer than its length', 1, protocolError, dataFrame(1, pattern(6))],
  ['a shorter one', 1, protocolError, dataFrame(1, pattern(4), endStream)],
  ['a shorter one with trailers', 1, protocolError, headersFrame(1, block(['x', 'y']), endStream)],
  ['a priority of 4 bytes', 1, frameSizeError, anyFrame(frameType.priority, 1, Buffer.alloc(4))],
  ['a length without a body', 3, protocolError, get(3, '/', { 'content-length': '1' })],
  ['an upper case name', 3, protocolError, requestOf(...usual, ['X', 'y'])],
  ['no method', 3, protocolError, requestOf(...usual.slice(1))],
  ['connection', 3, protocolError, requestOf(...usual, ['connection', 'close'])],
  [
    'too many fields',
    3,
    enhanceYourCalm,
    requestOf(...usual, ...Array<[string, string]>(limits.requestHeadersCountMax).fill(['x', ''])),
  ],
])('%s: its stream alone ends', async (_claim, streamId, code, bytes) => {
  const connection = await connectClient(played.server);
  connection.write(post(1, { 'content-length': '5' }), bytes, get(5));
  expect(resets(await connection.untilPong())).toEqual([[streamId, code]]);
  connection.write(get(7));
  expect((await answerOf(connection, 7)).status).toBe('200');
  connection.socket.destroy();
});

test.each([1, 5])(
  'contents of a stream of the server end it, after stream %d too',
  async (begun) => {
    const connection = await connectClient(played.server);
    connection.write(post(begun), dataFrame(2, one), get(7));
    expect(await farewells(connection, 7)).toEqual([{ lastId: begun, code: protocolError }]);
  },
);
