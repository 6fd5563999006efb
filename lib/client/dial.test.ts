import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { createTestCa } from '../base/testing/certificates.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import type { Address, Resolve } from './addresses.ts';
import { call, failureOf, openHook, until } from './testing/open-calls.ts';
import { RawServer, answerOk, hookNames } from './testing/raw-server.ts';
import type { RawRequest } from './testing/raw-server.ts';
import { startStoppedServer } from './testing/stopped-server.ts';

const isConnecting = (clock: ManualClock): boolean =>
  clock.waitsMs.includes(limits.clientConnectTimeoutMs);

describe('several addresses', () => {
  /** A port that nobody listens at on `deadIp`, and a server at the same port on the other one. */
  const resolves =
    (...ips: readonly string[]): Resolve =>
    async () =>
      ips.map((ip) => ({ ip }));
  const urlOf = (server: RawServer): string => `https://localhost:${String(server.port)}/`;

  test('one that is dead costs no call, and is not tried again for a while', async () => {
    await using server = await RawServer.start(answerOk, { host: '127.0.0.2' });
    let tries = 0;
    const clock: Clock = {
      ...systemClock,
      after(delayMs, run) {
        if (delayMs === limits.clientConnectTimeoutMs) tries++;
        return systemClock.after(delayMs, run);
      },
    };
    const resolve = resolves('127.0.0.1', '127.0.0.2');
    const target = await openHook(urlOf(server), { resolve, clock });
    const triesOfCalls: number[] = [];
    for (let count = 0; count < 4; count++) {
      tries = 0;
      expect((await call(target)).status).toBe(200);
      triesOfCalls.push(tries);
      server.cut();
      await until(() => server.openCount === 0);
    }
    expect(triesOfCalls).toEqual([2, 1, 1, 1]);
    target.close();
  });

  test('all of them dead: the last one is told', async () => {
    const resolve = resolves('127.0.0.1', '127.0.0.2');
    const target = await openHook('https://localhost:1/', { resolve });
    expect(await failureOf(call(target))).toEqual({
      kind: 'unreachable',
      reason: 'dial tcp 127.0.0.2:1: connect: connection refused',
    });
  });

  test('one with a certificate that is not trusted is no reason to try the next', async () => {
    const pair = await (await createTestCa('other')).issue({ use: 'serverAuth', commonName: 'x' });
    await using one = await RawServer.start(answerOk, pair);
    await using two = await RawServer.start(answerOk, { host: '127.0.0.2', port: one.port });
    const resolve = resolves('127.0.0.1', '127.0.0.2');
    const target = await openHook(urlOf(one), { resolve });
    expect((await failureOf(call(target))).kind).toBe('tls');
    expect(two.tcpCount).toBe(0);
    target.close();
  });

  test('very many that are silent: it ends some time', async () => {
    await using silent = await startStoppedServer();
    const found = Array.from({ length: 50 }, () => ({ ip: '127.0.0.1', port: silent.port }));
    const clock = new ManualClock();
    const target = await openHook('https://localhost/', { resolve: async () => found, clock });
    let failure: unknown;
    const made = failureOf(call(target, { timeoutMs: 1_000_000 })).then((is) => (failure = is));
    let triedCount = 0;
    while (failure === undefined) {
      await until(() => failure !== undefined || isConnecting(clock));
      if (failure !== undefined) break;
      triedCount++;
      clock.pass(limits.clientConnectTimeoutMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await made).toEqual({ kind: 'timeout', step: 'connect' });
    expect(triedCount).toBe(limits.clientCallTimeoutMs / limits.clientConnectTimeoutMs);
  });

  test('none', async () => {
    const target = await openHook('https://localhost:1/', { resolve: resolves() });
    expect(await failureOf(call(target))).toEqual({
      kind: 'unreachable',
      reason: 'dial tcp: lookup localhost: no such host',
    });
  });

  test('connections spread over them', async () => {
    const held = new Set<() => void>();
    await using one = await RawServer.start((request) => held.add(() => answerOk(request)));
    await using two = await RawServer.start((request) => held.add(() => answerOk(request)), {
      host: '127.0.0.2',
      port: one.port,
    });
    const target = await openHook(urlOf(one), { resolve: resolves('127.0.0.1', '127.0.0.2') });
    const calls = Array.from({ length: 4 }, () => call(target));
    await until(() => held.size === 4);
    expect([one.connectionCount, two.connectionCount]).toEqual([2, 2]);
    for (const answer of held) answer();
    await Promise.all(calls);
    target.close();
  });

  test('one that went silent is left after one call, with all its connections', async () => {
    const held: RawRequest[] = [];
    const hold = (request: RawRequest): void => void held.push(request);
    await using one = await RawServer.start(hold);
    await using two = await RawServer.start(hold, { host: '127.0.0.2', port: one.port });
    const clock = new ManualClock();
    const resolve = resolves('127.0.0.1', '127.0.0.2');
    const target = await openHook(urlOf(one), { resolve, clock });
    let answeredCount = 0;
    const first = Array.from({ length: 4 }, () => call(target).then(() => answeredCount++));
    await until(() => held.length === 4);
    // The connections that were used last are used first: those of the one that goes silent.
    for (const request of two.requests) answerOk(request);
    await until(() => answeredCount === 2);
    for (const request of one.requests) answerOk(request);
    await Promise.all(first);
    two.answerWith(answerOk);
    one.answerWith(() => undefined);
    const seen = one.requests.length;
    let lost = 0;
    for (let count = 0; count < 10; count++) {
      let isOver = false;
      const made = call(target, { timeoutMs: 1_000 })
        .catch(() => lost++)
        .finally(() => (isOver = true));
      const isStuck = (): boolean => one.requests.length > seen + lost;
      await until(() => isOver || isStuck());
      if (isStuck()) clock.pass(1_000);
      await made;
    }
    expect(lost).toBe(1);
    expect(one.requests.length).toBe(seen + 1);
    expect(one.openCount).toBe(0);
    two.cut();
    await until(() => two.openCount === 0);
    for (let count = 0; count < 2; count++) await call(target, { timeoutMs: 1_000 });
    expect(one.requests.length).toBe(seen + 1);
    target.close();
  });

  test('one that failed has its turn again when it has rested', async () => {
    const clock = new ManualClock();
    await using server = await RawServer.start(answerOk, { host: '127.0.0.2' });
    const tried: string[] = [];
    const resolve: Resolve = async () => {
      tried.push('look-up');
      return [{ ip: '127.0.0.1' }, { ip: '127.0.0.2' }];
    };
    const target = await openHook(urlOf(server), { resolve, clock });
    await call(target);
    clock.pass(limits.clientAddressRestMs);
    await using back = await RawServer.start(answerOk, { port: server.port });
    server.cut();
    await until(() => server.openCount === 0);
    for (let count = 0; count < 2; count++) {
      await call(target);
      back.cut();
      server.cut();
      await until(() => server.openCount + back.openCount === 0);
    }
    expect(back.requests.length).toBeGreaterThan(0);
    expect(tried.length).toBe(3);
    target.close();
  });
});

describe('a connection that is being made', () => {
  test('serves the next call when the one that it is made for has left', async () => {
    await using server = await RawServer.start(answerOk);
    const found = Promise.withResolvers<readonly Address[]>();
    const target = await openHook(server.url, { resolve: () => found.promise });
    const caller = new AbortController();
    const left = call(target, { signal: caller.signal }).catch((reason: unknown) => reason);
    caller.abort(new Error('left'));
    expect(await left).toEqual(new Error('left'));
    found.resolve([{ ip: '127.0.0.1' }]);
    await until(() => server.openCount === 1);
    await call(target);
    expect(server.connectionCount).toBe(1);
    target.close();
  });

  test('is replaced when the server closes it before anybody needs it', async () => {
    await using server = await RawServer.start(answerOk);
    const found = Promise.withResolvers<readonly Address[]>();
    const target = await openHook(server.url, { resolve: () => found.promise });
    const failure = failureOf(call(target, { timeoutMs: 1 }));
    expect(await failure).toEqual({ kind: 'timeout', step: 'resolve' });
    found.resolve([{ ip: '127.0.0.1' }]);
    await until(() => server.openCount === 1);
    server.cut();
    await until(() => server.openCount === 0);
    expect((await call(target)).status).toBe(200);
    expect(server.connectionCount).toBe(2);
    target.close();
  });

  test('is not waited for when another becomes free', async () => {
    const held: RawRequest[] = [];
    await using server = await RawServer.start((request) => void held.push(request));
    const found = Promise.withResolvers<readonly Address[]>();
    let lookups = 0;
    const resolve: Resolve = async () => (lookups++ === 0 ? [{ ip: '127.0.0.1' }] : found.promise);
    const target = await openHook(server.url, { resolve });
    const first = call(target);
    await until(() => held.length === 1);
    const second = call(target);
    await until(() => lookups === 2);
    server.answerWith(answerOk);
    for (const request of held) answerOk(request);
    await Promise.all([first, second]);
    expect(server.connectionCount).toBe(1);
    // The other one is kept as well, for later.
    found.resolve([{ ip: '127.0.0.1' }]);
    await until(() => server.openCount === 2);
    target.close();
    await until(() => server.openCount === 0);
  });

  test('is dropped when nobody waits and the target is closed', async () => {
    await using server = await RawServer.start(answerOk);
    const found = Promise.withResolvers<readonly Address[]>();
    const target = await openHook(server.url, { resolve: () => found.promise });
    const failure = failureOf(call(target, { timeoutMs: 1 }));
    expect(await failure).toEqual({ kind: 'timeout', step: 'resolve' });
    target.close();
    found.resolve([{ ip: '127.0.0.1' }]);
    await until(() => server.tcpCount === 1 && server.tcpOpenCount === 0);
    expect(server.requests).toEqual([]);
  });
});

describe('the look-up', () => {
  test('is one for all calls that need it at the time', async () => {
    await using server = await RawServer.start(answerOk);
    const answer = Promise.withResolvers<readonly { ip: string }[]>();
    let count = 0;
    const resolve: Resolve = () => {
      count++;
      return answer.promise;
    };
    const target = await openHook(`https://localhost:${String(server.port)}/`, { resolve });
    const calls = Array.from({ length: 5 }, () => call(target));
    await until(() => count > 0);
    answer.resolve([{ ip: '127.0.0.1' }]);
    await Promise.all(calls);
    expect(count).toBe(1);
    target.close();
  });

  test('that does not end is not begun again, and later calls do not wait for it', async () => {
    const clock = new ManualClock();
    let count = 0;
    const resolve: Resolve = () => {
      count++;
      return new Promise(() => undefined);
    };
    const target = await openHook('https://hook.tests/', { resolve, clock });
    const first = failureOf(call(target));
    await until(() => clock.waitsMs.includes(limits.clientResolveTimeoutMs));
    clock.pass(limits.clientResolveTimeoutMs);
    expect(await first).toEqual({ kind: 'timeout', step: 'resolve' });
    expect(await failureOf(call(target))).toEqual({ kind: 'timeout', step: 'resolve' });
    expect(count).toBe(1);
  });

  test('is the last word: the name is not looked up again when connecting', async () => {
    await using server = await RawServer.start(answerOk);
    const asked: string[] = [];
    const resolve: Resolve = async (host) => {
      asked.push(host);
      return [{ ip: '127.0.0.1', port: server.port }];
    };
    // Nobody else knows this name, and nobody listens at its port.
    const target = await openHook('https://hook.tests.svc:443/', { resolve });
    expect((await call(target)).status).toBe(200);
    expect(asked).toEqual(['hook.tests.svc']);
    expect(hookNames).toContain('hook.tests.svc');
    target.close();
  });

  test('that gives a name again is a bug', async () => {
    const resolve: Resolve = async () => [{ ip: 'localhost' }];
    const target = await openHook('https://hook.tests/', { resolve });
    await expect(call(target)).rejects.toThrow('localhost is an IP address');
  });

  test('may refuse, in its own words', async () => {
    const resolve: Resolve = () => Promise.reject(new Error('127.0.0.1 must not be called'));
    const target = await openHook('https://hook.tests/', { resolve });
    expect(await failureOf(call(target))).toEqual({
      kind: 'unreachable',
      reason: '127.0.0.1 must not be called',
    });
  });

  test('of the system finds nothing for a name that does not exist', async () => {
    const target = await openHook('https://does-not-exist.invalid/');
    expect(await failureOf(call(target))).toMatchObject({
      kind: 'unreachable',
      reason: expect.stringMatching(/^dial tcp: lookup does-not-exist.invalid: /),
    });
  });
});
