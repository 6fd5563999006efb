// Requests that two readers could take for different ones, byte by byte over TLS.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import tls from 'node:tls';
import { readBody } from './body.ts';
import type { Filter } from './request-context.ts';
import { sendNow } from './respond.ts';
import { frameFlag, frameType } from '../http2/frames.ts';
import { frame, getHeaders, preface } from './testing/http2-frames.ts';
import {
  connect2,
  connectRaw,
  eventually,
  request2,
  startTestServer,
} from './testing/test-server.ts';
import type { TestServer } from './testing/test-server.ts';

const { endHeaders, endStream } = frameFlag;

const text = { status: 200, contentType: 'text/plain' };
const seen: string[] = [];
const echo: Filter = async (request, response) => {
  const body = await readBody(request, request.context.signal);
  seen.push(`${request.method ?? ''} ${request.url ?? ''} ${body.toString()}`);
  sendNow(request, response, text, Buffer.from('handled'));
};
/** Answers without a look at the body, as a list does. */
const atOnce: Filter = (request, response) => {
  seen.push(`${request.method ?? ''} ${request.url ?? ''}`);
  sendNow(request, response, text, Buffer.from('handled'));
};
let server: TestServer;
let filter: Filter = echo;
beforeAll(async () => {
  const filters: Filter[] = [(request, response, next) => filter(request, response, next)];
  server = await startTestServer({ filters });
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  seen.length = 0;
  filter = echo;
});
const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';

/** All that is answered until the server closes the connection. */
async function until(bytes: string): Promise<string> {
  const raw = await connectRaw(server);
  raw.socket.write(bytes, 'latin1');
  return raw.closed;
}

const post = 'POST /x HTTP/1.1\r\nHost: a\r\n';
const chunked = '1\r\na\r\n0\r\n\r\n';
describe.each([
  ['a handler that reads the body', echo],
  ['a handler that does not', atOnce],
])('for %s', (_name, handler) => {
  beforeEach(() => void (filter = handler));

  test.each([
    ['gzip, chunked', `${post}Transfer-Encoding: gzip, chunked\r\n\r\n${chunked}`, 501],
    [
      'gzip and chunked in two headers',
      `${post}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
      501,
    ],
    ['gzip', `${post}Transfer-Encoding: gzip\r\n\r\n${chunked}`, 501],
    ['identity', `${post}Transfer-Encoding: identity\r\n\r\n${chunked}`, 501],
    ['another word', `${post}Transfer-Encoding: xchunked\r\n\r\n${chunked}`, 501],
    ['chunked with a parameter', `${post}Transfer-Encoding: chunked;q=1\r\n\r\n${chunked}`, 501],
    [
      'gzip, chunked of a GET',
      `GET /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n${chunked}`,
      501,
    ],
    // RFC 9112 §6.3: the end of such a body cannot be found.
    ['chunked, gzip', `${post}Transfer-Encoding: chunked, gzip\r\n\r\n${chunked}`, 501],
    ['chunked twice', `${post}Transfer-Encoding: chunked, chunked\r\n\r\n${chunked}`, 501],
    ['nothing', `${post}Transfer-Encoding:\r\n\r\n${chunked}`, 501],
    ['chunked after a vertical tab', `${post}Transfer-Encoding: \vchunked\r\n\r\n${chunked}`, 400],
    ['a folded chunked', `${post}Transfer-Encoding:\r\n chunked\r\n\r\n${chunked}`, 400],
    [
      'chunked in HTTP/1.0',
      `POST /x HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`,
      400,
    ],
    [
      'chunked after a length',
      `${post}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
    [
      'chunked before a length',
      `${post}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n`,
      400,
    ],
    ['two equal lengths', `${post}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`, 400],
    ['two other lengths', `${post}Content-Length: 3\r\nContent-Length: 30\r\n\r\nabc`, 400],
    ['a list of lengths', `${post}Content-Length: 3, 3\r\n\r\nabc`, 400],
    ['a folded length', `${post}Content-Length:\r\n 3\r\n\r\nabc`, 400],
  ])('%s ends the connection, and nothing after it is read', async (_coding, bytes, status) => {
    const received = await until(bytes + smuggled);
    expect(received).toMatch(
      new RegExp(`^HTTP/1\\.1 ${String(status)} [^]*\r\nAudit-Id: [^]*\r\nConnection: close\r\n`),
    );
    expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(seen).toEqual([]);
  });
});

test.each([['chunked'], ['CHUNKED'], [' \tchunked ']])(
  'the transfer coding %p is read',
  async (coding) => {
    const bytes = `${post}Connection: close\r\nTransfer-Encoding: ${coding}\r\n\r\n${chunked}`;
    expect(await until(bytes)).toMatch(/^HTTP\/1\.1 200 /);
    expect(seen).toEqual(['POST /x a']);
  },
);

describe('the host of an HTTP/1.1 request', () => {
  test.each([
    ['stands twice', 'GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n'],
    ['stands twice, the same', 'GET /x HTTP/1.1\r\nhost: a\r\nHOST: a\r\n'],
    [
      'stands twice, beside an absolute target',
      'GET https://a/x HTTP/1.1\r\nHost: a\r\nHost: b\r\n',
    ],
    ['is missing', 'GET /x HTTP/1.1\r\n'],
    ['holds a path', 'GET /x HTTP/1.1\r\nHost: a/b\r\n'],
    ['holds a user', 'GET /x HTTP/1.1\r\nHost: a@b\r\n'],
    ['holds a space', 'GET /x HTTP/1.1\r\nHost: a b\r\n'],
    ['is a list', 'GET /x HTTP/1.0\r\nHost: a\r\nHost: b\r\n'],
    [
      'stands twice before an upgrade',
      'GET /x?watch=1 HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: Upgrade\r\n' +
        'Upgrade: websocket\r\n',
    ],
  ])('%s: 400', async (_what, head) => {
    const received = await until(`${head}\r\n`);
    expect(received).toMatch(/^HTTP\/1\.1 400 [^]*\r\naudit-id: /i);
    expect(received).toMatch(/\r\nconnection: close\r\n/i);
    expect(received).toContain('"Host: ');
    expect(seen).toEqual([]);
  });

  test.each(['a', 'A.example.com:6443', '[::1]:443', 'a_b', ''])('may be %p', async (host) => {
    const head = `GET /x HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    expect(await until(head)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test('may be missing in HTTP/1.0', async () => {
    const received = await until('GET /x HTTP/1.0\r\n\r\n');
    expect(received).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('an expectation', () => {
  test.each([
    ['200-ok', ''],
    ['100-continue, 200-ok', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('of %p is 417, and the connection stays usable', async (expected, before) => {
    const raw = await connectRaw(server);
    raw.socket.write(`${post}Expect: ${expected}\r\nContent-Length: 1\r\n\r\na`);
    await eventually(() => raw.received().includes('100-continue can be met'));
    expect(raw.received().slice(before.length)).toMatch(/^HTTP\/1\.1 417 [^]*\r\naudit-id: /);
    expect(seen).toEqual([]);
    raw.socket.write('GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(await raw.closed).toMatch(/HTTP\/1\.1 200 [^]*handled$/);
    const session = await connect2(server);
    expect((await request2(session, '/x', { headers: { expect: expected } })).status).toBe(417);
    session.destroy();
  });

  test.each(['100-continue', '100-Continue'])('of %p is met', async (expected) => {
    const bytes = `${post}Connection: close\r\nExpect: ${expected}\r\nContent-Length: 1\r\n\r\na`;
    const received = await until(bytes);
    expect(received).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /);
    expect(seen).toEqual(['POST /x a']);
  });
});

describe('HTTP/2', () => {
  test.each([
    [{ ':authority': 'a', host: 'b' }, 400],
    [{ ':authority': 'a:6443', host: 'a' }, 400],
    [{ ':authority': 'a', host: 'A' }, 200],
    [{ ':authority': 'a:443', host: 'a' }, 200],
    [{ ':authority': 'a' }, 200],
  ])('%p is %d', async (headers, status) => {
    const session = await connect2(server);
    expect((await request2(session, '/x', { headers })).status).toBe(status);
    expect((await request2(session, '/x')).status).toBe(200); // other streams live on
    session.destroy();
  });

  /** Bytes by hand: what no client library would send. */
  const literal = (name: string, value: string): Buffer =>
    Buffer.concat([
      Buffer.from([0, name.length]),
      Buffer.from(name),
      Buffer.from([value.length]),
      Buffer.from(value),
    ]);

  /** Types of the frames of stream 1 that come back, until it ends. */
  async function answered(headers: readonly Buffer[]): Promise<number[]> {
    const socket = tls.connect({
      host: '127.0.0.1',
      port: server.port,
      ca: server.ca,
      ALPNProtocols: ['h2'],
    });
    socket.on('error', () => undefined);
    let received = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
    let isClosed = false;
    socket.on('close', () => (isClosed = true));
    await once(socket, 'secureConnect');
    const flags = endHeaders | endStream;
    const request = frame(frameType.headers, flags, 1, Buffer.concat([getHeaders, ...headers]));
    socket.write(Buffer.concat([preface, request]));
    const types = (): number[] => {
      const found: number[] = [];
      for (let at = 0; at + 9 <= received.length; at += 9 + received.readUIntBE(at, 3)) {
        if (received.readUInt32BE(at + 5) === 1) found.push(received.readUInt8(at + 3));
      }
      return found;
    };
    await eventually(() => isClosed || types().length > 0);
    socket.destroy();
    return types();
  }

  test.each([
    ['connection', 'close'],
    ['connection', 'x-a'],
    ['keep-alive', 'timeout=5'],
    ['proxy-connection', 'close'],
    ['transfer-encoding', 'chunked'],
    ['upgrade', 'websocket'],
    ['te', 'gzip'],
    ['Impersonate-User', 'a'],
  ])('has no header %s: %s', async (name, value) => {
    expect(await answered([literal('x-a', 'b')])).not.toContain(frameType.resetStream);
    expect(seen).toEqual(['GET / ']);
    expect(await answered([literal(name, value)])).toEqual([frameType.resetStream]);
    expect(seen).toEqual(['GET / ']);
  });

  test('has one host, and a body as long as it says', async () => {
    const hosts = [literal('host', 'a'), literal('host', 'a')];
    expect(await answered(hosts)).toEqual([frameType.resetStream]);
    expect(await answered([literal('content-length', '5')])).toEqual([frameType.resetStream]);
    expect(seen).toEqual([]);
  });
});
