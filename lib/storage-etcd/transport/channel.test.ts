// Both transports, on members that do what a healthy etcd does not.
import { constants, createServer } from 'node:http2';
import type { Http2Server, ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import { connect, createServer as createTcpServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { status as grpcStatus } from '@grpc/grpc-js';
import { EtcdError, effectOf } from '../etcd-error.ts';
import type { Method } from '../rpc.ts';
import type { Channel } from './channel.ts';
import { GrpcJsChannel } from './grpc-js-channel.ts';
import { Http2Channel } from './http2-channel.ts';
import { newMessage } from './testing/messages.ts';

const echo: Method<string, string> = {
  path: '/test.Echo/Echo',
  name: 'Echo/Echo',
  encode: (text) => Buffer.from(text),
  decode: (bytes) => {
    if (bytes[0] === 0xff) throw new RangeError('no text');
    return bytes.toString('utf8');
  },
};

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Member {
  readonly server: Http2Server;
  readonly sessions: Set<ServerHttp2Session>;
  readonly target: string;
}

async function listening(server: Server | Http2Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

type Play = (stream: ServerHttp2Stream, request: () => Promise<Buffer>, index: number) => void;

async function member(play: Play): Promise<Member> {
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  let index = 0;
  server.on('stream', (stream) => {
    stream.on('error', () => undefined);
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    const whole = new Promise<Buffer>((resolve) => {
      stream.on('end', () => {
        resolve(Buffer.concat(chunks));
      });
    });
    play(stream, () => whole, index++);
  });
  closing.push(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { server, sessions, target: await listening(server) };
}

const answerHeaders = { ':status': 200, 'content-type': 'application/grpc' };
/** Answers with `body`, cut in chunks, and a status. */
function answer(
  stream: ServerHttp2Stream,
  body: readonly Buffer[],
  trailers: Record<string, string> = { 'grpc-status': '0' },
): void {
  stream.respond(answerHeaders, { waitForTrailers: true });
  stream.on('wantTrailers', () => {
    stream.sendTrailers(trailers);
  });
  for (const chunk of body) stream.write(chunk);
  stream.end();
}
const answers =
  (...body: readonly Buffer[]): Play =>
  (stream) => {
    answer(stream, body);
  };
const saysBack: Play = (stream, request) => {
  void request().then((body) => {
    answer(stream, [body]);
  });
};

const soon = (): number => Date.now() + 20_000;

describe.each([
  ['http2', Http2Channel],
  ['grpc-js', GrpcJsChannel],
])('%s', (_name, Transport) => {
  let lostCount = 0;
  function channelTo(target: string, keepaliveMs = 10_000): Channel {
    lostCount = 0;
    const onLost = (): void => {
      lostCount++;
    };
    const channel = new Transport({ target, secrets: undefined, keepaliveMs, onLost });
    closing.push(() => {
      channel.close();
    });
    return channel;
  }
  async function failure(play: Play): Promise<EtcdError> {
    const channel = channelTo((await member(play)).target);
    expect(await channel.connect(soon())).toBe(true);
    const error: unknown = await channel
      .call(echo, 'x', { deadlineMs: soon() })
      .catch((reason: unknown) => reason);
    if (!(error instanceof EtcdError)) throw new Error(`it ended with ${String(error)}`);
    return error;
  }

  test('many calls at once, empty and larger than the windows, each with its answer', async () => {
    const channel = channelTo((await member(saysBack)).target);
    expect(await channel.connect(soon())).toBe(true);
    const texts = Array.from({ length: 300 }, (_, index) => `${String(index)} `.repeat(index));
    texts.push('', 'w'.repeat(20 * 1024 * 1024));
    const answers = await Promise.all(
      texts.map((text) => channel.call(echo, text, { deadlineMs: soon() })),
    );
    expect(answers.map((text) => text.length)).toEqual(texts.map((text) => text.length));
    expect(answers.every((text, index) => text === texts[index])).toBe(true);
  });

  test('an answer in pieces of a byte', async () => {
    const bytes = newMessage(Buffer.from('piece by piece'));
    const pieces = Array.from(bytes, (byte) => Buffer.from([byte]));
    const channel = channelTo((await member(answers(...pieces))).target);
    expect(await channel.connect(soon())).toBe(true);
    expect(await channel.call(echo, 'x', { deadlineMs: soon() })).toBe('piece by piece');
  });

  test.each<[string, Play, number, string | RegExp]>([
    [
      'a refusal in the headers',
      (stream) => {
        stream.respond(
          { ...answerHeaders, 'grpc-status': '9', 'grpc-message': 'a%25b %C3%A4' },
          { endStream: true },
        );
      },
      grpcStatus.FAILED_PRECONDITION,
      'a%b ä',
    ],
    [
      'a refusal after the answer',
      (stream) => {
        answer(stream, [newMessage(Buffer.from('x'))], {
          'grpc-status': '14',
          'grpc-message': 'etcdserver: no leader',
        });
      },
      grpcStatus.UNAVAILABLE,
      'etcdserver: no leader',
    ],
    [
      'something that is no gRPC',
      (stream) => {
        stream.respond({ ':status': 503 });
        stream.end('overloaded');
      },
      grpcStatus.UNAVAILABLE,
      /503/,
    ],
    [
      'an answer above the limit',
      answers(Buffer.from([0, 0xff, 0xff, 0xff, 0xff])),
      grpcStatus.RESOURCE_EXHAUSTED,
      /received message larger than max/i,
    ],
    [
      'an answer that cannot be decoded',
      answers(newMessage(Buffer.from([0xff]))),
      grpcStatus.INTERNAL,
      /no text/,
    ],
    [
      'a reset',
      (stream) => {
        stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      },
      grpcStatus.INTERNAL,
      /./,
    ],
    [
      'a cut within the answer',
      (stream) => {
        stream.respond(answerHeaders);
        stream.write(Buffer.from([0, 0, 0, 0, 9, 1]), () => stream.session?.destroy());
      },
      grpcStatus.UNAVAILABLE,
      /./,
    ],
  ])('%s ends the call with its code', async (_claim, play, code, message) => {
    const error = await failure(play);
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
  });

  test('a call that is never answered ends at its deadline, and when it is aborted', async () => {
    const channel = channelTo((await member(() => undefined)).target);
    expect(await channel.connect(soon())).toBe(true);
    const late = channel.call(echo, 'x', { deadlineMs: Date.now() + 20 });
    await expect(late).rejects.toMatchObject({ code: grpcStatus.DEADLINE_EXCEEDED });
    const aborting = new AbortController();
    const aborted = channel.call(echo, 'x', { deadlineMs: soon(), signal: aborting.signal });
    aborting.abort(new Error('nobody waits'));
    await expect(aborted).rejects.toThrow('nobody waits');
  });

  test('a member that says good-bye answers what it has, and is connected to again', async () => {
    let answerIt = (): void => undefined;
    const { target, sessions } = await member((stream, request, index) => {
      if (index > 0) {
        saysBack(stream, request, index);
        return;
      }
      void request().then((body) => {
        answerIt = () => {
          answer(stream, [body]);
        };
        for (const session of sessions) session.goaway();
      });
    });
    const channel = channelTo(target);
    expect(await channel.connect(soon())).toBe(true);
    const pending = channel.call(echo, 'first', { deadlineMs: soon() });
    while (lostCount === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await channel.connect(soon())).toBe(true);
    expect(await channel.call(echo, 'second', { deadlineMs: soon() })).toBe('second');
    answerIt();
    expect(await pending).toBe('first');
  });

  test('a member that is gone: no connection, until it is back', async () => {
    const first = await member(saysBack);
    const channel = channelTo(first.target);
    expect(await channel.connect(soon())).toBe(true);
    for (const session of first.sessions) session.destroy();
    await new Promise((resolve) => first.server.close(resolve));
    while (lostCount === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await channel.connect(soon())).toBe(false);
    expect(await channel.connect(soon())).toBe(false);
    first.server.listen(Number(first.target.split(':')[1]), '127.0.0.1');
    while (!(await channel.connect(soon()))) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await channel.call(echo, 'again', { deadlineMs: soon() })).toBe('again');
    expect(lostCount).toBe(1);
  });

  test('a member that takes connections and says nothing is not connected to', async () => {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => sockets.push(socket));
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const channel = channelTo(await listening(server));
    expect(await channel.connect(Date.now() + 100)).toBe(false);
  });

  test('messages both ways, until the member ends', async () => {
    const { target } = await member((stream) => {
      stream.respond(answerHeaders, { waitForTrailers: true });
      stream.on('wantTrailers', () => {
        stream.sendTrailers({ 'grpc-status': '0' });
      });
      let size = 0;
      stream.on('data', (chunk: Buffer) => {
        stream.write(chunk);
        size += chunk.length;
        if (size > 15) stream.end();
      });
    });
    const channel = channelTo(target);
    expect(await channel.connect(soon())).toBe(true);
    const seen: string[] = [];
    const ended = await new Promise<unknown>((resolve) => {
      const stream = channel.open(echo, {
        message(text) {
          seen.push(text);
          if (text === 'one') stream.send('second');
        },
        ended: resolve,
      });
      stream.send('one');
    });
    expect(seen).toEqual(['one', 'second']);
    expect(ended).toBeUndefined();
  });

  test('a paused stream takes no more, and goes on where it was', async () => {
    const message = newMessage(Buffer.alloc(1024 * 1024, 'm'));
    let sentCount = 0;
    const { target } = await member((stream) => {
      stream.respond(answerHeaders);
      const more = (): void => {
        while (sentCount < 64 && !stream.destroyed) {
          sentCount++;
          if (!stream.write(message)) break;
        }
      };
      stream.on('drain', more);
      more();
    });
    const channel = channelTo(target);
    expect(await channel.connect(soon())).toBe(true);
    let count = 0;
    let whenAll = (): void => undefined;
    const all = new Promise<void>((resolve) => (whenAll = resolve));
    const stream = channel.open(echo, {
      message() {
        count++;
        if (count === 1) stream.pause();
        if (count === 64) whenAll();
      },
      ended: () => undefined,
    });
    while (count === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(stream.isPaused).toBe(true);
    expect(sentCount).toBeLessThan(64);
    stream.resume();
    await all;
    stream.cancel();
  });
});

const refuses: Play = (stream) => {
  stream.close(constants.NGHTTP2_REFUSED_STREAM);
};

test('http2: what the member refused before it began is known to be not begun', async () => {
  const { target } = await member(refuses);
  const channel = new Http2Channel({
    target,
    secrets: undefined,
    keepaliveMs: 10_000,
    onLost: () => undefined,
  });
  closing.push(() => {
    channel.close();
  });
  const notSent: unknown = await channel
    .call(echo, 'x', { deadlineMs: soon() })
    .catch((e: unknown) => e);
  expect(effectOf(notSent as EtcdError)).toBe('notStarted');
  await channel.connect(soon());
  const refused: unknown = await channel
    .call(echo, 'x', { deadlineMs: soon() })
    .catch((e: unknown) => e);
  expect(effectOf(refused as EtcdError)).toBe('notStarted');
});

test('http2: a member that answers no ping is lost, its calls end', async () => {
  // Between the two: what is stopped passes nothing on.
  const { target } = await member(() => undefined);
  const sockets: Socket[] = [];
  const proxy = createTcpServer((socket) => {
    const onward = connectTo(target);
    sockets.push(socket, onward);
    socket.on('error', () => undefined).pipe(onward);
    onward.on('error', () => undefined).pipe(socket);
  });
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    proxy.close();
  });
  let lostCount = 0;
  const channel = new Http2Channel({
    target: await listening(proxy),
    secrets: undefined,
    keepaliveMs: 20,
    onLost: () => {
      lostCount++;
    },
  });
  closing.push(() => {
    channel.close();
  });
  expect(await channel.connect(soon())).toBe(true);
  const pending = channel.call(echo, 'x', { deadlineMs: Date.now() + 60_000 });
  for (const socket of sockets) socket.unpipe().pause();
  await expect(pending).rejects.toMatchObject({ code: grpcStatus.UNAVAILABLE });
  while (lostCount === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(await channel.connect(soon())).toBe(true);
});

function connectTo(target: string): Socket {
  const [host = '', port] = target.split(':');
  return connect({ host, port: Number(port) });
}
