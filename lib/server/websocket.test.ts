import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import WebSocket from 'ws';
import { forbiddenRequest } from '../base/status.ts';
import { jsonStream } from '../codec/encodings.ts';
import type { RequestMetrics } from '../telemetry/request-metrics.ts';
import { silentRequestMetrics } from '../telemetry/request-metrics.ts';
import { authenticateFilter } from './filters/authenticate.ts';
import type { OpenRequest } from './open-request.ts';
import type { Filter } from './request-context.ts';
import { sendNow } from './respond.ts';
import { connectRaw, eventually, startTestServer } from './testing/test-server.ts';
import type { TestServer } from './testing/test-server.ts';
import { isUpgrade, websocketSink } from './websocket.ts';

const event = Buffer.from('{"type":"ADDED"}\n');
let lastOpen: OpenRequest | undefined;
const watch: Filter = async (request, response) => {
  const open = request.context as OpenRequest;
  lastOpen = open;
  if (!isUpgrade(request)) {
    const head = { status: 200, contentType: 'text/plain' };
    sendNow(request, response, head, Buffer.from('plain'));
    return;
  }
  open.isStreaming = true;
  const sink = await websocketSink(request, response, jsonStream);
  sink.write(event);
  sink.flush();
  await once(open.signal, 'abort');
  sink.write(Buffer.from('"end"\n'));
  sink.end();
};
const connect = (server: TestServer, protocols: string[] = [], path = '/'): WebSocket =>
  new WebSocket(`wss://127.0.0.1:${String(server.port)}${path}`, protocols, { ca: server.ca });

describe('a watch over WebSocket', () => {
  test('sends text frames, and its last words when the server drains', async () => {
    const codes: number[] = [];
    const metrics: RequestMetrics = {
      ...silentRequestMetrics,
      finished: (_kind, _labels, { code }) => void codes.push(code),
    };
    await using server = await startTestServer({ filters: [watch], metrics });
    const socket = connect(server);
    const messages: [string, boolean][] = [];
    socket.on('message', (data: Buffer, isBinary) => messages.push([data.toString(), isBinary]));
    await eventually(() => messages.length === 1);
    await Promise.all([
      once(socket, 'close'),
      server.running.drain({ delayMs: 0, graceMs: 3_000 }),
    ]);
    expect(messages).toEqual([
      ['{"type":"ADDED"}', false],
      ['"end"', false],
    ]);
    expect(codes).toEqual([101]);
  });

  test('ends with its request when the client leaves, without harm to the server', async () => {
    await using server = await startTestServer({ filters: [watch] });
    const socket = connect(server);
    await once(socket, 'message');
    socket.terminate();
    await eventually(() => lastOpen?.endedWith !== undefined);
    expect(lastOpen?.endedWith?.message).toBe('the client closed the connection');
    expect((await connectRaw(server)).socket.destroy().destroyed).toBe(true);
  });

  test('refuses before the upgrade over HTTP', async () => {
    const refuse: Filter = () => {
      throw forbiddenRequest('no');
    };
    await using server = await startTestServer({ filters: [refuse] });
    const socket = connect(server);
    const [, response] = (await once(socket, 'unexpected-response')) as [
      unknown,
      { statusCode: number; headers: Record<string, string>; resume(): void },
    ];
    response.resume();
    expect(response.statusCode).toBe(403);
    expect(response.headers['audit-id']).toBeDefined();
    socket.on('error', () => undefined).terminate();
  });

  test('answers a handshake that is none with 400 and closes its request', async () => {
    await using server = await startTestServer({ filters: [watch] });
    const raw = await connectRaw(server);
    raw.socket.write(
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
        'Sec-WebSocket-Version: 7\r\nSec-WebSocket-Key: x\r\n\r\n',
    );
    const received = await raw.closed;
    expect(received).toMatch(/^HTTP\/1\.1 400 /);
    expect(received).toContain('WebSocket handshake');
    await eventually(() => lastOpen?.endedWith !== undefined);
  });

  test('passes over other protocols to upgrade to', async () => {
    await using server = await startTestServer({ filters: [watch] });
    const raw = await connectRaw(server);
    raw.socket.write(
      'GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: tty\r\n\r\n',
    );
    expect(await raw.closed).toMatch(/^HTTP\/1\.1 200 [^]*plain$/);
  });

  test.each([['kubernetes'], ['svc']])('takes a token in its subprotocol (%s)', async (vendor) => {
    const tokens: (string | undefined)[] = [];
    const authenticate = authenticateFilter({
      allowAnonymous: true,
      authenticator: {
        name: 'test',
        authenticate: ({ token }) => {
          tokens.push(token);
          return { outcome: 'absent' };
        },
      },
    });
    await using server = await startTestServer({ filters: [authenticate, watch] });
    const encoded = Buffer.from('my-token').toString('base64url');
    const bearer = `base64url.bearer.authorization.${vendor}.io.${encoded}`;
    const socket = connect(server, [bearer, 'chosen']);
    await once(socket, 'message');
    expect(tokens).toEqual(['my-token']);
    expect(socket.protocol).toBe('chosen');
    socket.terminate();
  });
});
