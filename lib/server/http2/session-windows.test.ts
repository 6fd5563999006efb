// Flow control (RFC 9113, section 5.2) with a client that is played frame by frame: answers stop at
// its windows, bodies at those of the server.
import { describe, expect, test } from '@jest/globals';
import { frameFlag, http2Code, resetStream, settingId } from '../../http2/frames.ts';
import { settingsFrame, windowUpdate } from '../../http2/frames.ts';
import { dataFrame } from '../../http2/testing/raw-connection.ts';
import type { RawConnection } from '../../http2/testing/raw-connection.ts';
import type { Filter, HttpResponse } from '../request-context.ts';
import { sendNow } from '../respond.ts';
import { answerOf, connectClient, contents, counted, farewells } from './testing/played-client.ts';
import { get, pattern, post, resets, sent, playedServer } from './testing/played-client.ts';
import { streamOf, text, updates } from './testing/played-client.ts';
import type { Http2Stream } from './stream.ts';

const { endStream } = frameFlag;
const { flowControlError } = http2Code;

const played = playedServer();

const streamWindow = (bytes: number): Buffer =>
  settingsFrame([[settingId.initialWindowSize, bytes]]);

describe('an answer', () => {
  const connect = (bytes: number): Promise<RawConnection> => {
    played.answer = counted;
    return connectClient(played.server, [[settingId.initialWindowSize, bytes]]);
  };
  const sentOf = async (connection: RawConnection, ...frames: Buffer[]) => {
    connection.write(...frames);
    return sent(await connection.untilPong());
  };

  test('stops at the window of its stream and goes on where it stopped', async () => {
    const connection = await connect(10);
    connection.write(get(1, '/26'));
    const first = await connection.untilPong();
    expect(sent(first)).toEqual([[1, 10]]);
    expect(await sentOf(connection, windowUpdate(1, 5))).toEqual([[1, 5]]);
    expect(await sentOf(connection, windowUpdate(0, 5))).toEqual([]);
    connection.write(windowUpdate(1, 100));
    expect(await answerOf(connection, 1)).toMatchObject({ body: 'pqrstuvwxyz', parts: [11] });
    connection.socket.destroy();
  });

  test('without a window is a head alone, whose stream may be reset', async () => {
    const connection = await connect(0);
    expect(await sentOf(connection, get(1, '/5'), get(3, '/0'))).toEqual([]);
    expect(await sentOf(connection, resetStream(1, 8), windowUpdate(1, 5))).toEqual([]);
    connection.write(get(5, '/5'), windowUpdate(5, 5));
    expect(await answerOf(connection, 5)).toMatchObject({ parts: [5] });
    connection.socket.destroy();
  });

  test('stops at the window of the connection, which all share', async () => {
    const connection = await connect(1_000_000);
    const first = await sentOf(connection, get(1, '/60000'), get(3, '/60000'));
    const bytesOf = (id: number, of: typeof first): number =>
      of.reduce((sum, [streamId, bytes]) => (streamId === id ? sum + bytes : sum), 0);
    expect(bytesOf(1, first) + bytesOf(3, first)).toBe(65_535);
    expect(await sentOf(connection, windowUpdate(1, 100_000))).toEqual([]);
    const second = await sentOf(connection, windowUpdate(0, 100));
    expect(bytesOf(1, second) + bytesOf(3, second)).toBe(100);
    const third = await sentOf(connection, windowUpdate(0, 100_000));
    for (const id of [1, 3]) {
      expect(bytesOf(id, first) + bytesOf(id, second) + bytesOf(id, third)).toBe(60_000);
    }
    connection.socket.destroy();
  });

  test('that is reset while it waits holds nobody up', async () => {
    const connection = await connect(1_000_000);
    await sentOf(connection, get(1, '/65535'));
    expect(await sentOf(connection, get(3, '/10'), get(5, '/20'))).toEqual([]);
    expect(await sentOf(connection, resetStream(3, 8), windowUpdate(0, 100))).toEqual([[5, 20]]);
    connection.socket.destroy();
  });

  test('follows the setting of its window, also below 0', async () => {
    const connection = await connect(10);
    expect(await sentOf(connection, get(1, '/30'))).toEqual([[1, 10]]);
    expect(await sentOf(connection, streamWindow(3))).toEqual([]); // -7
    expect(await sentOf(connection, windowUpdate(1, 7))).toEqual([]);
    expect(await sentOf(connection, get(3, '/30'))).toEqual([[3, 3]]);
    expect(await sentOf(connection, windowUpdate(1, 1))).toEqual([[1, 1]]);
    // The one that has had its turn comes last.
    expect(await sentOf(connection, streamWindow(5))).toEqual([
      [3, 2],
      [1, 2],
    ]);
    expect(await sentOf(connection, streamWindow(0), streamWindow(1_000))).toEqual([
      [3, 25],
      [1, 17],
    ]);
    connection.socket.destroy();
  });

  test('that goes on with nothing while its window is below 0 waits with the rest', async () => {
    let response: HttpResponse | undefined;
    played.answer = (_request, given) => {
      response = given;
      given.write(pattern(10));
    };
    const connection = await connectClient(played.server, [[settingId.initialWindowSize, 10]]);
    expect(await sentOf(connection, get(1))).toEqual([[1, 10]]);
    connection.write(streamWindow(3));
    await connection.untilPong();
    response?.write(Buffer.alloc(0));
    response?.end(pattern(4));
    const frames = await connection.untilPong();
    expect(frames.filter(({ payload }) => payload.length > 0)).toEqual([]);
    connection.write(windowUpdate(1, 11));
    expect(await answerOf(connection, 1)).toMatchObject({ body: 'abcd' });
    connection.socket.destroy();
  });

  test('takes turns with others, a frame each', async () => {
    const waiting: (() => void)[] = [];
    played.answer = (request, response) => {
      waiting.push(() => sendNow(request, response, text, pattern(3 * 16_384)));
      if (waiting.length === 3) for (const answer of waiting) answer();
    };
    const connection = await connectClient(played.server, [
      [settingId.initialWindowSize, 1_000_000],
    ]);
    const order = await sentOf(connection, windowUpdate(0, 1_000_000), get(1), get(3), get(5));
    expect(order.map(([streamId]) => streamId)).toEqual([1, 3, 5, 1, 3, 5, 1, 3, 5]);
    connection.socket.destroy();
  });

  test('whose end ends another one holds up nobody', async () => {
    const waiting: (() => Http2Stream)[] = [];
    played.answer = (request, response) => {
      waiting.push(() => {
        sendNow(request, response, text, pattern(10));
        return streamOf(request);
      });
      if (waiting.length < 3) return;
      const [first, second] = waiting.map((answer) => answer());
      first?.once('close', () => second?.session.reset(second, http2Code.cancel));
    };
    const connection = await connectClient(played.server);
    expect(await sentOf(connection, get(1), get(3), get(5))).toEqual([
      [1, 10],
      [5, 10],
    ]);
    connection.socket.destroy();
  });

  test('in frames of 16 KiB, whatever the client would take', async () => {
    played.answer = counted;
    const connection = await connectClient(played.server, [[settingId.frameSizeMax, 1_000_000]]);
    expect(await sentOf(connection, get(1, '/40000'))).toEqual([
      [1, 16_384],
      [1, 16_384],
      [1, 7_232],
    ]);
    connection.socket.destroy();
  });

  test('is written no faster than it is taken', async () => {
    let written = 0;
    let isStalled = false;
    played.answer = async (_request, response) => {
      for (; written < 20; written++) {
        if (!response.write(pattern(50_000))) {
          isStalled = true;
          await new Promise<void>((resolve) => response.once('drain', resolve));
          isStalled = false;
        }
      }
      response.end();
    };
    const connection = await connectClient(played.server, [
      [settingId.initialWindowSize, 1_000_000],
    ]);
    await sentOf(connection, get(1));
    expect([isStalled, written < 4]).toEqual([true, true]);
    connection.write(windowUpdate(0, 1_000_000));
    const { parts } = await answerOf(connection, 1);
    expect(parts.reduce((sum, bytes) => sum + bytes, 0)).toBe(1_000_000 - 65_535);
    connection.socket.destroy();
  });
});

describe('a body', () => {
  const window = 256 * 1024;
  const streams = new Map<number, Http2Stream>();
  /** Nobody reads it until a test says so. */
  const unread: Filter = (request) => {
    const stream = streamOf(request);
    streams.set(stream.id, stream);
  };
  const connect = (): Promise<RawConnection> => {
    streams.clear();
    played.answer = unread;
    return connectClient(played.server);
  };
  const updatesOf = async (connection: RawConnection, ...frames: Buffer[]) => {
    connection.write(...frames);
    return updates(await connection.untilPong());
  };
  const byStream = (pairs: readonly (readonly [number, number])[], id: number): number[] =>
    pairs.flatMap(([streamId, bytes]) => (streamId === id ? [bytes] : []));

  test('that is read opens its window again when half of it is used', async () => {
    const connection = await connect();
    await updatesOf(connection, post(1));
    streams.get(1)?.resume();
    expect(await updatesOf(connection, contents(1, window / 2 - 16_384))).toEqual([]);
    expect(await updatesOf(connection, contents(1, 16_384))).toEqual([[1, window / 2]]);
    const next = await updatesOf(connection, contents(1, window), contents(1, window / 2));
    expect(byStream(next, 1)).toEqual([window / 2, window / 2, window / 2]);
    expect(byStream(next, 0)).toEqual([2 * window]);
    connection.socket.destroy();
  });

  test('that nobody reads keeps both windows closed until somebody does', async () => {
    const connection = await connect();
    const frames = [1, 3, 5].flatMap((id) => [post(id), contents(id, window)]);
    expect(await updatesOf(connection, ...frames)).toEqual([]);
    for (const id of [1, 3]) streams.get(id)?.resume();
    const opened = await updatesOf(connection);
    expect([0, 1, 3, 5].map((id) => byStream(opened, id))).toEqual([
      [2 * window],
      [window / 2, window / 2],
      [window / 2, window / 2],
      [],
    ]);
    connection.socket.destroy();
  });

  test('is given in order, as far as it is taken', async () => {
    const connection = await connect();
    await updatesOf(
      connection,
      post(1),
      dataFrame(1, Buffer.from('ab')),
      dataFrame(1, Buffer.from('c')),
    );
    const stream = streams.get(1);
    const told: string[] = [];
    stream?.on('data', (piece: Buffer) => {
      told.push(piece.toString());
      stream.pause();
    });
    stream?.on('end', () => told.push('end'));
    await updatesOf(connection, dataFrame(1, Buffer.from('d'), endStream));
    expect(told).toEqual(['ab']);
    for (const expected of ['c', 'd', 'end']) {
      stream?.resume();
      stream?.resume();
      await updatesOf(connection);
      expect(told.at(-1)).toBe(expected);
    }
    stream?.resume();
    await updatesOf(connection);
    expect(told).toEqual(['ab', 'c', 'd', 'end']);
    connection.socket.destroy();
  });

  test('whose stream is reset gives what nobody read back to the connection', async () => {
    const connection = await connect();
    const frames = [1, 3].flatMap((id) => [post(id), contents(id, window)]);
    expect(await updatesOf(connection, ...frames)).toEqual([]);
    expect(await updatesOf(connection, resetStream(1, 8), resetStream(3, 8))).toEqual([
      [0, 2 * window],
    ]);
    connection.socket.destroy();
  });

  test('whose stream the server has reset counts for the connection', async () => {
    const connection = await connect();
    await updatesOf(connection, post(1));
    streams.get(1)?.close(http2Code.cancel);
    expect(await updatesOf(connection, contents(1, 2 * window))).toEqual([[0, 2 * window]]);
    connection.socket.destroy();
  });

  test('has windows that count padding', async () => {
    const connection = await connect();
    await updatesOf(connection, post(1));
    streams.get(1)?.resume();
    const frame = dataFrame(1, Buffer.concat([Buffer.of(255), Buffer.alloc(255)]), 0x08);
    const one = dataFrame(1, Buffer.concat([Buffer.of(254), Buffer.alloc(255)]), 0x08);
    expect(await updatesOf(connection, ...Array<Buffer>(window / 512 - 1).fill(one))).toEqual([]);
    expect(await updatesOf(connection, frame)).toEqual([[1, window / 2]]);
    connection.socket.destroy();
  });

  test('above the window of its stream ends the stream alone', async () => {
    const connection = await connect();
    connection.write(post(1), contents(1, window), dataFrame(1, pattern(1)), post(3));
    expect(resets(await connection.untilPong())).toEqual([[1, flowControlError]]);
    expect([streams.get(1)?.isClosed, streams.get(3)?.isClosed]).toEqual([true, false]);
    expect(await updatesOf(connection, contents(3, window))).toEqual([]);
    streams.get(3)?.close(http2Code.cancel);
    expect(await updatesOf(connection)).toEqual([[0, 2 * window + 1]]);
    connection.socket.destroy();
  });

  test('above the window of the connection ends the connection', async () => {
    const connection = await connect();
    const frames = [1, 3, 5, 7].flatMap((id) => [post(id), contents(id, window)]);
    expect(await updatesOf(connection, ...frames, post(9))).toEqual([]);
    connection.write(dataFrame(9, pattern(1)));
    expect(await farewells(connection)).toEqual([{ lastId: 9, code: flowControlError }]);
  });
});
