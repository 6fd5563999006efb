import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { limits } from '../base/limits.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import type { Step } from './call-error.ts';
import { CallProgress } from './call-progress.ts';
import { call, errorOf, failureOf, openHook, until } from './testing/open-calls.ts';
import { RawServer, answerText } from './testing/raw-server.ts';
import { startStoppedServer } from './testing/stopped-server.ts';

const timeoutMs = 60_000;

/** Starts a call, waits until it is in the step with this deadline, and lets the time pass. */
async function outcomeAfter(
  passMs: number,
  options: Parameters<typeof openHook>[1] & {
    readonly url: string;
    readonly isThere: () => boolean;
    readonly body?: Buffer;
  },
): Promise<string> {
  const clock = new ManualClock();
  const { url, isThere, body = Buffer.from('{}'), ...rest } = options;
  const target = await openHook(url, { clock, ...rest });
  const made = errorOf(call(target, { timeoutMs, body }));
  await until(() => isThere() && clock.waitsMs.includes(passMs));
  clock.pass(passMs);
  const error = await made;
  target.close();
  return error.reason;
}

describe('each step has a deadline of its own, and the call names the step', () => {
  test('resolving', async () => {
    const options = { url: 'https://nowhere.tests/', resolve: () => new Promise<never>(() => {}) };
    expect(
      await outcomeAfter(limits.clientResolveTimeoutMs, { ...options, isThere: () => true }),
    ).toBe('deadline exceeded while resolving the name');
  });

  test('connecting', async () => {
    await using server = await startStoppedServer();
    const url = `https://127.0.0.1:${String(server.port)}/`;
    expect(await outcomeAfter(limits.clientConnectTimeoutMs, { url, isThere: () => true })).toBe(
      'deadline exceeded while connecting',
    );
  });

  test('agreeing on TLS', async () => {
    const silent = net.createServer().listen(0, '127.0.0.1');
    const sockets = new Set<Socket>();
    silent.on('connection', (socket: Socket) => sockets.add(socket));
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const isThere = (): boolean => sockets.size === 1;
    const url = `https://127.0.0.1:${String(port)}/`;
    expect(await outcomeAfter(limits.clientHandshakeTimeoutMs, { url, isThere })).toBe(
      'deadline exceeded while agreeing on TLS',
    );
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test('sending', async () => {
    await using server = await RawServer.start(() => {});
    server.readNothing();
    const isThere = (): boolean => server.openCount === 1;
    const body = Buffer.alloc(32 * 1024 * 1024);
    expect(await outcomeAfter(limits.clientSendTimeoutMs, { url: server.url, isThere, body })).toBe(
      'deadline exceeded while sending the request',
    );
  });

  test('waiting for the answer to a request that took a while to send', async () => {
    await using server = await RawServer.start(() => {});
    const isThere = (): boolean => server.requests.length === 1;
    const body = Buffer.alloc(1024 * 1024);
    expect(
      await outcomeAfter(limits.clientHeaderTimeoutMs, { url: server.url, isThere, body }),
    ).toBe('deadline exceeded while waiting for the answer');
  });

  test('waiting for the answer', async () => {
    await using server = await RawServer.start(() => {});
    const isThere = (): boolean => server.requests.length === 1;
    expect(await outcomeAfter(limits.clientHeaderTimeoutMs, { url: server.url, isThere })).toBe(
      'deadline exceeded while waiting for the answer',
    );
  });

  test('reading the answer, however slowly it drips', async () => {
    let dripCount = 0;
    await using server = await RawServer.start(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n');
      const drip = setInterval(() => {
        dripCount++;
        socket.write('x');
      }, 2);
      socket.once('close', () => {
        clearInterval(drip);
      });
    });
    const isThere = (): boolean => dripCount > 3;
    expect(await outcomeAfter(limits.clientBodyTimeoutMs, { url: server.url, isThere })).toBe(
      'deadline exceeded while reading the answer',
    );
  });
});

describe('a call', () => {
  test('ends at its own deadline, in whatever step it is', async () => {
    await using server = await RawServer.start(() => {});
    const clock = new ManualClock();
    const target = await openHook(server.url, { clock });
    const made = failureOf(call(target, { timeoutMs: 1_000 }));
    await until(() => server.requests.length === 1);
    clock.pass(999);
    expect(clock.waitsMs).toEqual([1]);
    clock.pass(1);
    expect(await made).toEqual({ kind: 'timeout', step: 'header' });
    expect(clock.waitsMs).toEqual([]);
    await until(() => server.openCount === 0);
    target.close();
  });

  test('ends with the reason of its caller, and leaves nothing behind', async () => {
    await using server = await RawServer.start(() => {});
    const clock = new ManualClock();
    const target = await openHook(server.url, { clock });
    const caller = new AbortController();
    const made = call(target, { signal: caller.signal });
    await until(() => server.requests.length === 1);
    const reason = new Error('the client left');
    caller.abort(reason);
    await expect(made).rejects.toBe(reason);
    await until(() => server.openCount === 0);
    expect(clock.waitsMs).toEqual([]);
    await expect(call(target, { signal: caller.signal })).rejects.toBe(reason);
    expect(server.requests.length).toBe(1);
    target.close();
  });

  test('that is answered leaves no timer', async () => {
    await using server = await RawServer.start(({ socket }) => void socket.write(answerText('a')));
    const clock = new ManualClock();
    const target = await openHook(server.url, { clock });
    await call(target);
    expect(clock.waitsMs).toEqual([]);
    target.close();
  });
});

test('a step that may last as long as the call needs no timer of its own', () => {
  const clock = new ManualClock();
  const progress = new CallProgress(
    { method: 'POST', url: 'https://a/' },
    { clock, signal: new AbortController().signal, timeoutMs: 12_000 },
  );
  const timersOf = (step: Step): number => {
    progress.enter(step);
    return clock.waitsMs.length;
  };
  expect(timersOf('queue')).toBe(1);
  expect(timersOf('send')).toBe(2);
  expect(timersOf('header')).toBe(1);
  progress.close();
  expect(clock.waitsMs).toEqual([]);
});
