import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import WebSocket from 'ws';
import { namingProfile } from '../api/vendor.ts';
import { forbiddenRequest } from '../base/status.ts';
import { jsonStream } from '../codec/encodings.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { RequestMetrics } from '../telemetry/request-metrics.ts';
import { silentRequestMetrics } from '../telemetry/testing/silent-request-metrics.ts';
import { readBody } from './body.ts';
import { authenticateFilter } from './filters/authenticate.ts';
import type { Filter, RequestContext } from './request-context.ts';
import { sendNow } from './respond.ts';
import { startApiServer } from './testing/api-server.ts';
import { connectRaw, eventually, request1, startTestServer } from './testing/test-server.ts';
import type { TestServer } from './testing/test-server.ts';
import { isUpgrade } from './upgrade.ts';
import { createWebsockets } from './websocket.ts';

const websockets = createWebsockets(namingProfile('kubernetes'));
const event = Buffer.from('{"type":"ADDED"}\n');
let lastOpen: RequestContext | undefined;
const watch: Filter = async (request, response) => {
  const open = request.context;
  lastOpen = open;
  if (!isUpgrade(request)) {
    const head = { status: 200, contentType: 'text/plain' };
    sendNow(request, response, head, Buffer.from('plain'));
    return;
  }
  websockets.check(request, response);
  open.startStreaming(Infinity);
  const sink = await websockets.accept(request, response, jsonStream);
  sink.write(event);
  sink.flush();
  await once(open.signal, 'abort');
  sink.write(Buffer.from('"end"\n'));
  sink.end();
};
const path = '/api/v1/pods?watch=1';
const connect = (server: TestServer, protocols: string[] = []): WebSocket =>
  new WebSocket(`wss://127.0.0.1:${String(server.port)}${path}`, protocols, { ca: server.ca });

const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const version = 'Sec-WebSocket-Version: 13\r\n';
const handshake = (headers: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${headers}\r\n`;

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

  test.each([
    ['without a version', key, 426],
    ['of version 7', `${key}Sec-WebSocket-Version: 7\r\n`, 426],
    ['of version 8, which drafts had', `${key}Sec-WebSocket-Version: 8\r\n`, 426],
    ['of version 13 twice', `${key}${version}${version}`, 426],
    ['without a key', version, 400],
    ['with a short key', `${version}Sec-WebSocket-Key: x\r\n`, 400],
    ['with two keys', `${version}${key}${key}`, 400],
    ['with unknown subprotocols', `${version}${key}Sec-WebSocket-Protocol: chat\r\n`, 400],
    ['with a list that is none', `${version}${key}Sec-WebSocket-Protocol: a b, ,\r\n`, 400],
    [
      'with a subprotocol twice',
      `${version}${key}Sec-WebSocket-Protocol: binary.k8s.io, binary.k8s.io\r\n`,
      400,
    ],
  ])('refuses a handshake %s, and closes its request', async (_name, headers, status) => {
    await using server = await startTestServer({ filters: [watch] });
    const raw = await connectRaw(server);
    raw.socket.write(handshake(headers));
    const received = await raw.closed;
    expect(received).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} `));
    expect(received).toContain('WebSocket handshake');
    expect(received.includes('sec-websocket-version: 13\r\n')).toBe(status === 426);
    await eventually(() => lastOpen?.endedWith !== undefined);
  });

  test.each([
    [[], ''],
    [['binary.k8s.io'], 'binary.k8s.io'],
    [['chat', 'base64.binary.k8s.io', 'binary.k8s.io'], 'base64.binary.k8s.io'],
  ])('of the subprotocols %p it chooses %p', async (offered, chosen) => {
    await using server = await startTestServer({ filters: [watch] });
    const socket = connect(server, offered);
    await once(socket, 'message');
    expect(socket.protocol).toBe(chosen);
    socket.terminate();
  });

  const bearer = (vendor: string, token: string): string =>
    `base64url.bearer.authorization.${vendor}.io.${Buffer.from(token).toString('base64url')}`;
  test.each([
    ['of one profile', [bearer('k8s', 'my-token'), 'binary.k8s.io'], 'my-token'],
    ['of the other', [bearer('svc', 'my-token'), 'binary.k8s.io'], 'my-token'],
    ['alone', [bearer('k8s', 'my-token')], 401],
    ['beside another', [bearer('k8s', 'a'), bearer('k8s', 'b'), 'binary.k8s.io'], 401],
    ['that is empty', [bearer('k8s', ''), 'binary.k8s.io'], undefined],
    ['that is no text', ['base64url.bearer.authorization.k8s.io._w', 'binary.k8s.io'], 401],
    ['that is none', ['base64url.bearer.authorization.k8s.io.ü', 'binary.k8s.io'], 401],
  ])('takes a token in its subprotocols: %s', async (_name, offered, expected) => {
    const tokens: (string | undefined)[] = [];
    const authenticate = authenticateFilter({
      allowsAnonymous: () => true,
      authenticator: {
        name: 'test',
        authenticate: ({ token }) => {
          tokens.push(token);
          return { outcome: 'absent' };
        },
      },
    });
    await using server = await startTestServer({ filters: [authenticate, watch] });
    const raw = await connectRaw(server);
    const names = Buffer.from(offered.join(', ')).toString('latin1');
    raw.socket.write(handshake(`${key}${version}Sec-WebSocket-Protocol: ${names}\r\n`), 'latin1');
    await eventually(() => raw.received().includes('\r\n\r\n'));
    if (typeof expected === 'number') {
      expect(raw.received()).toMatch(/^HTTP\/1\.1 401 /);
      expect(tokens).toEqual([]);
    } else {
      expect(raw.received()).toMatch(/^HTTP\/1\.1 101 [^]*Sec-WebSocket-Protocol: binary.k8s.io/);
      expect(tokens).toEqual([expected]);
    }
    raw.socket.destroy();
  });
});

describe('a request that asks to change the protocol, and is no watch over WebSocket', () => {
  const plain: Filter = async (request, response) => {
    const body = await readBody(request, request.context.signal);
    const head = { status: 200, contentType: 'text/plain' };
    sendNow(request, response, head, Buffer.from(`${request.method ?? ''}=${body.toString()};`));
  };
  let server: TestServer;
  beforeAll(async () => {
    const filters: Filter[] = [
      (request, response, next) => (request.url === path ? watch : plain)(request, response, next),
    ];
    server = await startTestServer({ filters, requestTimeoutMs: 2_000 });
  });
  afterAll(() => server[Symbol.asyncDispose]());
  const list = '/api/v1/namespaces/a/pods';
  const cases = [
    ['GET', list, '', ''],
    ['GET', `${list}/b`, '', ''],
    ['GET', '/version', '', ''],
    ['POST', list, 'Content-Length: 3\r\n', 'abc'],
    ['POST', `${list}?watch=1`, 'Content-Length: 3\r\n', 'abc'],
    ['POST', list, 'Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n0\r\n\r\n'],
    ['PATCH', `${list}/b`, 'Content-Length: 3\r\n', 'abc'],
    ['DELETE', `${list}/b`, '', ''],
    ['DELETE', list, 'Content-Length: 3\r\n', 'abc'],
  ] as const;
  test.each(
    ['websocket', 'h2c', 'h2c, websocket'].flatMap((to) =>
      cases.map(([method, target, length, body]) => [method, target, to, length, body] as const),
    ),
  )('%s %s to %s is answered, and so is the next one', async (method, target, to, length, body) => {
    const raw = await connectRaw(server);
    const said = body === '' ? '' : 'abc';
    const head =
      `${method} ${target} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\n` +
      `Upgrade: ${to}\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n${key}${version}${length}\r\n`;
    raw.socket.write(head);
    await new Promise((resolve) => setImmediate(resolve));
    raw.socket.write(body); // apart from its head
    await eventually(() => raw.received().endsWith(`${method}=${said};`));
    raw.socket.write(head + body); // and together with it
    await eventually(() => raw.received().split(`${method}=${said};`).length === 3);
    raw.socket.write('GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const received = await raw.closed;
    expect(received.match(/HTTP\/1\.1 200 /g)).toHaveLength(3);
    expect(received).toMatch(/GET=;$/);
  });

  test.each(['h2c', 'tty'])('a watch that asks for %s goes on over HTTP', async (to) => {
    const raw = await connectRaw(server);
    raw.socket.write(
      `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: ${to}\r\n\r\n`,
    );
    expect(await raw.closed).toMatch(/^HTTP\/1\.1 200 [^]*plain$/);
  });
});

describe('of the API', () => {
  let registry: RegistryOnEtcd;
  let server: TestServer;
  beforeAll(async () => {
    registry = await RegistryOnEtcd.start();
    server = await startApiServer(await registry.replica());
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await registry.stop();
  });

  test('a watch sends events, a list is a list', async () => {
    const body = JSON.stringify({ metadata: { name: 'a' } });
    const headers = { 'content-type': 'application/json' };
    const configMaps = '/api/v1/namespaces/n/configmaps';
    await request1(server, configMaps, { method: 'POST', headers, body });
    const socket = new WebSocket(
      `wss://127.0.0.1:${String(server.port)}${configMaps}?watch=1`,
      ['base64.binary.svc.io'],
      { ca: server.ca },
    );
    const [event] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(event.toString())).toMatchObject({
      type: 'ADDED',
      object: { metadata: { name: 'a' } },
    });
    socket.terminate();
    const raw = await connectRaw(server);
    raw.socket.write(handshake(`${key}${version}`).replace(path, configMaps));
    await eventually(() => raw.received().endsWith(']}\n') || raw.received().endsWith(']}'));
    expect(raw.received()).toMatch(/^HTTP\/1\.1 200 [^]*"kind":"ConfigMapList"/);
    raw.socket.destroy();
  });
});
