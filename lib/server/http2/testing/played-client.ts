// A client of a test server that a test plays frame by frame, and what it says and reads.
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { frameFlag, frameType, preface, settingsFrame } from '../../../http2/frames.ts';
import { encodeField, FieldDecoder } from '../../../http2/hpack.ts';
import type { Fields } from '../../../http2/hpack.ts';
import { dataFrame, headersFrame, RawConnection } from '../../../http2/testing/raw-connection.ts';
import type { Frame } from '../../../http2/testing/raw-connection.ts';
import { readBody } from '../../body.ts';
import type { Filter, HttpRequest } from '../../request-context.ts';
import { sendNow } from '../../respond.ts';
import { startTestServer } from '../../testing/test-server.ts';
import type { TestServer } from '../../testing/test-server.ts';
import type { Http2Stream } from '../stream.ts';

const { endStream } = frameFlag;

type Settings = readonly (readonly [id: number, value: number])[];

/** A server whose requests are answered by what the running test says. */
export interface PlayedServer {
  readonly server: TestServer;
  answer: Filter;
}

/** Of a whole test file: runs from before its tests until after them; each finds `echo`. */
export function playedServer(): PlayedServer {
  let server: TestServer | undefined;
  const played = {
    answer: echo,
    get server(): TestServer {
      if (server === undefined) throw new Error('no test runs');
      return server;
    },
  };
  beforeAll(async () => {
    const answer: Filter = (request, response, next) => played.answer(request, response, next);
    server = await startTestServer({ filters: [answer] });
  });
  afterEach(() => {
    played.answer = echo;
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  return played;
}

export const text = { status: 200, contentType: 'text/plain' };

export const echo: Filter = async (request, response) => {
  sendNow(request, response, text, await readBody(request, request.context.signal));
};

/** Answers with as many bytes as its path names. */
export const counted: Filter = (request, response) => {
  sendNow(request, response, text, pattern(Number(request.url?.slice(1))));
};

export const pattern = (length: number): Buffer =>
  Buffer.alloc(length, 'abcdefghijklmnopqrstuvwxyz0123456789-');

export function streamOf(request: HttpRequest): Http2Stream {
  if (!('stream' in request)) throw new Error('no request of HTTP/2');
  return request.stream;
}

/** Over TLS, nothing said. */
export async function connectSocket(
  { port, ca }: TestServer,
  options: { readonly allowHalfOpen?: boolean } = {},
): Promise<TLSSocket> {
  const host = '127.0.0.1';
  const socket = connect({ host, port, ca, ALPNProtocols: ['h2'], ...options });
  await once(socket, 'secureConnect');
  return socket;
}

/** Greeted by both sides; what the server has said until then is read. */
export async function connectClient(
  server: TestServer,
  settings: Settings = [],
): Promise<RawConnection> {
  const connection = new RawConnection(await connectSocket(server), { ofClient: false });
  connection.write(preface, settingsFrame(settings));
  await connection.untilPong();
  return connection;
}

export const block = (...fields: readonly (readonly [name: string, value: string])[]): Buffer =>
  Buffer.concat(fields.map(([name, value]) => encodeField(name, value)));

type Extra = Readonly<Record<string, string>>;

export const headBlock = (method: string, path = '/', fields: Extra = {}): Buffer =>
  block([':method', method], [':scheme', 'https'], [':path', path], ...Object.entries(fields));

/** A whole request. */
export const get = (streamId: number, path = '/', fields: Extra = {}): Buffer =>
  headersFrame(streamId, headBlock('GET', path, fields), endStream);

/** The head of one whose body follows. */
export const post = (streamId: number, fields: Extra = {}): Buffer =>
  headersFrame(streamId, headBlock('POST', '/', fields));

/** So many bytes in frames as large as they may be. */
export function contents(streamId: number, bytes: number): Buffer {
  const content = pattern(bytes);
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes; at += 16_384) {
    frames.push(dataFrame(streamId, content.subarray(at, at + 16_384)));
  }
  return Buffer.concat(frames);
}

/** The fields of a block, of a client that keeps no table. */
export function fieldsOf(bytes: Buffer): [name: string, value: string][] {
  const make = (fields: Fields = []): [string, string][] =>
    fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1] ?? '']] : []));
  const decoder = new FieldDecoder({ listBytesMax: 1_000_000, tableBytesMax: 0, make });
  return decoder.decode(bytes, 0, bytes.length);
}

interface PlayedAnswer {
  readonly status: string;
  readonly body: string;
  /** Lengths of the DATA frames. */
  readonly parts: readonly number[];
}

/** The next frames up to the end of the stream; those of others are passed over. */
export async function answerOf(connection: RawConnection, streamId: number): Promise<PlayedAnswer> {
  let status = '';
  const parts: Buffer[] = [];
  for (;;) {
    const frame = await connection.frame();
    if (frame === undefined) throw new Error(`closed before the end of ${String(streamId)}`);
    if (frame.streamId !== streamId) continue;
    if (frame.type === frameType.resetStream) {
      throw new Error(`reset: ${String(frame.payload.readUInt32BE())}`);
    }
    if (frame.type === frameType.headers) status = fieldsOf(frame.payload)[0]?.[1] ?? '';
    if (frame.type === frameType.data) parts.push(frame.payload);
    const isLast = frame.type === frameType.headers || frame.type === frameType.data;
    if (isLast && (frame.flags & endStream) !== 0) break;
  }
  const body = Buffer.concat(parts).toString();
  return { status, body, parts: parts.map(({ length }) => length) };
}

const ofType =
  (type: number) =>
  (frame: Frame): boolean =>
    frame.type === type;
type Pair = readonly [streamId: number, value: number];

/** The windows that were opened. */
export const updates = (frames: readonly Frame[]): Pair[] =>
  frames
    .filter(ofType(frameType.windowUpdate))
    .map(({ streamId, payload }) => [streamId, payload.readUInt32BE()]);

/** The streams that were reset, and why. */
export const resets = (frames: readonly Frame[]): Pair[] =>
  frames
    .filter(ofType(frameType.resetStream))
    .map(({ streamId, payload }) => [streamId, payload.readUInt32BE()]);

/** Lengths of contents, in order. */
export const sent = (frames: readonly Frame[]): Pair[] =>
  frames.filter(ofType(frameType.data)).map(({ streamId, payload }) => [streamId, payload.length]);

interface Farewell {
  readonly lastId: number;
  readonly code: number;
}

/**
 * Waits until the server has closed the connection; every GOAWAY that it has sent until then.
 * @throws Error where it answers stream `never`
 */
export async function farewells(connection: RawConnection, never = -1): Promise<Farewell[]> {
  const all: Farewell[] = [];
  for (;;) {
    const frame = await connection.frame();
    if (frame === undefined) return all;
    if (frame.streamId === never) throw new Error('the connection goes on');
    if (frame.type !== frameType.goAway) continue;
    all.push({ lastId: frame.payload.readUInt32BE(), code: frame.payload.readUInt32BE(4) });
  }
}

export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
