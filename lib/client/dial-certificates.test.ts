import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import net from 'node:net';
import type { AddressInfo } from 'node:net';
import { createTestCa } from '../base/testing/certificates.ts';
import type { LeafRequest, TestCa } from '../base/testing/certificates.ts';
import { makeSettings } from './target-settings.ts';
import { call, failureOf, openHook } from './testing/open-calls.ts';
import { RawServer, answerOk, hookNames, hookTls } from './testing/raw-server.ts';

const dayMs = 86_400_000;
const notTrusted = 'tls: failed to verify certificate: x509:';

interface SameNamed {
  readonly one: TestCa;
  readonly two: TestCa;
  readonly below: TestCa;
  readonly belowSame: TestCa;
  readonly trusted: TestCa;
  readonly forged: TestCa;
  readonly untrusted: TestCa;
  /** The first two, and an intermediate whose root is not in it. */
  readonly bundle: string;
}

/** CAs without key identifiers: nothing but their keys tells them apart. */
async function sameNamed(): Promise<SameNamed> {
  const [one, two, untrusted] = (await Promise.all(
    ['same', 'same', 'same'].map((name) => createTestCa(name)),
  )) as [TestCa, TestCa, TestCa];
  const below = await two.intermediate('below');
  const belowSame = await two.intermediate('same');
  const forged = await two.intermediate('same', { isCa: false });
  const trusted = await (await createTestCa('absent')).intermediate('trusted');
  const bundle = [one, two, trusted].map(({ cert }) => cert).join('\n');
  return { one, two, below, belowSame, trusted, forged, untrusted, bundle };
}

describe('the certificate of the server', () => {
  test('must not have expired', async () => {
    const { ca } = await hookTls();
    const notAfter = new Date(Date.now() - dayMs);
    const pair = await ca.issue({ use: 'serverAuth', commonName: 'old', notAfter });
    await using server = await RawServer.start(answerOk, pair);
    const target = await openHook(server.url);
    expect(await failureOf(call(target))).toEqual({
      kind: 'tls',
      reason: `${notTrusted} certificate has expired or is not yet valid`,
    });
    expect(server.requests).toEqual([]);
    target.close();
  });

  test('must name the host, in its names', async () => {
    const { ca } = await hookTls();
    const pair = await ca.issue({ use: 'serverAuth', commonName: 'x', names: ['a.tests', '::1'] });
    await using server = await RawServer.start(answerOk, pair);
    const target = await openHook(server.url);
    expect(await failureOf(call(target))).toEqual({
      kind: 'tls',
      reason: `${notTrusted} certificate is valid for a.tests, 0:0:0:0:0:0:0:1, not 127.0.0.1`,
    });
    target.close();
  });

  test.each<[claim: string, names: readonly string[], listed: string]>([
    ['must not name it as its common name only', [], 'no name'],
    ['must not name it as its common name beside addresses', ['127.0.0.1'], '127.0.0.1'],
  ])('%s', async (_claim, names, listed) => {
    const { ca } = await hookTls();
    const pair = await ca.issue({ use: 'serverAuth', commonName: 'localhost', names });
    await using server = await RawServer.start(answerOk, pair);
    const target = await openHook(`https://localhost:${String(server.port)}/`);
    expect(await failureOf(call(target))).toEqual({
      kind: 'tls',
      reason: `${notTrusted} certificate is valid for ${listed}, not localhost`,
    });
    target.close();
  });

  test('must be one for servers', async () => {
    const { ca } = await hookTls();
    const pair = await ca.issue({ use: 'clientAuth', commonName: 'x', names: hookNames });
    await using server = await RawServer.start(answerOk, pair);
    const target = await openHook(server.url);
    expect(await failureOf(call(target))).toEqual({
      kind: 'tls',
      reason: `${notTrusted} certificate specifies an incompatible key usage`,
    });
    target.close();
  });

  test.each<[claim: string, ca: 'other' | 'system']>([
    ['must come from a CA that is trusted', 'other'],
    ['must come from the system’s CAs where none are configured', 'system'],
  ])('%s', async (_claim, which) => {
    await using server = await RawServer.start(answerOk);
    const source = which === 'system' ? {} : { ca: (await createTestCa('other')).cert };
    const target = await openHook(server.url);
    target.renew(makeSettings({ url: server.url, ...source }));
    expect(await failureOf(call(target))).toEqual({
      kind: 'tls',
      reason: `${notTrusted} certificate signed by unknown authority`,
    });
    target.close();
  });

  test('may come from any CA of the bundle', async () => {
    await using server = await RawServer.start(answerOk);
    const [other, { ca }] = [await createTestCa('other'), await hookTls()];
    const target = await openHook(server.url, { ca: `# two\n${other.cert}\n# CAs\n${ca.cert}` });
    expect((await call(target)).status).toBe(200);
    target.close();
  });

  test.each<[claim: string, issuer: (of: SameNamed) => TestCa, commonName: string]>([
    ['the first of two CAs of one name', ({ one }) => one, 'x'],
    ['the second of two CAs of one name', ({ two }) => two, 'x'],
    ['a CA whose name it has itself', ({ two }) => two, 'same'],
    ['an intermediate of the second', ({ below }) => below, 'x'],
    [
      'an intermediate, whose name and whose CA’s name it has',
      ({ belowSame }) => belowSame,
      'same',
    ],
    ['an intermediate that alone is trusted', ({ trusted }) => trusted, 'x'],
  ])('may come from %s', async (_claim, issuer, commonName) => {
    const cas = await sameNamed();
    const ca = issuer(cas);
    const pair = await ca.issue({ use: 'serverAuth', commonName });
    await using server = await RawServer.start(answerOk, { ...pair, cert: pair.cert + ca.cert });
    const target = await openHook(server.url, { ca: cas.bundle });
    expect((await call(target)).status).toBe(200);
    target.close();
  });

  test.each<[claim: string, request: Partial<LeafRequest>, of: 'two' | 'untrusted' | 'forged']>([
    ['has expired', { notAfter: new Date(Date.now() - dayMs) }, 'two'],
    ['is for clients', { use: 'clientAuth' }, 'two'],
    ['is of a third CA of that name', {}, 'untrusted'],
    ['comes from what is no CA', {}, 'forged'],
  ])('is refused where names are the same and it %s', async (_claim, request, of) => {
    const cas = await sameNamed();
    const ca = cas[of];
    const pair = await ca.issue({ use: 'serverAuth', commonName: 'same', ...request });
    await using server = await RawServer.start(answerOk, { ...pair, cert: pair.cert + ca.cert });
    const target = await openHook(server.url, { ca: cas.bundle });
    expect(await failureOf(call(target))).toMatchObject({ kind: 'tls' });
    expect(server.requests).toEqual([]);
    target.close();
  });

  test('is checked for the configured name instead of the host, and asked for by it', async () => {
    const { ca } = await hookTls();
    const pair = await ca.issue({ use: 'serverAuth', commonName: 'x', names: ['inner.tests'] });
    await using server = await RawServer.start(answerOk, pair);
    const target = await openHook(server.url, { serverName: 'inner.tests' });
    expect((await call(target)).status).toBe(200);
    const [request] = server.requests;
    expect((request?.socket as { servername?: string } | undefined)?.servername).toBe(
      'inner.tests',
    );
    target.close();
  });

  test('is not looked at where that is switched off', async () => {
    const pair = await (await createTestCa('own')).issue({ use: 'serverAuth', commonName: 'x' });
    await using server = await RawServer.start(answerOk, pair);
    const target = await openHook(server.url, { isServerUnchecked: true });
    expect((await call(target)).status).toBe(200);
    target.close();
  });
});

describe('the certificate of the client', () => {
  const wantsOne = { requestCert: true, rejectUnauthorized: true };

  test('is shown to a server that wants one', async () => {
    const { ca } = await hookTls();
    const clientCertificate = await ca.issue({ use: 'clientAuth', commonName: 'api' });
    await using server = await RawServer.start(answerOk, { ...wantsOne, ca: ca.cert });
    const target = await openHook(server.url, { clientCertificate });
    await call(target);
    expect(server.requests[0]?.socket.getPeerCertificate().subject.CN).toBe('api');
    target.close();
  });

  test.each<[version: 'TLSv1.2' | 'TLSv1.3']>([['TLSv1.2'], ['TLSv1.3']])(
    'that is missing is a failure of TLS (%s)',
    async (maxVersion) => {
      const { ca } = await hookTls();
      await using server = await RawServer.start(answerOk, {
        ...wantsOne,
        ca: ca.cert,
        maxVersion,
      });
      const target = await openHook(server.url);
      const failure = await failureOf(call(target));
      expect(failure).toMatchObject({ kind: 'tls' });
      expect(failure).toMatchObject({
        reason: expect.stringMatching(/^remote error: tls: .*alert/),
      });
      target.close();
    },
  );
});

test('no TLS is a failure of TLS', async () => {
  const plain = net.createServer((socket) => {
    socket.on('error', () => undefined).end('HTTP/1.1 400 Bad\r\n\r\n');
  });
  await once(plain.listen(0, '127.0.0.1'), 'listening');
  const { port } = plain.address() as AddressInfo;
  const target = await openHook(`https://127.0.0.1:${String(port)}/`);
  expect(await failureOf(call(target))).toEqual({
    kind: 'tls',
    reason: 'remote error: tls: wrong version number',
  });
  plain.close();
});
