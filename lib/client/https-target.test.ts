import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { EventEmitter } from 'node:events';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { call, errorOf, failureOf, openHook, until } from './testing/open-calls.ts';
import { RawServer, answerOk, answerText } from './testing/raw-server.ts';
import type { Answering } from './testing/raw-server.ts';

const writes =
  (...parts: readonly string[]): Answering =>
  ({ socket }) => {
    for (const part of parts) socket.write(part);
  };

describe('what is sent', () => {
  test('is one JSON request with the identity of the target, over a kept connection', async () => {
    await using server = await RawServer.start(answerOk);
    const target = await openHook(server.url, { authorization: 'Bearer t-1' });
    const answer = await call(target, { body: Buffer.from('{"a":1}') });
    expect(answer).toEqual({ status: 200, body: '{"ok":true}' });
    await call(target, { headers: { authorization: 'mine', 'content-type': 'text/plain' } });
    const [first, second] = server.requests;
    expect(first?.head.split('\r\n').toSorted()).toEqual([
      'POST /hook HTTP/1.1',
      'accept: application/json',
      'authorization: Bearer t-1',
      'connection: keep-alive',
      'content-length: 7',
      'content-type: application/json',
      `host: 127.0.0.1:${String(server.port)}`,
    ]);
    expect(first?.body).toBe('{"a":1}');
    expect(second?.head).toContain('content-type: text/plain');
    expect(second?.head).toContain('authorization: Bearer t-1');
    expect(server.connectionCount).toBe(1);
    target.close();
    await until(() => server.openCount === 0);
  });

  test('goes to the path of the call where it has one', async () => {
    await using server = await RawServer.start(answerOk);
    const target = await openHook(server.url);
    await call(target, { method: 'GET', path: '/other?timeout=10s' });
    expect(server.requests[0]?.head).toMatch(/^GET \/other\?timeout=10s HTTP/);
    target.close();
  });

  test('takes no way through a proxy of the environment', async () => {
    await using server = await RawServer.start(answerOk);
    const names = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
    const before = names.map((name) => process.env[name]);
    for (const name of names) process.env[name] = 'http://127.0.0.1:1';
    try {
      const target = await openHook(server.url);
      expect((await call(target)).status).toBe(200);
      target.close();
    } finally {
      for (const [index, name] of names.entries()) {
        if (before[index] === undefined) Reflect.deleteProperty(process.env, name);
        else process.env[name] = before[index];
      }
    }
  });

  test('is nothing when path or headers would break the request apart', async () => {
    await using server = await RawServer.start(answerOk);
    const target = await openHook(server.url);
    for (const evil of [
      { path: '/a b' },
      { path: '/a\r\nx: y' },
      { headers: { a: 'b\r\nc: d' } },
    ]) {
      await expect(call(target, evil)).rejects.toThrow(/invalid/);
    }
    expect(server.requests).toEqual([]);
    target.close();
  });
});

describe('answers', () => {
  test.each<[claim: string, answering: Answering, status: number, body: string]>([
    ['204 has no body', writes('HTTP/1.1 204 No Content\r\n\r\n'), 204, ''],
    [
      'chunks',
      writes('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n'),
      200,
      'ab',
    ],
    [
      'HTTP/1.0, ended by closing',
      ({ socket }) => void socket.end('HTTP/1.0 200 OK\r\n\r\nold'),
      200,
      'old',
    ],
    [
      'a hint before the answer',
      writes('HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n', answerText('late')),
      200,
      'late',
    ],
  ])('%s', async (_claim, answering, status, body) => {
    await using server = await RawServer.start(answering);
    const target = await openHook(server.url);
    expect(await call(target)).toEqual({ status, body });
    target.close();
  });

  test.each<[claim: string, answering: Answering, failure: object]>([
    [
      'a redirect',
      writes(answerText('', { status: '302 Found', headers: ['location: https://127.0.0.1:1/'] })),
      { kind: 'redirect', status: 302 },
    ],
    ['304', writes('HTTP/1.1 304 Not Modified\r\n\r\n'), { kind: 'redirect', status: 304 }],
    [
      'a status that is no success',
      writes(answerText('no\r\nway\u0000', { status: '500 Oh' })),
      { kind: 'status', status: 500, excerpt: 'no way ' },
    ],
    ['no HTTP', writes('hello there\r\n\r\n'), { kind: 'badAnswer' }],
    [
      'a compressed body',
      writes(answerText('xx', { headers: ['content-encoding: gzip'] })),
      { kind: 'badAnswer', reason: 'the answer is compressed, unasked' },
    ],
    [
      '100 that nobody asked for',
      writes('HTTP/1.1 100 Continue\r\n\r\n', answerText('')),
      { kind: 'badAnswer', reason: 'malformed HTTP response: bad response' },
    ],
    [
      'an upgrade',
      writes('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      { kind: 'badAnswer' },
    ],
    [
      'endless hints',
      writes('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(10)),
      { kind: 'badAnswer', reason: 'too many answers of status 1xx' },
    ],
    [
      'huge headers',
      writes('HTTP/1.1 200 OK\r\n', `x: ${'y'.repeat(1_000)}\r\n`.repeat(100)),
      { kind: 'tooLarge', part: 'header', bytesMax: 65_536 },
    ],
    [
      'a long body that says so',
      writes('HTTP/1.1 200 OK\r\ncontent-length: 101\r\n\r\n'),
      { kind: 'tooLarge', part: 'body', bytesMax: 100 },
    ],
    [
      'an endless body',
      writes(
        'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n',
        '10\r\n0123456789abcdef\r\n'.repeat(50),
      ),
      { kind: 'tooLarge', part: 'body', bytesMax: 100 },
    ],
    [
      'lengths that disagree',
      writes('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'),
      { kind: 'badAnswer' },
    ],
    [
      'length and chunks',
      writes(
        'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
        '1\r\na\r\n0\r\n\r\n',
      ),
      { kind: 'badAnswer' },
    ],
    [
      'a close before the answer',
      ({ socket }) => void socket.end(),
      { kind: 'closed', begun: false, reason: 'EOF' },
    ],
    [
      'a close in the header',
      ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\ncontent-'),
      { kind: 'closed', begun: true, reason: 'unexpected EOF' },
    ],
    [
      'a close in the body',
      ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'),
      { kind: 'closed', begun: true, reason: 'unexpected EOF' },
    ],
  ])('%s fails the call and nothing else', async (_claim, answering, failure) => {
    await using server = await RawServer.start(answering);
    const target = await openHook(server.url);
    expect(await failureOf(call(target, { answerBytesMax: 100 }))).toMatchObject(failure);
    expect(server.requests.length).toBe(1);
    server.answerWith(answerOk);
    expect((await call(target)).status).toBe(200);
    target.close();
  });

  test('the rest of a long error is not read', async () => {
    await using server = await RawServer.start(
      writes('HTTP/1.1 500 No\r\ncontent-length: 1000000\r\n\r\n', 'z'.repeat(5_000)),
    );
    const target = await openHook(server.url);
    const failure = await failureOf(call(target));
    expect(failure).toEqual({ kind: 'status', status: 500, excerpt: 'z'.repeat(1_024) });
    target.close();
  });

  test('a body that cannot be read fails the call without being quoted', async () => {
    await using server = await RawServer.start(writes(answerText('{"secret')));
    const target = await openHook(server.url);
    const error = await errorOf(
      call(target, { decode: (body) => JSON.parse(Buffer.from(body).toString()) as string }),
    );
    expect(error.failure).toMatchObject({ kind: 'badAnswer', excerpt: '{"secret' });
    expect(`${error.message} ${String(error.cause)}`).not.toContain('secret');
    target.close();
  });

  test('a reset fails the call and nothing else', async () => {
    await using server = await RawServer.start((request) => server.reset(request));
    const target = await openHook(server.url);
    const failure = await failureOf(call(target));
    expect(failure).toEqual({ kind: 'closed', begun: false, reason: 'connection reset by peer' });
    server.answerWith(answerOk);
    expect((await call(target)).status).toBe(200);
    target.close();
  });

  test('bytes after an answer are never taken for the next one', async () => {
    await using server = await RawServer.start(
      writes(answerText('mine') + answerText('forged', { status: '201 Forged' })),
    );
    const target = await openHook(server.url);
    for (let count = 0; count < 3; count++) {
      expect(await call(target)).toEqual({ status: 200, body: 'mine' });
    }
    expect(server.connectionCount).toBe(3);
    server.answerWith((request) => {
      answerOk(request);
      setTimeout(() => request.socket.write(answerText('late', { status: '201 Forged' })), 5);
    });
    expect((await call(target)).status).toBe(200);
    await until(() => server.openCount === 0);
    target.close();
  });

  test('errors tell method, URL and cause', async () => {
    const target = await openHook('https://127.0.0.1:1/hook');
    const error = await errorOf(call(target, { path: '/hook?timeout=10s' }));
    expect(error.message).toBe(
      'POST "https://127.0.0.1:1/hook?timeout=10s": ' +
        'dial tcp 127.0.0.1:1: connect: connection refused',
    );
    expect(error.failure.kind).toBe('unreachable');
    target.close();
  });
});

describe('repetition', () => {
  const cutFirst =
    (count: number): Answering =>
    (request) => {
      if (request.index < count) request.socket.destroy();
      else answerOk(request);
    };

  test('happens as often as the caller allows, until there is an answer', async () => {
    await using server = await RawServer.start(cutFirst(2));
    const target = await openHook(server.url);
    expect((await call(target, { retryCount: 2 })).status).toBe(200);
    expect(server.requests.length).toBe(3);
    target.close();
  });

  test('does not happen unasked', async () => {
    await using server = await RawServer.start(cutFirst(1));
    const target = await openHook(server.url);
    expect(await failureOf(call(target))).toMatchObject({ kind: 'closed', begun: false });
    expect(server.requests.length).toBe(1);
    target.close();
  });

  test('does not happen once an answer has begun, nor after one that is no success', async () => {
    await using server = await RawServer.start(({ socket }) => void socket.end('HTTP/1.1 200'));
    const target = await openHook(server.url);
    await failureOf(call(target, { retryCount: 5 }));
    server.answerWith(writes(answerText('', { status: '503 Busy' })));
    await failureOf(call(target, { retryCount: 5 }));
    expect(server.requests.length).toBe(2);
    target.close();
  });

  test('waits twice as long each time, and never past the deadline', async () => {
    const timeoutMs = 2_000;
    const waitsMs: number[] = [];
    /** Sleeps between repetitions take no time; deadlines are longer and stay as they are. */
    const clock: Clock = {
      nowMs: () => systemClock.nowMs(),
      monotonicMs: () => systemClock.monotonicMs() + waitsMs.reduce((sum, ms) => sum + ms, 0),
      after(delayMs, run) {
        if (delayMs >= timeoutMs) return systemClock.after(delayMs, run);
        waitsMs.push(delayMs);
        return systemClock.after(0, run);
      },
    };
    const target = await openHook('https://127.0.0.1:1/', { clock });
    const failure = await failureOf(call(target, { retryCount: 100, timeoutMs }));
    expect(failure.kind).toBe('unreachable');
    for (const [index, waitMs] of waitsMs.entries()) {
      expect(waitMs).toBeGreaterThanOrEqual(50 * 2 ** index);
      expect(waitMs).toBeLessThanOrEqual(100 * 2 ** index);
    }
    // 50 to 100, 100 to 200, …: four waits always fit into two seconds, more than five never do.
    expect([4, 5]).toContain(waitsMs.length);
  });

  test('is not needed for a kept connection that had been closed: another serves', async () => {
    await using server = await RawServer.start(answerOk);
    const target = await openHook(server.url);
    for (let count = 0; count < 5; count++) {
      await call(target);
      const closed = once(server.requests[count]?.socket as EventEmitter, 'close');
      server.cut();
      // The client's side is told in the next turn, when the next call has taken the connection.
      await closed;
    }
    expect(server.requests.length).toBe(5);
    target.close();
  });
});
