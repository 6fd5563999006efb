import { expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import tls from 'node:tls';
import { readBody } from './body.ts';
import { clientLeft } from './open-request.ts';
import type { Filter } from './request-context.ts';
import { limits } from '../base/limits.ts';
import { badRequest } from '../base/status.ts';
import { frameFlag, frameType } from '../http2/frames.ts';
import { frame, framesIn, preface } from './testing/http2-frames.ts';
import { connectRaw, eventually, startTestServer } from './testing/test-server.ts';
import type { TestServer } from './testing/test-server.ts';

const { endHeaders, endStream } = frameFlag;

/** POST https://a/ by HPACK's static table. */
const postHeaders = Buffer.from([0x83, 0x87, 0x84, 0x41, 0x01, 0x61]);
const part = frame(frameType.data, 0, 1, Buffer.from('a: 1\n'));
const reset = (code: number): Buffer =>
  frame(frameType.resetStream, 0, 1, Buffer.from([0, 0, 0, code]));

/** What came of the body of each request. */
async function served(): Promise<{ readonly server: TestServer; readonly bodies: unknown[] }> {
  const bodies: unknown[] = [];
  const filter: Filter = async (request, response) => {
    bodies.push(await readBody(request, request.context.signal).catch((error: unknown) => error));
    response.end();
  };
  return { server: await startTestServer({ filters: [filter] }), bodies };
}

test.each([
  ['is reset with CANCEL', (): Buffer => reset(8)],
  ['is reset with NO_ERROR', (): Buffer => reset(0)],
  ['loses its connection', undefined],
])('a body whose HTTP/2 stream %s is not taken for a whole one', async (_claim, ending) => {
  const { server, bodies } = await served();
  await using _ended = server;
  const { port, ca } = server;
  const socket = tls.connect({ host: '127.0.0.1', port, ca, ALPNProtocols: ['h2'] });
  socket.on('error', () => undefined);
  await once(socket, 'secureConnect');
  const request = frame(frameType.headers, endHeaders, 1, postHeaders);
  socket.write(Buffer.concat([preface, request, part]));
  await once(socket, 'data');
  if (ending === undefined) socket.destroy();
  else socket.write(ending());
  await eventually(() => bodies.length > 0);
  expect(bodies).toEqual([clientLeft]);
  socket.destroy();
});

test.each(['Content-Length: 9\r\n\r\na: 1\n', 'Transfer-Encoding: chunked\r\n\r\n5\r\na: 1\n\r\n'])(
  'nor one whose HTTP/1.1 connection ends: %j',
  async (rest) => {
    const { server, bodies } = await served();
    await using _ended = server;
    const raw = await connectRaw(server);
    raw.socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${rest}`, () => raw.socket.end());
    await eventually(() => bodies.length > 0);
    expect(bodies).toEqual([clientLeft]);
  },
);

test('of a request of HTTP/1.1 that announces none there is nothing to wait for', async () => {
  const { server, bodies } = await served();
  await using _ended = server;
  const raw = await connectRaw(server);
  raw.socket.write('POST /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\n');
  raw.socket.write('Connection: close\r\n\r\n');
  expect((await raw.closed).match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
  expect(bodies).toEqual([Buffer.alloc(0), Buffer.alloc(0)]);
});

test('nor before a refusal that closes its connection', async () => {
  const timers = jest.spyOn(globalThis, 'setTimeout');
  const refuse: Filter = () => {
    throw badRequest('no');
  };
  await using server = await startTestServer({ filters: [refuse] });
  const raw = await connectRaw(server);
  raw.socket.write('POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  expect(await raw.closed).toMatch(/^HTTP\/1\.1 400 /);
  expect(timers.mock.calls.filter(([, ms]) => ms === limits.unreadBodyLingerMs)).toEqual([]);
  timers.mockRestore();
});

test.each([
  ['that is on its way', endStream],
  ['that never ends', 0],
])('an HTTP/2 answer to a body %s is whole before its stream is reset', async (_claim, flags) => {
  const refuse: Filter = () => {
    throw badRequest('no');
  };
  await using server = await startTestServer({ filters: [refuse] });
  const { port, ca } = server;
  const socket = tls.connect({ host: '127.0.0.1', port, ca, ALPNProtocols: ['h2'] });
  let received = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => (received = Buffer.concat([received, bytes])));
  await once(socket, 'secureConnect');
  const request = frame(frameType.headers, endHeaders, 1, postHeaders);
  const body = frame(frameType.data, flags, 1, Buffer.from('a: 1\n'));
  socket.write(Buffer.concat([preface, request, body]));
  const ends = (): { type: number }[] =>
    framesIn(received).filter(
      ({ type, flags: set, streamId }) =>
        streamId === 1 &&
        (type === frameType.resetStream || (type === frameType.data && (set & endStream) !== 0)),
    );
  await eventually(() => ends().length > 0);
  expect(ends()[0]?.type).toBe(frameType.data);
  socket.destroy();
});
