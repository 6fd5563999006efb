// The transport of its own on a member that is played frame by frame.
import { afterEach, describe, expect, test } from '@jest/globals';
import { status as grpcStatus } from '@grpc/grpc-js';
import type { MessageStream } from './channel.ts';
import { encodeField, FieldDecoder } from '../../http2/hpack.ts';
import type { Fields } from '../../http2/hpack.ts';
import { frameFlag, frameType, goAway, http2Code, newFrame } from '../../http2/frames.ts';
import { resetStream, settingId, windowUpdate } from '../../http2/frames.ts';
import { newMessage } from './testing/messages.ts';
import { begun, closeAll, contents, echo, effect, failureOf } from './testing/played-channel.ts';
import { later, newChannel, play, soon, terms, updates } from './testing/played-channel.ts';
import type { Played } from './testing/played-channel.ts';
import { answerFrames, answerHead } from './testing/raw-member.ts';
import { okTrailers, trailersFrame } from './testing/raw-member.ts';
import { settingsFrame } from '../../http2/frames.ts';
import { anyFrame, dataFrame, headersFrame, uint32 } from '../../http2/testing/raw-connection.ts';

afterEach(closeAll);

const windowBytes = 16 * 1024 * 1024;
const { endHeaders, endStream, padded, priority } = frameFlag;
const { continuation, data, headers, ping, resetStream: reset, settings } = frameType;

test('what a connection begins with, and the answer to settings', async () => {
  const { connection } = await play();
  expect(await connection.frame()).toEqual({
    type: settings,
    flags: 0,
    streamId: 0,
    payload: settingsFrame([
      [settingId.headerTableSize, 0],
      [settingId.enablePush, 0],
      [settingId.initialWindowSize, windowBytes],
      [settingId.headerListSizeMax, 65_536],
    ]).subarray(9),
  });
  const window = await connection.frame();
  expect(window?.payload.readUInt32BE()).toBe(windowBytes - 65_535);
  expect(await connection.frame()).toMatchObject({ type: settings, flags: frameFlag.ack });
});

function decodedFields(block: Buffer): [string, string][] {
  const make = (fields: Fields = []): [string, string][] =>
    fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : []));
  const decoder = new FieldDecoder({ listBytesMax: 10_000, tableBytesMax: 0, make });
  return decoder.decode(block, 0, block.length);
}

test('a call: its header fields, its time, its message, and nothing more', async () => {
  const { channel, connection } = await play();
  await connection.untilPong();
  const own = { traceparent: '00-1-2-01' };
  const call = channel.call(echo, 'request', { deadlineMs: Date.now() + 7_000, headers: own });
  const head = await connection.next(headers);
  const { 'grpc-timeout': timeout, ...fields } = Object.fromEntries(decodedFields(head.payload));
  expect(fields).toEqual({
    ':method': 'POST',
    ':scheme': 'http',
    ':path': '/test.Echo/Echo',
    ':authority': expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    'content-type': 'application/grpc',
    te: 'trailers',
    'user-agent': 'grpc-node-http2',
    hasleader: 'true',
    traceparent: '00-1-2-01',
  });
  expect(timeout).toMatch(/^([1-6]?\d{1,3}|7000)m$/);
  expect(head).toMatchObject({ flags: endHeaders, streamId: 1 });
  expect(await connection.frame()).toEqual({
    type: data,
    flags: endStream,
    streamId: 1,
    payload: newMessage(Buffer.from('request')),
  });
  connection.write(answerFrames(1, 'answer'));
  expect(await call).toBe('answer');
  expect(await connection.untilPong()).toEqual([]);
});

test('an answer in all the forms that frames may have, byte by byte', async () => {
  const { channel, connection } = await play();
  const call = channel.call(echo, 'x', terms());
  const status = encodeField('grpc-status', '0');
  const frames = Buffer.concat([
    newFrame({ type: 0x42, flags: 0xff, streamId: 1 }, Buffer.from('unknown')),
    newFrame({ type: 2, streamId: 1 }, Buffer.alloc(5)),
    headersFrame(1, Buffer.concat([Buffer.of(0x20), encodeField(':status', '103')])),
    newFrame(
      { type: headers, flags: padded | priority, streamId: 1 },
      Buffer.concat([Buffer.of(2, 0, 0, 0, 0, 9), answerHead.subarray(0, 4), Buffer.alloc(2)]),
    ),
    newFrame({ type: continuation, streamId: 1 }, answerHead.subarray(4, 6)),
    newFrame({ type: continuation, flags: endHeaders, streamId: 1 }, answerHead.subarray(6)),
    dataFrame(1, Buffer.alloc(0)),
    dataFrame(
      1,
      Buffer.concat([Buffer.of(3), newMessage(Buffer.from('whole')), Buffer.alloc(3)]),
      padded,
    ),
    newFrame({ type: headers, flags: endStream, streamId: 1 }, status.subarray(0, 3)),
    newFrame({ type: continuation, flags: endHeaders, streamId: 1 }, status.subarray(3)),
  ]);
  await connection.next(data);
  for (const byte of frames) {
    connection.write(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await call).toBe('whole');
});

test('a ping is answered with what it brought', async () => {
  const { connection } = await play();
  connection.write(newFrame({ type: ping }, Buffer.from('12345678')));
  expect(await connection.next(ping)).toMatchObject({
    flags: frameFlag.ack,
    payload: Buffer.from('12345678'),
  });
});

test('a call that is not yet sent when its connection ends was not begun', async () => {
  const { channel, connection } = await play();
  const call = channel.call(echo, 'x', terms());
  channel.close();
  expect(await effect(call)).toBe('notStarted');
  while (!connection.socket.destroyed) await later();
});

describe('what may come', () => {
  const half = windowBytes / 2;

  async function openStream(): Promise<
    Played & { stream: MessageStream<string>; ends: unknown[] }
  > {
    const played = await play();
    const ends: unknown[] = [];
    const stream = played.channel.open(echo, {
      message: () => {},
      ended: (error) => ends.push(error),
    });
    stream.send('x');
    await played.connection.next(data);
    played.connection.write(headersFrame(1, answerHead));
    return { ...played, stream, ends };
  }

  test('windows are opened again when half of them is used', async () => {
    const { connection } = await openStream();
    connection.write(...contents(1, half - 16_384));
    expect(updates(await connection.untilPong())).toEqual([]);
    connection.write(...contents(1, 16_384));
    expect(updates(await connection.untilPong())).toEqual([
      [0, half],
      [1, half],
    ]);
  });

  test('of a paused stream only that of the connection, until it goes on', async () => {
    const { connection, stream, ends } = await openStream();
    stream.pause();
    connection.write(...contents(1, windowBytes));
    expect(updates(await connection.untilPong())).toEqual([
      [0, half],
      [0, half],
    ]);
    stream.resume();
    expect(updates(await connection.untilPong())).toEqual([[1, windowBytes]]);
    expect(ends).toEqual([]);
  });

  test('what comes for a stream that has ended counts for the connection', async () => {
    const { connection, stream } = await openStream();
    await connection.untilPong();
    stream.cancel();
    await connection.next(reset);
    connection.write(...contents(1, half), trailersFrame(1), windowUpdate(1, 5));
    expect(updates(await connection.untilPong())).toEqual([[0, half]]);
  });

  test('more than the window of a stream ends the stream', async () => {
    const { connection, stream, ends } = await openStream();
    stream.pause();
    connection.write(...contents(1, windowBytes), dataFrame(1, Buffer.alloc(1)));
    expect((await connection.next(reset)).payload).toEqual(uint32(http2Code.flowControlError));
    expect(ends).toMatchObject([{ code: grpcStatus.INTERNAL }]);
  });
});

describe('good-bye', () => {
  test('streams up to the last that the member names go on, others were not begun', async () => {
    const { channel, connection, member, lostCount } = await play();
    const first = channel.call(echo, 'first', terms());
    const second = channel.call(echo, 'second', terms());
    await connection.untilPong();
    const notSent = channel.call(echo, 'not sent', terms());
    connection.write(newFrame({ type: frameType.goAway }, uint32(1, http2Code.enhanceYourCalm)));
    expect(await effect(second)).toBe('notStarted');
    expect(lostCount()).toBe(1);
    const connecting = channel.connect(soon());
    const next = await member.accepted();
    next.greet();
    expect(await connecting).toBe(true);
    const third = channel.call(echo, 'third', terms());
    await next.next(data);
    next.write(answerFrames(1, 'third'));
    expect(await third).toBe('third');
    connection.write(answerFrames(1, 'first'));
    expect(await first).toBe('first');
    // Sent before the good-bye came, or never: not answered in either case.
    expect(await effect(notSent)).toBe('notStarted');
    while (!connection.socket.destroyed) await later();
  });

  test('a second one may name an earlier stream', async () => {
    const { channel, connection } = await play();
    const first = channel.call(echo, '1', terms());
    const middle = channel.call(echo, '3', terms());
    const last = channel.call(echo, '5', terms());
    await connection.untilPong();
    connection.write(
      newFrame({ type: frameType.goAway }, uint32(2 ** 31 - 1, 0)),
      newFrame({ type: frameType.goAway }, uint32(3, 0)),
      answerFrames(3, 'three'),
    );
    expect(await middle).toBe('three');
    expect(await effect(last)).toBe('notStarted');
    connection.socket.destroy();
    expect(await effect(first)).toBe('unknown');
  });

  test('without streams the connection is closed', async () => {
    const { connection, lostCount } = await play();
    connection.write(goAway(0, 0));
    while (!connection.socket.destroyed) await later();
    expect(lostCount()).toBe(1);
  });

  test('after the last number of a stream another connection is opened', async () => {
    const { channel, connection, member, lostCount } = await play([], 2 ** 31 - 3);
    const calls = ['one', 'two'].map((text) => channel.call(echo, text, terms()));
    const ids = begun(await connection.untilPong());
    expect(ids).toEqual([2 ** 31 - 3, 2 ** 31 - 1]);
    expect(lostCount()).toBe(1);
    expect(await effect(channel.call(echo, 'none left', terms()))).toBe('notStarted');
    const connecting = channel.connect(soon());
    (await member.accepted()).greet();
    expect(await connecting).toBe(true);
    connection.write(...ids.map((id) => answerFrames(id, String(id))));
    expect(await Promise.all(calls)).toEqual(ids.map(String));
  });
});

describe('a member that breaks the protocol', () => {
  const { protocolError, frameSizeError, flowControlError, compressionError } = http2Code;
  test.each<[string, Buffer, number]>([
    ['a push', anyFrame(frameType.pushPromise, 1, uint32(2)), protocolError],
    ['a frame above 16 KiB', dataFrame(1, Buffer.alloc(16_385)), frameSizeError],
    ['settings of no whole number', anyFrame(settings, 0, Buffer.alloc(5)), frameSizeError],
    ['settings of a stream', anyFrame(settings, 1, Buffer.alloc(0)), protocolError],
    ['an answer to settings with some', anyFrame(settings, 0, Buffer.alloc(6), 1), frameSizeError],
    [
      'an impossible window',
      settingsFrame([[settingId.initialWindowSize, 2 ** 31]]),
      flowControlError,
    ],
    [
      'a window of a stream above the limit',
      settingsFrame([[settingId.initialWindowSize, 2 ** 31 - 1]]),
      flowControlError,
    ],
    ['impossible frames', settingsFrame([[settingId.frameSizeMax, 16_383]]), protocolError],
    ['pushes of a server', settingsFrame([[settingId.enablePush, 1]]), protocolError],
    ['a ping of 7 bytes', anyFrame(ping, 0, Buffer.alloc(7)), frameSizeError],
    ['a ping of a stream', anyFrame(ping, 1, Buffer.alloc(8)), protocolError],
    ['a good-bye of a stream', anyFrame(frameType.goAway, 1, Buffer.alloc(8)), protocolError],
    ['a short good-bye', anyFrame(frameType.goAway, 0, Buffer.alloc(7)), frameSizeError],
    ['a window of 0', windowUpdate(0, 0), protocolError],
    ['a window above the limit', windowUpdate(0, 2 ** 31 - 1), flowControlError],
    ['a short window', anyFrame(frameType.windowUpdate, 0, Buffer.alloc(3)), frameSizeError],
    ['a window of a stream to come', windowUpdate(3, 1), protocolError],
    ['a reset of a stream to come', resetStream(3, 0), protocolError],
    ['a reset of no stream', resetStream(0, 0), protocolError],
    ['a short reset', anyFrame(reset, 1, Buffer.alloc(3)), frameSizeError],
    ['an answer for a stream of its own', headersFrame(2, answerHead), protocolError],
    ['contents of a stream to come', dataFrame(3, Buffer.alloc(1)), protocolError],
    ['a field of a dynamic table', headersFrame(1, Buffer.of(0xbe)), compressionError],
    ['a dynamic table', headersFrame(1, Buffer.of(0x3f, 0xe1, 0x1f)), compressionError],
    ['CONTINUATION of nothing', anyFrame(continuation, 1, okTrailers, endHeaders), protocolError],
  ])('%s ends the connection; its calls may have been done', async (_claim, bytes, code) => {
    const { channel, connection, lostCount } = await play();
    const call = channel.call(echo, 'x', terms());
    await connection.next(data);
    // The window of the stream is not that of the settings any more.
    connection.write(windowUpdate(1, 1_000), bytes, answerFrames(1, 'never read'));
    expect(await failureOf(call)).toMatchObject({ code: grpcStatus.UNAVAILABLE });
    expect(await effect(call)).toBe('unknown');
    expect(lostCount()).toBe(1);
    const bye = await connection.next(frameType.goAway);
    expect(bye.payload.subarray(0, 8)).toEqual(uint32(0, code));
    expect(await connection.frame()).toBeUndefined();
  });

  test.each<[string, Buffer, number]>([
    ['contents before the header fields', dataFrame(1, Buffer.alloc(1)), protocolError],
    [
      'trailers that do not end it',
      Buffer.concat([headersFrame(1, answerHead), headersFrame(1, okTrailers)]),
      protocolError,
    ],
    [
      'an interim answer that ends it',
      headersFrame(1, encodeField(':status', '100'), endStream),
      protocolError,
    ],
    ['a window of 0', windowUpdate(1, 0), protocolError],
    ['a window above the limit', windowUpdate(1, 2 ** 31 - 1), flowControlError],
  ])('%s ends that stream alone', async (_claim, bytes, code) => {
    const { channel, connection, lostCount } = await play();
    const call = channel.call(echo, 'x', terms());
    const other = channel.call(echo, 'y', terms());
    await connection.untilPong();
    connection.write(bytes, answerFrames(1, 'too late'), answerFrames(3, 'other'));
    expect(await failureOf(call)).toMatchObject({ code: grpcStatus.INTERNAL });
    expect(await other).toBe('other');
    expect(await connection.next(reset)).toMatchObject({ streamId: 1, payload: uint32(code) });
    expect(lostCount()).toBe(0);
  });

  test.each([
    ['another protocol', Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['an answer to settings first', anyFrame(settings, 0, Buffer.alloc(0), 1)],
  ])('%s: there is no connection', async (_claim, bytes) => {
    const { channel, member } = await newChannel();
    const connecting = channel.connect(soon());
    (await member.accepted()).write(bytes);
    expect(await connecting).toBe(false);
  });

  test('what waited for its turn was not begun when the connection ends', async () => {
    const { channel, connection } = await play([[settingId.concurrentStreamsMax, 1]]);
    const first = channel.call(echo, 'first', terms());
    const waiting = channel.call(echo, 'waiting', terms());
    await connection.next(data);
    connection.write(windowUpdate(0, 0));
    expect(await effect(first)).toBe('unknown');
    expect(await effect(waiting)).toBe('notStarted');
    await connection.next(frameType.goAway);
    expect(await connection.frame()).toBeUndefined();
  });

  test('questions without reading the answers end the connection', async () => {
    const { channel, connection } = await play();
    const call = channel.call(echo, 'x', terms());
    await connection.next(data);
    connection.socket.pause();
    const pings = Buffer.concat(
      Array.from({ length: 10_000 }, () => anyFrame(ping, 0, Buffer.alloc(8))),
    );
    const ended = failureOf(call);
    let hasEnded = false;
    void ended.then(() => (hasEnded = true));
    while (!hasEnded) {
      connection.write(pings);
      await later();
    }
    expect((await ended).message).toMatch(/more questions/);
  });
});

test('an answer without a status, and a status without an answer', async () => {
  const { channel, connection } = await play();
  const cut = channel.call(echo, 'x', terms());
  const empty = channel.call(echo, 'x', terms());
  await connection.untilPong();
  connection.write(
    headersFrame(1, answerHead),
    dataFrame(1, newMessage(Buffer.from('cut')), endStream),
  );
  connection.write(headersFrame(3, answerHead), trailersFrame(3));
  expect(await failureOf(cut)).toMatchObject({ code: grpcStatus.UNAVAILABLE });
  expect(await failureOf(empty)).toMatchObject({ code: grpcStatus.INTERNAL });
});
