// Calls through proxies: what the proxy is asked, and how calls fail that it does not let through.
import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { limits } from '../base/limits.ts';
import { parseProxy } from './proxy.ts';
import { call, errorOf, openHook, until } from './testing/open-calls.ts';
import { RawServer, answerOk, hookTls } from './testing/raw-server.ts';
import { startProxy } from './testing/proxy-server.ts';

const proxyAt = (url: string) => parseProxy(url, 'proxy-url');
const portOf = ({ port }: { readonly port: number }): string => String(port);

describe('a call goes through', () => {
  test('a proxy that looks the name up, with its user, once a connection', async () => {
    await using server = await RawServer.start(answerOk);
    await using proxy = await startProxy();
    const target = await openHook(`https://hook.tests.svc:${portOf(server)}/hook`, {
      proxy: proxyAt(`http://user:pass%20word@127.0.0.1:${portOf(proxy)}`),
    });
    expect((await call(target)).status).toBe(200);
    expect((await call(target)).status).toBe(200);
    const place = `hook.tests.svc:${portOf(server)}`;
    const secret = Buffer.from('user:pass word').toString('base64');
    expect(proxy.asked).toEqual([
      `CONNECT ${place} HTTP/1.1\r\nHost: ${place}\r\nProxy-Authorization: Basic ${secret}`,
    ]);
    expect(server.requests[0]?.head).not.toMatch(/proxy/i);
    target.close();
  });

  test('a proxy that speaks TLS, proven as the target is', async () => {
    const { pair } = await hookTls();
    await using server = await RawServer.start(answerOk);
    await using proxy = await startProxy({ pair });
    const through = proxyAt(`https://localhost:${portOf(proxy)}`);
    const target = await openHook(server.url, { proxy: through });
    expect((await call(target)).status).toBe(200);
    expect(proxy.asked.length).toBe(1);
    target.close();
  });

  test.each<[user: string, host: string, asked: string]>([
    ['', 'hook.tests.svc', 'hook.tests.svc:PORT'],
    ['user:pass@', 'localhost', 'localhost:PORT user:pass'],
    ['', '127.0.0.1', '127.0.0.1:PORT'],
  ])('a SOCKS5 proxy (%j, %s)', async (user, host, asked) => {
    await using server = await RawServer.start(answerOk);
    await using proxy = await startProxy({ isSocks: true });
    const target = await openHook(`https://${host}:${portOf(server)}/`, {
      proxy: proxyAt(`socks5://${user}127.0.0.1:${portOf(proxy)}`),
    });
    expect((await call(target)).status).toBe(200);
    expect(proxy.asked).toEqual([asked.replace('PORT', portOf(server))]);
    target.close();
  });
});

describe('a call fails', () => {
  test.each<[claim: string, options: Parameters<typeof startProxy>[0], reason: string]>([
    [
      'where the proxy wants to know who calls',
      { answer: 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n' },
      'http://127.0.0.1:PORT answers CONNECT a.tests:443 with 407 Proxy Authentication Required',
    ],
    [
      'where the proxy answers anything but 200',
      { answer: 'HTTP/1.1 204 \x1b[31mFine\r\n\r\n' },
      'http://127.0.0.1:PORT answers CONNECT a.tests:443 with 204  [31mFine',
    ],
    [
      'where it is no proxy',
      { answer: 'SSH-2.0\r\n\r\n' },
      'the answer of http://127.0.0.1:PORT to CONNECT is no HTTP',
    ],
    ['where the proxy hangs up', { answer: 'HTTP/1.1 2' }, 'the proxy closes the connection'],
    [
      'where the proxy sends more than its answer',
      { answer: 'HTTP/1.1 200 OK\r\n\r\nmore' },
      'the proxy sends more than its answer',
    ],
  ])('%s', async (_claim, options, reason) => {
    await using proxy = await startProxy(options);
    const url = `http://user:secret@127.0.0.1:${portOf(proxy)}`;
    const target = await openHook('https://a.tests/', { proxy: proxyAt(url) });
    const error = await errorOf(call(target));
    expect(error.failure).toEqual({
      kind: 'unreachable',
      reason: `proxyconnect tcp: ${reason.replace('PORT', portOf(proxy))}`,
    });
    expect(error.place).toMatchObject({ step: 'proxy', address: `127.0.0.1:${portOf(proxy)}` });
    expect(error.message).not.toContain('secret');
    target.close();
  });

  test('where SOCKS5 does not connect', async () => {
    await using proxy = await startProxy({ isSocks: true, answer: '5' });
    const through = proxyAt(`socks5://127.0.0.1:${portOf(proxy)}`);
    const target = await openHook('https://a.tests/', { proxy: through });
    expect((await errorOf(call(target))).reason).toBe(
      `proxyconnect tcp: socks5://127.0.0.1:${portOf(proxy)} does not connect to a.tests:443: ` +
        'connection refused',
    );
    target.close();
  });

  test('where nobody listens, and where nobody knows the proxy', async () => {
    const port = await (async () => {
      await using gone = await startProxy();
      return portOf(gone);
    })();
    const target = await openHook('https://a.tests/', {
      proxy: proxyAt(`http://127.0.0.1:${port}`),
    });
    expect((await errorOf(call(target))).reason).toBe(
      `proxyconnect tcp: dial tcp 127.0.0.1:${port}: connect: connection refused`,
    );
    target.close();
    const unknown = await openHook('https://a.tests/', {
      proxy: proxyAt('http://proxy.tests'),
      resolve: () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' })),
    });
    expect((await errorOf(call(unknown))).reason).toBe(
      'proxyconnect tcp: dial tcp: lookup proxy.tests: no such host',
    );
    unknown.close();
  });

  test('where the certificate of the proxy names another', async () => {
    const { ca } = await hookTls();
    const pair = await ca.issue({ use: 'serverAuth', commonName: 'p', names: ['p.tests'] });
    await using proxy = await startProxy({ pair });
    const through = proxyAt(`https://127.0.0.1:${portOf(proxy)}`);
    const target = await openHook('https://a.tests/', { proxy: through });
    expect((await errorOf(call(target))).failure).toEqual({
      kind: 'tls',
      reason:
        'proxyconnect tcp: tls: failed to verify certificate: ' +
        'x509: certificate is valid for p.tests, not 127.0.0.1',
    });
    target.close();
  });

  test('where the proxy never answers', async () => {
    await using proxy = await startProxy({ isSilent: true });
    const clock = new ManualClock();
    const through = proxyAt(`http://127.0.0.1:${portOf(proxy)}`);
    const target = await openHook('https://a.tests/', { proxy: through, clock });
    const failing = errorOf(call(target));
    await until(() => clock.waitsMs.includes(limits.clientProxyTimeoutMs));
    clock.pass(limits.clientProxyTimeoutMs);
    expect((await failing).failure).toEqual({ kind: 'timeout', step: 'proxy' });
    target.close();
  });
});
