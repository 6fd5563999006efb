// How a connection ends: GOAWAY in two steps, the streams that are open, and clients that keep the
// connection until they are sure, as those written in Go do: by frames, since Node's own client
// goes at once.
import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { limits } from '../../base/limits.ts';
import { frameFlag, frameType, goAway, http2Code, newFrame, preface } from '../../http2/frames.ts';
import {
  resetStream,
  settingId,
  settingsFrame,
  uint31Max,
  windowUpdate,
} from '../../http2/frames.ts';
import { dataFrame, headersFrame, RawConnection } from '../../http2/testing/raw-connection.ts';
import type { Frame } from '../../http2/testing/raw-connection.ts';
import { sendNow } from '../respond.ts';
import { eventually, startTestServer } from '../testing/test-server.ts';
import { answerOf, block, connectClient, connectSocket, echo } from './testing/played-client.ts';
import { farewells, get, headBlock, nextTurn, pattern } from './testing/played-client.ts';
import { post, resets, playedServer, streamOf, text } from './testing/played-client.ts';
import type { Http2Stream, StreamSession } from './stream.ts';

const { endStream } = frameFlag;
const nothing = Buffer.alloc(0);
const { noError, refusedStream } = http2Code;

const played = playedServer();

const pong = ({ payload }: Frame): Buffer =>
  newFrame({ type: frameType.ping, flags: frameFlag.ack }, payload);

/** With stream 1 open, whose body is still to come. */
async function openOne(): Promise<{ connection: RawConnection; session: StreamSession }> {
  let session: StreamSession | undefined;
  played.answer = (request, response, next) => {
    session = streamOf(request).session;
    return echo(request, response, next);
  };
  const connection = await connectClient(played.server);
  connection.write(post(1));
  await connection.untilPong();
  if (session === undefined) throw new Error('no request has come');
  return { connection, session };
}

/** Until the server has named its last stream. */
async function announced(connection: RawConnection, session: StreamSession): Promise<void> {
  session.announceEnd();
  await connection.next(frameType.goAway);
  connection.write(pong(await connection.next(frameType.ping)));
  await connection.next(frameType.goAway);
}

const payloadOf = (frame: Buffer): Buffer => frame.subarray(9);

describe('the announcement of an end', () => {
  test('refuses nothing at first, and what comes after its ping was answered', async () => {
    const { connection, session } = await openOne();
    session.announceEnd();
    session.announceEnd();
    const first = await connection.next(frameType.goAway);
    expect(first.payload).toEqual(payloadOf(goAway(uint31Max, noError)));
    const asked = await connection.next(frameType.ping);
    expect(asked.flags).toBe(0);
    connection.write(get(3));
    expect((await answerOf(connection, 3)).status).toBe('200');
    connection.write(get(5), pong(asked), get(7));
    const frames = await connection.untilPong();
    const second = frames.filter(({ type }) => type === frameType.goAway);
    expect(second.map(({ payload }) => payload)).toEqual([payloadOf(goAway(5, noError))]);
    expect(resets(frames)).toEqual([[7, refusedStream]]);
    session.announceEnd();
    connection.write(dataFrame(1, pattern(3), endStream));
    expect((await answerOf(connection, 1)).body).toBe('abc');
    expect(await connection.untilPong()).toEqual([]);
    connection.socket.destroy();
  });

  test('keeps the table of the client in step over what is refused', async () => {
    const { connection, session } = await openOne();
    await announced(connection, session);
    const kept = block(['x', 'kept']);
    kept[0] = 0x40;
    connection.write(
      headersFrame(3, Buffer.concat([headBlock('POST'), kept])),
      windowUpdate(3, 7),
      dataFrame(3, pattern(5)),
      headersFrame(1, Buffer.of(0xbe), endStream), // which is the field of stream 3
      resetStream(3, 8),
    );
    const frames = await connection.untilPong();
    expect(resets(frames)).toEqual([[3, refusedStream]]);
    expect(frames.map(({ type, streamId }) => [type, streamId])).toContainEqual([
      frameType.headers,
      1,
    ]);
    connection.socket.destroy();
  });

  test('goes on to the end itself where nothing is open', async () => {
    const { connection, session } = await openOne();
    await announced(connection, session);
    session.close();
    connection.write(dataFrame(1, nothing, endStream));
    expect((await answerOf(connection, 1)).status).toBe('200');
    expect(await farewells(connection)).toEqual([]); // it has been told
  });
});

describe('the end', () => {
  test('waits for the stream that is open, and names the last one', async () => {
    const { connection, session } = await openOne();
    session.close();
    session.close();
    connection.write(get(3), dataFrame(1, pattern(3)));
    const frames = await connection.untilPong();
    expect(resets(frames)).toEqual([[3, refusedStream]]);
    expect(frames.find(({ type }) => type === frameType.goAway)?.payload).toEqual(
      payloadOf(goAway(1, noError)),
    );
    connection.write(dataFrame(1, nothing, endStream));
    expect((await answerOf(connection, 1)).body).toBe('abc');
    expect(await connection.frame()).toBeUndefined();
  });

  test('comes between the two steps of the announcement, too', async () => {
    const { connection, session } = await openOne();
    session.announceEnd();
    session.close();
    const asked = await connection.next(frameType.ping);
    connection.write(pong(asked), dataFrame(1, nothing, endStream));
    expect(await farewells(connection)).toEqual([{ lastId: 1, code: noError }]);
  });

  test('follows a stream that its client resets', async () => {
    const { connection, session } = await openOne();
    session.close();
    connection.write(resetStream(1, 8));
    expect(await farewells(connection)).toEqual([{ lastId: 1, code: noError }]);
  });

  test('cuts a client that does not close its side, some time later', async () => {
    let session: StreamSession | undefined;
    played.answer = (request, response) => {
      session = streamOf(request).session;
      sendNow(request, response, text, pattern(3));
    };
    const socket = await connectSocket(played.server, { allowHalfOpen: true });
    const connection = new RawConnection(socket, { ofClient: false });
    connection.write(preface, settingsFrame([]), get(1));
    await answerOf(connection, 1);
    session?.close();
    await once(socket, 'end');
    expect([session?.socket.destroyed, socket.destroyed]).toEqual([false, false]);
    connection.write(get(3), pattern(100)); // nobody minds
    await eventually(() => session?.socket.destroyed === true);
    socket.destroy();
  });
});

describe('the end for a client that has much to read before', () => {
  /** It reads nothing, and neither side's buffers take more; the streams that are not sent end. */
  async function blocked(): Promise<{ connection: RawConnection; streams: Http2Stream[] }> {
    const streams: Http2Stream[] = [];
    played.answer = (request, response) => {
      streams.push(streamOf(request));
      sendNow(request, response, text, pattern(streams.length % 2 === 0 ? 200_000 : 16_000));
    };
    const connection = await connectClient(played.server, [
      [settingId.initialWindowSize, 1_000_000],
    ]);
    connection.socket.pause();
    const ids = Array.from({ length: 200 }, (_, at) => 2 * at + 1);
    connection.write(windowUpdate(0, 100_000_000), ...ids.map((id) => get(id)));
    await eventually(() => streams.length === ids.length);
    const unsent = (): Http2Stream[] => streams.filter(({ isSent }) => !isSent);
    let before = -1;
    while (before !== unsent().length) {
      before = unsent().length;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect([before > 0, before < ids.length]).toEqual([true, true]);
    streams[0]?.session.close();
    connection.write(...unsent().map(({ id }) => resetStream(id, 8)));
    await eventually(() => streams.every(({ isClosed }) => isClosed));
    return { connection, streams };
  }

  test('is told', async () => {
    const { connection, streams } = await blocked();
    connection.socket.resume();
    const lastId = streams.at(-1)?.id;
    expect(await farewells(connection)).toEqual([{ lastId, code: noError }]);
  });

  test('cuts nothing that is on its way', async () => {
    const { connection, streams } = await blocked();
    await new Promise((resolve) => setTimeout(resolve, 1.5 * limits.http2LingerMs));
    connection.socket.resume();
    const whole: number[] = [];
    for (;;) {
      const frame = await connection.frame();
      if (frame === undefined) break;
      if (frame.type === frameType.data && frame.flags === endStream) whole.push(frame.streamId);
    }
    const sent = streams.filter(({ isSent }) => isSent).map(({ id }) => id);
    expect(whole.sort((one, other) => one - other)).toEqual(sent);
  });
});

describe('a drain', () => {
  test('lets a client that waits after GOAWAY go at once', async () => {
    await using server = await startTestServer({ filters: [echo] });
    const connection = await connectClient(server);
    connection.write(get(1));
    await answerOf(connection, 1);
    const draining = server.running.drain({ delayMs: 0, graceMs: 600_000 });
    expect((await farewells(connection)).at(-1)).toEqual({ lastId: 1, code: noError });
    await draining;
  });

  test('serves a request that crosses GOAWAY', async () => {
    await using server = await startTestServer({ filters: [echo] });
    const connection = await connectClient(server);
    connection.write(get(1));
    await answerOf(connection, 1);
    const draining = server.running.drain({ delayMs: 100, graceMs: 600_000 });
    connection.write(get(3));
    expect((await answerOf(connection, 3)).status).toBe('200');
    expect((await farewells(connection)).at(-1)).toEqual({ lastId: 3, code: noError });
    await draining;
  });
});

test('the end of a client that was told to go is seen', async () => {
  await using server = await startTestServer({ filters: [echo], goawayChance: 1 });
  const connection = await connectClient(server);
  connection.write(get(1));
  await connection.next(frameType.goAway);
  await answerOf(connection, 1);
  connection.socket.end();
  while (!connection.socket.destroyed) await nextTurn();
});
