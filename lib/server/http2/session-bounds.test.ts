// Bounds on what one client may ask of the server, with a client that is played frame by frame.
// Others are served meanwhile.
import { afterEach, describe, expect, test } from '@jest/globals';
import { limits } from '../../base/limits.ts';
import { frameFlag, frameType, http2Code, newFrame, resetStream } from '../../http2/frames.ts';
import { settingId, settingsFrame, windowUpdate } from '../../http2/frames.ts';
import { dataFrame, headersFrame } from '../../http2/testing/raw-connection.ts';
import type { RawConnection } from '../../http2/testing/raw-connection.ts';
import { sendNow } from '../respond.ts';
import { answerOf, block, connectClient, echo, farewells, get } from './testing/played-client.ts';
import { headBlock, nextTurn, pattern, post, resets } from './testing/played-client.ts';
import { playedServer, streamOf, text } from './testing/played-client.ts';
import type { Http2Stream } from './stream.ts';

const { endStream, padded } = frameFlag;
const { enhanceYourCalm, refusedStream } = http2Code;
const { http2EmptyFramesMax, http2ResetBurstMax, http2StreamsPerConnectionMax } = limits;

const played = playedServer();
afterEach(async () => {
  played.answer = echo;
  const connection = await connectClient(played.server);
  connection.write(get(1));
  expect((await answerOf(connection, 1)).status).toBe('200');
  connection.socket.destroy();
});

const nothing = Buffer.alloc(0);
const idOf = (round: number): number => 2 * round + 1;
const rounds = (count: number, of: (round: number) => Buffer): Buffer =>
  Buffer.concat(Array.from({ length: count }, (_, round) => of(round)));

describe('streams that end before their time', () => {
  test.each<[string, (streamId: number) => Buffer]>([
    ['by the client', (id) => Buffer.concat([get(id), resetStream(id, 8)])],
    ['by the client, begun', (id) => Buffer.concat([post(id), resetStream(id, 8)])],
    ['since their heads are malformed', (id) => headersFrame(id, block(['X', 'y']), endStream)],
    ['since their windows are opened by 0', (id) => Buffer.concat([post(id), windowUpdate(id, 0)])],
    [
      'since their windows are opened too far',
      (id) => Buffer.concat([post(id), windowUpdate(id, 2 ** 31 - 1)]),
    ],
    [
      'since their bodies are too long',
      (id) => Buffer.concat([post(id, { 'content-length': '0' }), dataFrame(id, pattern(1))]),
    ],
    [
      'since their bodies are too short',
      (id) =>
        Buffer.concat([post(id, { 'content-length': '1' }), dataFrame(id, nothing, endStream)]),
    ],
    [
      'since their trailers do not end them',
      (id) => Buffer.concat([post(id), headersFrame(id, block(['x', 'y']))]),
    ],
  ])('%s end their connection when there are too many', async (_claim, round) => {
    const connection = await connectClient(played.server);
    connection.write(rounds(http2ResetBurstMax, (at) => round(idOf(at))));
    await connection.untilPong(); // not yet
    const from = http2ResetBurstMax;
    connection.write(rounds(20_000, (at) => round(idOf(from + at))));
    const all = await farewells(connection);
    expect(all).toMatchObject([{ code: enhanceYourCalm }]);
    const lastId = all[0]?.lastId;
    expect(lastId).toBeGreaterThan(idOf(http2ResetBurstMax - 1));
    expect(lastId).toBeLessThan(idOf(3 * http2ResetBurstMax));
  });

  test('since they are above the limit do so, too', async () => {
    played.answer = () => undefined;
    const connection = await connectClient(played.server);
    const most = http2StreamsPerConnectionMax;
    connection.write(rounds(most + http2ResetBurstMax, (at) => get(idOf(at))));
    const frames = await connection.untilPong();
    expect(resets(frames).map(([, code]) => code)).toEqual(
      Array<number>(http2ResetBurstMax).fill(refusedStream),
    );
    connection.write(rounds(20_000, (at) => get(idOf(most + http2ResetBurstMax + at))));
    expect(await farewells(connection)).toMatchObject([{ code: enhanceYourCalm }]);
  });

  test('since they are above the last one that is taken do so, too', async () => {
    const streams: Http2Stream[] = [];
    played.answer = (request) => void streams.push(streamOf(request));
    const connection = await connectClient(played.server);
    connection.write(get(1));
    await connection.untilPong();
    streams[0]?.session.close();
    await connection.next(frameType.goAway);
    connection.write(
      rounds(20_000, (at) => get(idOf(1 + at))),
      newFrame({ type: 6 }, pattern(8)),
    );
    await expect(connection.next(frameType.ping)).rejects.toThrow('closed');
  });
});

describe('frames that bring nothing', () => {
  test.each([
    ['empty ones', dataFrame(1, nothing)],
    ['padding alone', dataFrame(1, Buffer.of(2, 0, 0), padded)],
  ])('of a body are counted: %s', async (_claim, frame) => {
    const connection = await connectClient(played.server);
    connection.write(
      post(1),
      rounds(http2EmptyFramesMax, () => frame),
    );
    await connection.untilPong();
    connection.write(frame);
    expect(await farewells(connection)).toEqual([{ lastId: 1, code: enhanceYourCalm }]);
  });

  test('are no last frames of bodies', async () => {
    const connection = await connectClient(played.server);
    for (let at = 0; at <= http2EmptyFramesMax; at++) {
      connection.write(post(idOf(at)), dataFrame(idOf(at), nothing, endStream));
      await answerOf(connection, idOf(at));
    }
    connection.socket.destroy();
  });
});

describe('header fields', () => {
  test('in ever more CONTINUATION end the connection', async () => {
    const connection = await connectClient(played.server);
    const more = newFrame({ type: frameType.continuation, streamId: 1 }, nothing);
    connection.write(newFrame({ type: frameType.headers, streamId: 1 }, headBlock('GET')));
    connection.write(rounds(1_000, () => more));
    expect(await farewells(connection)).toEqual([{ lastId: 0, code: enhanceYourCalm }]);
  });

  test('that are longer than they may be end the connection', async () => {
    const connection = await connectClient(played.server);
    const more = newFrame({ type: frameType.continuation, streamId: 1 }, pattern(16_384));
    connection.write(newFrame({ type: frameType.headers, streamId: 1 }, pattern(16_384)));
    connection.write(rounds(4, () => more));
    expect(await farewells(connection)).toEqual([{ lastId: 0, code: enhanceYourCalm }]);
  });

  test('that grow as they are decoded end their stream; the table stays in step', async () => {
    const connection = await connectClient(played.server);
    const kept = block(['x', 'v'.repeat(3_000)]);
    kept[0] = 0x40;
    const bomb = Buffer.concat([headBlock('GET'), kept, Buffer.alloc(30, 0xbe)]);
    connection.write(headersFrame(1, bomb, endStream));
    expect(resets(await connection.untilPong())).toEqual([[1, enhanceYourCalm]]);
    let value: unknown;
    played.answer = (request, response) => {
      value = request.headers['x'];
      sendNow(request, response, text, nothing);
    };
    connection.write(
      headersFrame(3, Buffer.concat([headBlock('GET'), Buffer.of(0xbe)]), endStream),
    );
    await answerOf(connection, 3);
    expect(value).toBe('v'.repeat(3_000));
    connection.socket.destroy();
  });
});

describe('a client that reads nothing', () => {
  /** Says more of the same until the server has had enough. */
  async function untilCut(connection: RawConnection, frames: Buffer): Promise<void> {
    let stream: Http2Stream | undefined;
    played.answer = (request) => (stream = streamOf(request)) && undefined;
    connection.write(post(1));
    while (stream === undefined) await nextTurn();
    connection.socket.pause();
    while (!stream.isClosed) {
      if (!connection.socket.destroyed) connection.write(frames);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    connection.socket.destroy();
  }

  test.each([
    ['pings', newFrame({ type: frameType.ping }, Buffer.alloc(8))],
    ['settings', settingsFrame([])],
  ])('may not ask with %s for ever', async (_claim, frame) => {
    const connection = await connectClient(played.server);
    await untilCut(
      connection,
      rounds(10_000, () => frame),
    );
  });

  test('gets no further stream once its answers take too much memory', async () => {
    const megabyte = pattern(1024 * 1024);
    played.answer = (request, response) => sendNow(request, response, text, megabyte);
    const connection = await connectClient(played.server, [[settingId.initialWindowSize, 0]]);
    const most = limits.http2SessionMegabytesMax + 1; // the one that goes beyond it, too
    connection.write(rounds(most, (at) => get(idOf(at))));
    expect(resets(await connection.untilPong())).toEqual([]);
    connection.write(get(idOf(most)), get(idOf(most + 1)));
    expect(resets(await connection.untilPong())).toEqual([
      [idOf(most), enhanceYourCalm],
      [idOf(most + 1), enhanceYourCalm],
    ]);
    connection.write(resetStream(1, 8), resetStream(3, 8), get(idOf(most + 2)));
    connection.write(windowUpdate(idOf(most + 2), megabyte.length));
    connection.write(windowUpdate(0, megabyte.length));
    expect((await answerOf(connection, idOf(most + 2))).body.length).toBe(megabyte.length);
    connection.socket.destroy();
  });

  test('and leaves is forgotten with all that waited for it', async () => {
    let stream: Http2Stream | undefined;
    const errors: unknown[] = [];
    played.answer = (request, response) => {
      stream = streamOf(request);
      for (let count = 0; count < 3; count++) {
        response.write(pattern(50_000), (error) => errors.push(error?.message));
      }
    };
    const connection = await connectClient(played.server, [[settingId.initialWindowSize, 60_000]]);
    connection.write(get(1));
    await connection.untilPong();
    expect(stream?.session.unsentBytes).toBe(90_000);
    connection.socket.destroy();
    while (stream?.isClosed !== true) await nextTurn();
    expect([stream.session.unsentBytes, stream.unsentBytes]).toEqual([0, 0]);
    expect(errors).toEqual([undefined, 'the stream was cut', 'the stream was cut']);
    stream.write(pattern(1), (error) => errors.push(error?.message));
    stream.respond(200, {});
    stream.end(pattern(1));
    expect([errors.at(-1), stream.session.unsentBytes]).toEqual(['the stream has ended', 0]);
  });
});
