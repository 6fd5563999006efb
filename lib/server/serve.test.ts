import { describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import http2 from 'node:http2';
import https from 'node:https';
import { connect } from 'node:net';
import { TLSSocket } from 'node:tls';
import { limits } from '../base/limits.ts';
import { badRequest, serviceUnavailable } from '../base/status.ts';
import { silentRequestMetrics } from '../telemetry/testing/silent-request-metrics.ts';
import type { Filter, RequestContext } from './request-context.ts';
import { readBody } from './body.ts';
import { sendNow } from './respond.ts';
import { testTls } from './testing/test-server.ts';
import {
  connect2,
  connectRaw,
  eventually,
  request1,
  request2,
  shortTimeouts,
  startTestServer,
} from './testing/test-server.ts';

const text = { status: 200, contentType: 'text/plain' };
const hello: Filter = (request, response) => {
  sendNow(request, response, text, Buffer.from(`hello ${request.context.info.path}`));
};

describe('every answer', () => {
  test.each([
    ['of a handler', '/a', hello, 200],
    ['of a StatusError', '/a', () => Promise.reject(badRequest('no')), 400],
    ['of a bug', '/a', () => Promise.reject(new Error('boom')), 500],
    ['of nobody', '/a', (_request: unknown, _response: unknown, next: () => void) => next(), 404],
  ] satisfies [string, string, Filter, number][])(
    '%s carries an audit id, on both protocols',
    async (_name, path, filter, status) => {
      await using server = await startTestServer({ filters: [filter] });
      const session = await connect2(server);
      const answers = [await request1(server, path), await request2(session, path)];
      session.close();
      for (const answer of answers) {
        expect(answer.status).toBe(status);
        expect(answer.headers['audit-id']).toMatch(/^[0-9a-f-]{36}$/);
      }
    },
  );

  test('keeps a client’s own audit id when it is one', async () => {
    await using server = await startTestServer({ filters: [hello] });
    const ask = (id: string) => request1(server, '/', { headers: { 'audit-id': id } });
    expect((await ask('my-id.1')).headers['audit-id']).toBe('my-id.1');
    expect((await ask('x'.repeat(65))).headers['audit-id']).not.toContain('x');
    expect((await ask('a b')).headers['audit-id']).not.toContain(' ');
  });

  test('a bug shows its stack to the log and nothing to the client', async () => {
    const filter: Filter = () => {
      throw new Error('canary-in-message');
    };
    await using server = await startTestServer({ filters: [filter] });
    const { status, body } = await request1(server, '/x');
    expect(status).toBe(500);
    expect(body.toString()).not.toMatch(/canary|serve\.test/);
    expect(JSON.parse(body.toString())).toMatchObject({ kind: 'Status', reason: 'InternalError' });
    expect(server.log.join('')).toContain('serve.test.ts');
  });

  test('the cause of a failure goes to the log, not to the client', async () => {
    const filter: Filter = () => {
      throw Object.assign(serviceUnavailable('etcd cannot be reached: UNAVAILABLE', 1), {
        cause: new Error('connect ECONNREFUSED 10.0.0.7:2379'),
      });
    };
    await using server = await startTestServer({ filters: [filter] });
    const { status, body } = await request1(server, '/x');
    expect(status).toBe(503);
    expect(body.toString()).not.toContain('10.0.0.7');
    expect(server.log.join('')).toContain('10.0.0.7:2379');
  });

  test('no credential reaches the log or an error body', async () => {
    const canary = 'canary-5f2b9c';
    const filter: Filter = (request) => {
      throw Object.assign(new Error('boom'), { headers: request.headers });
    };
    await using server = await startTestServer({ filters: [filter] });
    const headers = { authorization: `Bearer ${canary}`, cookie: `session=${canary}` };
    const { body } = await request1(server, `/x?token=${canary}`, { headers });
    expect(server.log).toHaveLength(1);
    expect(server.log.join('') + body.toString()).not.toContain(canary);
  });
});

describe('malformed HTTP/1.1', () => {
  const head = 'POST /x HTTP/1.1\r\nHost: a\r\n';
  const get = 'GET /x HTTP/1.1\r\nHost: a\r\n';
  test.each([
    ['two lengths that differ', `${head}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`],
    [
      'length and chunked',
      `${head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['a folded header', `${get}X-A: b\r\n c\r\n\r\n`],
    ['a space before the colon', `${head}Content-Length : 3\r\n\r\nabc`],
    ['a bare line feed in a chunk', `${head}Transfer-Encoding: chunked\r\n\r\n1\na\n0\n\n`],
    ['a signed length', `${head}Content-Length: +3\r\n\r\nabc`],
    ['a chunk size with 0x', `${head}Transfer-Encoding: chunked\r\n\r\n0x1\r\na\r\n0\r\n\r\n`],
    ['a control character in a header', `${get}X-A: b\u0001c\r\n\r\n`],
  ])('%s is refused and the connection closed', async (_name, bytes) => {
    let handled = 0;
    const filter: Filter = async (request, response) => {
      await readBody(request, request.context.signal);
      handled++;
      sendNow(request, response, text, Buffer.from('handled'));
    };
    await using server = await startTestServer({ filters: [filter] });
    const raw = await connectRaw(server);
    // What a smuggler would have taken for the next request.
    raw.socket.write(`${bytes}GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`, 'latin1');
    const received = await raw.closed;
    // Once a request is open its connection is closed without a word.
    expect(received).toMatch(/^(HTTP\/1\.1 400 Bad Request\r\n|$)/);
    expect(handled).toBe(0);
  });

  test('says 431 to a header block beyond the limit, with an audit id', async () => {
    await using server = await startTestServer({ filters: [hello] });
    const raw = await connectRaw(server);
    raw.socket.write(`${get}X-A: ${'a'.repeat(70_000)}\r\n\r\n`);
    expect(await raw.closed).toMatch(/^HTTP\/1\.1 431 .*\r\nAudit-Id: [0-9a-f-]{36}\r\n/);
  });

  test('says 431 to more header lines than the parser keeps, whatever they hide', async () => {
    await using server = await startTestServer({ filters: [hello] });
    const lines = (count: number): string => 'X-A: b\r\n'.repeat(count);
    const most = limits.requestHeadersCountMax - 2;
    const raw = await connectRaw(server);
    raw.socket.write(`${get}Connection: close\r\n${lines(most)}\r\n`);
    expect(await raw.closed).toMatch(/^HTTP\/1\.1 200 /);
    const above = await connectRaw(server);
    above.socket.write(`${get}${lines(most)}X-A: b\r\nContent-Length: 3\r\n\r\nabc`);
    expect(await above.closed).toMatch(/^HTTP\/1\.1 431 /);
  });

  test('is refused once, however much of it comes', async () => {
    const endings = jest.spyOn(TLSSocket.prototype, 'destroySoon');
    await using server = await startTestServer({ filters: [hello] });
    const raw = await connectRaw(server);
    raw.socket.write(`GET /${'a'.repeat(8 * 1024 * 1024)}`);
    await raw.closed;
    expect(endings).toHaveBeenCalledTimes(1);
    endings.mockRestore();
  });

  test('routes an absolute target like its path', async () => {
    await using server = await startTestServer({ filters: [hello] });
    const raw = await connectRaw(server);
    raw.socket.write('GET https://a/b%61c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(await raw.closed).toContain('hello /bac');
  });

  test('answers targets that are no path with 404', async () => {
    await using server = await startTestServer({ filters: [(_a, _b, next) => next()] });
    for (const target of ['*', 'http://[/x', '//x//y', '/%ff', '/a/%2e%2e/b']) {
      const raw = await connectRaw(server);
      const method = target === '*' ? 'OPTIONS' : 'GET';
      raw.socket.write(`${method} ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      expect(await raw.closed).toMatch(/^HTTP\/1\.1 404 /);
    }
    expect(server.log).toEqual([]);
  });
});

test.each(['GET', 'POST', 'PUT', 'HEAD'])(
  '%s without TLS is answered in the clear',
  async (verb) => {
    await using server = await startTestServer({ filters: [hello] });
    const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
    let received = '';
    socket.on('data', (part: string) => (received += part));
    socket.write(`${verb} / HTTP/1.1\r\nHost: a\r\n\r\n`);
    await once(socket, 'close');
    expect(received).toBe(
      'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n',
    );
  },
);

describe('time limits', () => {
  test.each([
    ['of headers that never end', 'GET / HTTP/1.1\r\nHost: a\r\nX-', 408],
    ['of a body that never ends', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na', 0],
    ['of silence after the handshake', '', 408],
  ])('%s close an HTTP/1.1 connection', async (_name, bytes, status) => {
    const gone: unknown[] = [];
    const filter: Filter = async (request) => {
      await readBody(request, request.context.signal).catch((error: unknown) => {
        gone.push(error);
        throw error;
      });
    };
    await using server = await startTestServer({ filters: [filter], timeouts: shortTimeouts });
    const raw = await connectRaw(server);
    raw.socket.write(bytes);
    const received = await raw.closed;
    expect(received).toMatch(status === 0 ? /^$/ : new RegExp(`^HTTP/1\\.1 ${String(status)} `));
    await eventually(() => gone.length === (status === 0 ? 1 : 0));
  });

  test('of idleness close a kept-alive connection', async () => {
    await using server = await startTestServer({ filters: [hello], timeouts: shortTimeouts });
    const raw = await connectRaw(server);
    raw.socket.write('GET /a HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await raw.closed).toContain('hello /a');
  });

  test('of idleness close an HTTP/2 session, but not under an open stream', async () => {
    const filter: Filter = (request, response) => {
      if (request.context.info.path === '/quick') void hello(request, response, () => undefined);
    };
    await using server = await startTestServer({ filters: [filter], timeouts: shortTimeouts });
    const idle = await connect2(server);
    await request2(idle, '/quick');
    const busy = await connect2(server);
    const quiet = busy.request({ ':path': '/quiet' });
    await once(idle, 'close');
    await new Promise((resolve) => setTimeout(resolve, shortTimeouts.idleMs));
    expect(busy.closed).toBe(false);
    quiet.close();
    busy.destroy();
  });

  test('of the TLS handshake close a connection that does not finish it', async () => {
    let failures = 0;
    const metrics = { ...silentRequestMetrics, tlsHandshakeFailed: () => (failures += 1) };
    await using server = await startTestServer({ timeouts: shortTimeouts, metrics });
    const socket = connect(server.port, '127.0.0.1')
      .on('error', () => undefined)
      .resume();
    await once(socket, 'close');
    expect(failures).toBe(1);
  });

  test('of a request answer 504 on both protocols and fire its signal', async () => {
    const reasons: unknown[] = [];
    const filter: Filter = async (request) => {
      const { signal } = request.context;
      await once(signal, 'abort');
      reasons.push(signal.reason);
      signal.throwIfAborted();
    };
    await using server = await startTestServer({ filters: [filter], requestTimeoutMs: 100 });
    const session = await connect2(server);
    const answers = await Promise.all([request1(server, '/'), request2(session, '/')]);
    session.close();
    for (const { status, body } of answers) {
      expect(status).toBe(504);
      expect(JSON.parse(body.toString())).toMatchObject({ reason: 'Timeout', code: 504 });
    }
    expect(reasons).toHaveLength(2);
  });
});

describe('a client that leaves', () => {
  test.each(['h1', 'h2'])('fires the signal of its request (%s)', async (protocol) => {
    let open: RequestContext | undefined;
    const filter: Filter = async (request) => {
      open = request.context;
      await once(open.signal, 'abort');
      throw open.signal.reason;
    };
    await using server = await startTestServer({ filters: [filter] });
    if (protocol === 'h1') {
      const raw = await connectRaw(server);
      raw.socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      await eventually(() => open !== undefined);
      raw.socket.destroy();
    } else {
      const session = await connect2(server);
      const stream = session.request({ ':path': '/' });
      await eventually(() => open !== undefined);
      stream.close(http2.constants.NGHTTP2_CANCEL);
      await eventually(() => open?.signal.aborted === true);
      session.close();
    }
    await eventually(() => open?.signal.aborted === true);
    expect(open?.endedWith?.message).toBe('the client closed the connection');
    expect(server.log).toEqual([]);
  });
});

describe('bodies', () => {
  const filter: Filter = async (request, response) => {
    const body = await readBody(request, request.context.signal);
    sendNow(request, response, text, Buffer.from(String(body.length)));
  };
  const large = Buffer.alloc(4 * 1024 * 1024);
  test('above the limit are 413, although the client sends first and reads then', async () => {
    await using server = await startTestServer({ filters: [filter] });
    const session = await connect2(server);
    const chunked = { 'transfer-encoding': 'chunked' };
    const post = { method: 'POST', body: large };
    const answers = [
      await request1(server, '/', post),
      await request1(server, '/', { ...post, headers: chunked }),
      await request2(session, '/', post),
    ];
    expect(answers.map(({ status }) => status)).toEqual([413, 413, 413]);
    expect((await request2(session, '/', { method: 'POST', body: 'abc' })).body.toString()).toBe(
      '3',
    );
    session.close();
  });

  test('are read up to the limit', async () => {
    await using server = await startTestServer({ filters: [filter] });
    const body = large.subarray(0, 3 * 1024 * 1024);
    const answer = await request1(server, '/', { method: 'PUT', body });
    expect(answer.body.toString()).toBe(String(body.length));
  });

  test.each(['gzip', 'deflate', 'br', 'gzip, gzip', 'GZIP'])(
    'with Content-Encoding %s are 415 unread',
    async (encoding) => {
      await using server = await startTestServer({ filters: [filter] });
      const headers = { 'content-encoding': encoding };
      const answer = await request1(server, '/', { method: 'POST', headers, body: 'x' });
      expect(answer.status).toBe(415);
      expect(answer.body.toString()).toContain('must not be compressed');
    },
  );

  test('of a refused request end with its answer on HTTP/2, sent or not', async () => {
    const refusing: Filter = () => {
      throw badRequest('no');
    };
    await using server = await startTestServer({ filters: [refusing] });
    const session = await connect2(server);
    const stream = session.request({ ':path': '/', ':method': 'POST' }, { endStream: false });
    stream.write('the rest never comes');
    let answer = '';
    stream.setEncoding('utf8').on('data', (part: string) => (answer += part));
    await once(stream, 'close');
    expect(stream.rstCode).toBe(http2.constants.NGHTTP2_NO_ERROR);
    expect(JSON.parse(answer)).toMatchObject({ code: 400 });
    session.close();
  });

  test('of a refused request leave the connection usable', async () => {
    const refusing: Filter = (request, response, next) => {
      if (request.context.info.path === '/no') throw badRequest('no');
      return filter(request, response, next);
    };
    await using server = await startTestServer({ filters: [refusing] });
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ca: server.ca });
    const body = large.subarray(0, 100_000);
    expect((await request1(server, '/no', { method: 'POST', body, agent })).status).toBe(400);
    const next = await request1(server, '/yes', { method: 'POST', body, agent });
    expect(next.body.toString()).toBe('100000');
    agent.destroy();
  });
});

describe('TLS', () => {
  test('new connections get a replaced certificate', async () => {
    await using server = await startTestServer({ filters: [hello] });
    const { ca } = await testTls();
    const pair = await ca.issue({ use: 'serverAuth', commonName: 'second' });
    server.running.setTls({ ...pair, clientCa: ca.cert });
    const raw = await connectRaw(server);
    expect(raw.socket.getPeerX509Certificate()?.subject).toBe('CN=second');
    raw.socket.destroy();
  });
});
