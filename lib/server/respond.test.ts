import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import tls from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { limits } from '../base/limits.ts';
import type { Filter } from './request-context.ts';
import { sendBytes, sendNow, sendPieces } from './respond.ts';
import { frameFlag, frameType } from '../http2/frames.ts';
import { frame, framesIn, getHeaders, preface } from './testing/http2-frames.ts';
import {
  connect2,
  eventually,
  request1,
  request2,
  startTestServer,
} from './testing/test-server.ts';

const { endHeaders, endStream } = frameFlag;

const text = { status: 200, contentType: 'text/plain' };
const threshold = limits.gzipThresholdBytes;
const filter: Filter = (request, response) => {
  const { path, query } = request.context.info;
  const size = Number(query.get('size'));
  const options = { compress: query.get('compress') !== '0' };
  if (path === '/bytes') return sendBytes(request, response, text, Buffer.alloc(size, 97), options);
  const count = 7;
  const part = Buffer.alloc(Math.floor(size / count), 97);
  const rest = Buffer.alloc(size - part.length * count, 97);
  const parts = [...Array.from({ length: count }, () => part), rest];
  const pieces = { totalBytes: size, [Symbol.iterator]: () => parts.values() };
  return sendPieces(request, response, text, pieces, options);
};

describe.each(['/bytes', '/pieces'])('an answer of %s', (path) => {
  test.each([
    [threshold, 'gzip', true],
    [threshold, 'GZIP', true],
    [threshold, 'deflate, gzip;q=0.5', true],
    [threshold, 'br;q=1.0, gzip; q=0.001', true],
    [threshold - 1, 'gzip', false],
    [threshold, undefined, false],
    [threshold, 'identity', false],
    [threshold, '*', false],
    [threshold, 'gzip;q=0', false],
    [threshold, 'gzip; q=0.000, deflate', false],
    [threshold, 'notgzip', false],
    [3 * 1024 * 1024, 'gzip', true],
    [3 * 1024 * 1024, undefined, false],
    [0, 'gzip', false],
  ])('of %d bytes for Accept-Encoding %s: gzip %s', async (size, accept, isZipped) => {
    await using server = await startTestServer({ filters: [filter] });
    const headers = accept === undefined ? {} : { 'accept-encoding': accept };
    const session = await connect2(server);
    const url = `${path}?size=${String(size)}`;
    for (const answer of [
      await request1(server, url, { headers }),
      await request2(session, url, { headers }),
    ]) {
      expect(answer.headers['content-encoding']).toBe(isZipped ? 'gzip' : undefined);
      expect(answer.headers.vary).toBe(isZipped ? 'Accept-Encoding' : undefined);
      const body = isZipped ? gunzipSync(answer.body) : answer.body;
      expect(body.equals(Buffer.alloc(size, 97))).toBe(true);
      if (!isZipped) expect(answer.headers['content-length']).toBe(String(size));
    }
    session.close();
  });

  test('is not compressed with the gate off, and HEAD gets headers alone', async () => {
    await using server = await startTestServer({ filters: [filter] });
    const headers = { 'accept-encoding': 'gzip' };
    const url = `${path}?compress=0&size=600000`;
    const answer = await request1(server, url, { headers });
    expect(answer.headers['content-encoding']).toBeUndefined();
    const head = await request1(server, url, { headers, method: 'HEAD' });
    expect([head.body.length, head.headers['content-length']]).toEqual([0, '600000']);
  });
});

test('an answer over HTTP/2 is its head and its bytes: no frame more at the end', async () => {
  const answer: Filter = (request, response) =>
    sendNow(request, response, text, Buffer.alloc(100, 97));
  await using server = await startTestServer({ filters: [answer] });
  const { port, ca } = server;
  const socket = tls.connect({ host: '127.0.0.1', port, ca, ALPNProtocols: ['h2'] });
  let received = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => (received = Buffer.concat([received, chunk])));
  await once(socket, 'secureConnect');
  const ask = frame(frameType.headers, endHeaders | endStream, 1, getHeaders);
  socket.write(Buffer.concat([preface, ask]));
  const ofStream = () => framesIn(received).filter(({ streamId }) => streamId === 1);
  const isOver = (): boolean => ofStream().some(({ flags }) => (flags & endStream) !== 0);
  await eventually(isOver);
  socket.destroy();
  expect(ofStream()).toEqual([
    { type: frameType.headers, flags: endHeaders, streamId: 1 },
    { type: frameType.data, flags: endStream, streamId: 1 },
  ]);
});

describe('Warning headers', () => {
  const warn = async (warnings: readonly string[]): Promise<string[]> => {
    const warning: Filter = (request, response) => {
      request.context.warnings.push(...warnings);
      sendNow(request, response, text, Buffer.from('x'));
    };
    await using server = await startTestServer({ filters: [warning] });
    const session = await connect2(server);
    const answers = [await request1(server, '/'), await request2(session, '/')];
    session.close();
    const [first, second] = answers.map(({ headers }) => headers.warning ?? '');
    expect(second).toBe(first);
    return first === '' ? [] : (first ?? '').split(/, (?=299 - ")/);
  };
  test.each([
    ['plain text', ['one', 'two'], ['299 - "one"', '299 - "two"']],
    ['quotes and backslashes', ['a "b" \\c'], ['299 - "a \\"b\\" \\\\c"']],
    ['line ends', ['a\r\nSet-Cookie: x\u0000y\u007f'], ['299 - "a  Set-Cookie: x y "']],
    ['UTF-8', ['ü'], [`299 - "${Buffer.from('ü').toString('latin1')}"`]],
    ['a lone surrogate', ['\ud800'], [`299 - "${Buffer.from('\ufffd').toString('latin1')}"`]],
    ['none', [], []],
  ])('%s', async (_name, warnings, expected) => {
    expect(await warn(warnings)).toEqual(expected);
  });
  test('stay within a bound that clients take', async () => {
    const headers = await warn(Array.from({ length: 100 }, () => 'a'.repeat(512)));
    expect(headers).toHaveLength(limits.warningsLengthMax / limits.warningLengthWhenManyMax);
    expect(headers[0]).toBe(`299 - "${'a'.repeat(limits.warningLengthWhenManyMax)}"`);
  });
});
