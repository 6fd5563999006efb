// A connection from its greeting on, with a client that is played frame by frame: requests and
// answers in all the forms that frames may have.
import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { limits } from '../../base/limits.ts';
import { frameFlag, frameType, goAway, http2Code, preface } from '../../http2/frames.ts';
import { resetStream, settingId, settingsFrame, windowUpdate } from '../../http2/frames.ts';
import {
  anyFrame,
  dataFrame,
  headersFrame,
  RawConnection,
} from '../../http2/testing/raw-connection.ts';
import { uint32 } from '../../http2/testing/raw-connection.ts';
import { sendNow } from '../respond.ts';
import { connect2, request2, shortTimeouts, startTestServer } from '../testing/test-server.ts';
import { answerOf, block, connectClient, connectSocket } from './testing/played-client.ts';
import { farewells, fieldsOf, get, headBlock, nextTurn } from './testing/played-client.ts';
import { pattern, post, resets, playedServer, text } from './testing/played-client.ts';

const { endHeaders, endStream, padded, priority } = frameFlag;
const { continuation, data, headers, ping, settings } = frameType;
const { protocolError, refusedStream } = http2Code;
const windowBytes = 256 * 1024;
const nothing = Buffer.alloc(0);

const played = playedServer();

describe('greeting', () => {
  const greeted = async (): Promise<RawConnection> =>
    new RawConnection(await connectSocket(played.server), { ofClient: false });

  test('the server speaks first, and takes the settings of the client', async () => {
    const connection = await greeted();
    expect(await connection.frame()).toEqual({
      type: settings,
      flags: 0,
      streamId: 0,
      payload: settingsFrame([
        [settingId.concurrentStreamsMax, limits.http2StreamsPerConnectionMax],
        [settingId.initialWindowSize, windowBytes],
        [settingId.headerListSizeMax, limits.requestHeaderBytesMax],
      ]).subarray(9),
    });
    const window = await connection.frame();
    expect(window).toMatchObject({ type: frameType.windowUpdate, streamId: 0 });
    expect(window?.payload.readUInt32BE()).toBe(4 * windowBytes - 65_535);
    connection.write(preface, settingsFrame([[settingId.concurrentStreamsMax, 0]]));
    expect(await connection.frame()).toEqual({
      type: settings,
      flags: frameFlag.ack,
      streamId: 0,
      payload: nothing,
    });
    connection.write(settingsFrame([]), anyFrame(settings, 0, nothing, frameFlag.ack));
    expect((await connection.untilPong()).map(({ type, flags }) => [type, flags])).toEqual([
      [settings, frameFlag.ack],
    ]);
    connection.socket.destroy();
  });

  test('the preface may come byte by byte, with all that follows', async () => {
    const connection = await greeted();
    for (const byte of Buffer.concat([preface, settingsFrame([[99, 1]]), get(1)])) {
      connection.write(Buffer.of(byte));
      await nextTurn();
    }
    expect(await answerOf(connection, 1)).toMatchObject({ status: '200' });
    connection.socket.destroy();
  });

  test.each([
    ['a request of HTTP/1.1', Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n')],
    ['a preface that ends otherwise', Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\r')],
    ['settings without a preface', settingsFrame([])],
    ['a ping before the settings', Buffer.concat([preface, anyFrame(ping, 0, Buffer.alloc(8))])],
    ['a request before the settings', Buffer.concat([preface, get(1)])],
    ['an answer to settings first', Buffer.concat([preface, anyFrame(settings, 0, nothing, 1)])],
  ])('%s: the connection ends', async (_claim, bytes) => {
    const connection = await greeted();
    connection.write(bytes);
    expect(await farewells(connection)).toEqual([{ lastId: 0, code: protocolError }]);
  });

  test.each([
    ['says nothing', nothing],
    ['stops within its preface', preface.subarray(0, 20)],
    ['has no settings', preface],
  ])('a client that %s is cut', async (_claim, bytes) => {
    await using server = await startTestServer({ timeouts: shortTimeouts });
    const socket = await connectSocket(server);
    socket.on('error', () => undefined).resume();
    socket.write(bytes);
    await once(socket, 'close');
  });
});

test('a ping is answered with what it brought, an answer to none is passed over', async () => {
  const connection = await connectClient(played.server);
  connection.write(
    anyFrame(ping, 0, Buffer.from('nobody--'), frameFlag.ack),
    anyFrame(ping, 0, Buffer.from('12345678')),
  );
  expect(await connection.frame()).toEqual({
    type: ping,
    flags: frameFlag.ack,
    streamId: 0,
    payload: Buffer.from('12345678'),
  });
  connection.socket.destroy();
});

describe('a request', () => {
  const head = headBlock('POST');
  const body = Buffer.from('abcdef');
  const whole = headersFrame(1, head);
  const pad = (bytes: Buffer, count: number): Buffer =>
    Buffer.concat([Buffer.of(count), bytes, Buffer.alloc(count)]);
  const pieces = Array.from(body, (byte) => dataFrame(1, Buffer.of(byte)));
  const forms: [string, Buffer[]][] = [
    ['with a body in one frame', [whole, dataFrame(1, body, endStream)]],
    ['with its length', [post(1, { 'content-length': '6' }), dataFrame(1, body, endStream)]],
    [
      'that ends with an empty frame',
      [whole, dataFrame(1, body), dataFrame(1, nothing, endStream)],
    ],
    ['in pieces of a byte', [whole, ...pieces, dataFrame(1, nothing, endStream)]],
    ['with padding', [whole, dataFrame(1, pad(body, 200), padded | endStream)]],
    [
      'with padding of no bytes, and of nothing else',
      [
        whole,
        dataFrame(1, pad(body, 0), padded),
        dataFrame(1, pad(nothing, 9), padded | endStream),
      ],
    ],
    [
      'with CONTINUATION',
      [
        anyFrame(headers, 1, head.subarray(0, 1)),
        anyFrame(continuation, 1, nothing),
        anyFrame(continuation, 1, head.subarray(1, 20)),
        anyFrame(continuation, 1, head.subarray(20), endHeaders),
        dataFrame(1, body, endStream),
      ],
    ],
    ['with trailers', [whole, dataFrame(1, body), headersFrame(1, block(['x', 'y']), endStream)]],
    [
      'with trailers in CONTINUATION',
      [
        whole,
        dataFrame(1, body),
        anyFrame(headers, 1, block(['x', 'y']).subarray(0, 2), endStream),
        anyFrame(continuation, 1, block(['x', 'y']).subarray(2), endHeaders),
      ],
    ],
    [
      'with a priority, and padding of its head',
      [
        headersFrame(
          1,
          pad(Buffer.concat([uint32(0x8000_0000), Buffer.of(7), head]), 3),
          padded | priority,
        ),
        anyFrame(frameType.priority, 1, Buffer.of(0, 0, 0, 0, 9)),
        dataFrame(1, body, endStream),
      ],
    ],
    [
      'among frames that nobody knows',
      [
        anyFrame(0x42, 1, Buffer.from('unknown'), 0xff),
        anyFrame(frameType.priority, 9, Buffer.of(0, 0, 0, 3, 9)),
        whole,
        anyFrame(0xff, 0, nothing),
        windowUpdate(1, 5),
        goAway(0, 0, 'no pushes, please'),
        dataFrame(1, body, endStream),
      ],
    ],
    [
      'with flags that nobody knows, and the reserved bit',
      [
        whole.map((byte, at) => (at === 4 ? byte | 0xc0 : at === 5 ? 0x80 : byte)),
        dataFrame(1, body, 0xf0 | endStream),
      ].map((bytes) => Buffer.from(bytes)),
    ],
  ];

  test.each(forms)('%s', async (_claim, frames) => {
    const connection = await connectClient(played.server);
    connection.write(...frames);
    expect(await answerOf(connection, 1)).toEqual({ status: '200', body: 'abcdef', parts: [6] });
    expect(await connection.untilPong()).toEqual([]);
    connection.socket.destroy();
  });

  test.each(forms)('%s, byte by byte', async (_claim, frames) => {
    const connection = await connectClient(played.server);
    for (const byte of Buffer.concat(frames)) {
      connection.write(Buffer.of(byte));
      await nextTurn();
    }
    expect(await answerOf(connection, 1)).toEqual({ status: '200', body: 'abcdef', parts: [6] });
    connection.socket.destroy();
  });

  test('may leave numbers of streams out', async () => {
    const connection = await connectClient(played.server);
    connection.write(get(7), get(2 ** 31 - 1));
    expect((await answerOf(connection, 7)).status).toBe('200');
    expect((await answerOf(connection, 2 ** 31 - 1)).status).toBe('200');
    connection.socket.destroy();
  });
});

describe('an answer', () => {
  const framesOf = async (request: Buffer): Promise<readonly (readonly [number, number])[]> => {
    const connection = await connectClient(played.server);
    connection.write(request);
    const frames = await connection.untilPong();
    connection.socket.destroy();
    return frames.map(({ type, flags }) => [type, flags]);
  };

  test('is a head and one frame that ends it', async () => {
    played.answer = (request, response) => sendNow(request, response, text, pattern(16_384));
    expect(await framesOf(get(1))).toEqual([
      [headers, endHeaders],
      [data, endStream],
    ]);
  });

  test('without a body is a head that ends it', async () => {
    played.answer = (request, response) => sendNow(request, response, text, nothing);
    expect(await framesOf(get(1))).toEqual([[headers, endHeaders | endStream]]);
  });

  test('to HEAD has the length of the body alone', async () => {
    played.answer = (request, response) => sendNow(request, response, text, pattern(10));
    const connection = await connectClient(played.server);
    connection.write(headersFrame(1, headBlock('HEAD'), endStream));
    const { flags, payload } = await connection.next(headers);
    expect(flags).toBe(endHeaders | endStream);
    expect(fieldsOf(payload)).toContainEqual(['content-length', '10']);
    connection.socket.destroy();
  });

  test('says once that there is no table, and has no field that would be kept', async () => {
    const connection = await connectClient(played.server);
    connection.write(get(1), get(3));
    const [first, second] = [await connection.next(headers), await connection.next(headers)];
    expect([first.payload[0], second.payload[0]]).toEqual([0x20, 0x88]);
    expect(fieldsOf(first.payload).map(([name]) => name)).toEqual(
      fieldsOf(second.payload).map(([name]) => name),
    );
    connection.socket.destroy();
  });

  test('whose end comes later ends with an empty frame', async () => {
    played.answer = async (_request, response) => {
      response.writeHead(200, {});
      await new Promise<unknown>((resolve) => response.write(pattern(3), resolve));
      response.end();
    };
    expect(await framesOf(get(1))).toEqual([
      [headers, endHeaders],
      [data, 0],
      [data, endStream],
    ]);
  });

  test('before a body that nobody reads asks for no more of it', async () => {
    played.answer = (request, response) => sendNow(request, response, text, pattern(3));
    const connection = await connectClient(played.server);
    connection.write(post(1), dataFrame(1, pattern(5)));
    expect((await answerOf(connection, 1)).body).toBe('abc');
    expect(resets([await connection.next(frameType.resetStream)])).toEqual([[1, 0]]);
    connection.write(dataFrame(1, pattern(5), endStream), get(3));
    expect((await answerOf(connection, 3)).status).toBe('200');
    connection.socket.destroy();
  });

  test('before a body that is dropped ends with it, without a reset', async () => {
    played.answer = (request, response) => {
      request.resume();
      sendNow(request, response, text, pattern(3));
    };
    const connection = await connectClient(played.server);
    connection.write(post(1), dataFrame(1, pattern(5)));
    await answerOf(connection, 1);
    connection.write(dataFrame(1, pattern(5), endStream));
    expect(await connection.untilPong()).toEqual([]);
    connection.write(dataFrame(1, pattern(5)));
    expect(await connection.untilPong()).toEqual([]); // it has ended
    connection.socket.destroy();
  });

  test('with a head above 16 KiB goes on in CONTINUATION', async () => {
    const long = 'x'.repeat(40_000);
    played.answer = (_request, response) => {
      response.writeHead(200, { long, last: '1' });
      response.end();
    };
    const connection = await connectClient(played.server);
    connection.write(get(1));
    const frames = (await connection.untilPong()).map(({ type, flags, payload }) => ({
      head: [type, flags, payload.length <= 16_384],
      payload,
    }));
    expect(frames.map(({ head }) => head)).toEqual([
      [headers, endStream, true],
      [continuation, 0, true],
      [continuation, endHeaders, true],
    ]);
    const fields = fieldsOf(Buffer.concat(frames.map(({ payload }) => payload)));
    expect(fields).toContainEqual(['long', long]);
    expect(fields).toContainEqual(['last', '1']);
    connection.socket.destroy();
    const session = await connect2(played.server, { settings: { maxHeaderListSize: 100_000 } });
    expect((await request2(session, '/')).headers).toMatchObject({ long, last: '1' });
    session.destroy();
  });
});

describe('streams', () => {
  test('that have ended are passed over, and the table of the client stays in step', async () => {
    const connection = await connectClient(played.server);
    connection.write(get(1), get(3));
    await answerOf(connection, 3);
    const kept = block(['x', 'kept']);
    kept[0] = 0x40;
    connection.write(
      dataFrame(1, pattern(9)),
      dataFrame(1, pattern(9), endStream),
      windowUpdate(1, 5),
      windowUpdate(3, 0),
      resetStream(3, 8),
      anyFrame(frameType.priority, 3, Buffer.alloc(5)),
      headersFrame(3, kept, endStream),
      headersFrame(5, Buffer.concat([headBlock('GET'), Buffer.of(0xbe)]), endStream),
    );
    expect(await answerOf(connection, 5)).toMatchObject({ status: '200' });
    connection.socket.destroy();
  });

  test('above the limit are refused until others have ended', async () => {
    const connection = await connectClient(played.server);
    const most = limits.http2StreamsPerConnectionMax;
    const begun = Array.from({ length: most }, (_, at) => post(2 * at + 1));
    const next = 2 * most + 1;
    connection.write(...begun, get(next), get(next + 2));
    expect(resets(await connection.untilPong())).toEqual([
      [next, refusedStream],
      [next + 2, refusedStream],
    ]);
    connection.write(resetStream(1, 8), dataFrame(3, nothing, endStream));
    await answerOf(connection, 3);
    connection.write(post(next + 4), get(next + 6));
    await answerOf(connection, next + 6);
    connection.socket.destroy();
  });

  test('of a client end when it leaves', async () => {
    const ends: unknown[] = [];
    played.answer = (request, response) =>
      void response.on('close', () => ends.push(String(request.context.endedWith)));
    const connection = await connectClient(played.server);
    connection.write(post(1), get(3));
    await connection.untilPong();
    connection.socket.destroy();
    while (ends.length < 2) await nextTurn();
    expect(ends).toHaveLength(2);
  });
});
