import { describe, expect, test } from '@jest/globals';
import { openTarget } from './open-target.ts';
import { call, clientParts, failureOf } from './testing/open-calls.ts';
import { RawServer, answerOk, hookTls } from './testing/raw-server.ts';

describe('the clientConfig of a webhook', () => {
  test('h.client-url: with a URL, named in TLS, in HTTP/1.1', async () => {
    await using server = await RawServer.start(answerOk, { ALPNProtocols: ['h2', 'http/1.1'] });
    const { ca } = await hookTls();
    const caBundle = Buffer.from(ca.cert).toString('base64');
    const url = `https://localhost:${String(server.port)}/hook`;
    const target = await openTarget({ webhook: { url, caBundle } }, clientParts());
    expect((await call(target)).status).toBe(200);
    const [request] = server.requests;
    expect(request?.head).toMatch(/^POST \/hook HTTP\/1\.1\r\n/);
    expect(request?.socket.alpnProtocol).not.toBe('h2');
    expect(request?.socket).toMatchObject({ servername: 'localhost' });
    target.close();
  });

  test('with a service: its certificate names the service, its endpoints are called', async () => {
    await using server = await RawServer.start(answerOk);
    const { ca } = await hookTls();
    const caBundle = Buffer.from(ca.cert).toString('base64');
    const asked: unknown[] = [];
    const target = await openTarget(
      { webhook: { service: { namespace: 'tests', name: 'hook', path: '/admit' }, caBundle } },
      {
        ...clientParts(),
        services: {
          places: () => undefined,
          resolve: async (service) => {
            asked.push(service);
            return [{ ip: '127.0.0.1', port: server.port }];
          },
        },
      },
    );
    await call(target, { path: '/admit?timeout=10s' });
    expect(asked).toEqual([{ namespace: 'tests', name: 'hook', port: 443 }]);
    expect(server.requests[0]?.head).toMatch(/^POST \/admit\?timeout=10s HTTP/);
    expect(server.requests[0]?.head).toMatch(/^host: hook\.tests\.svc/m);
    target.close();
  });

  test('h.client-url: with a bundle of white space: the system’s roots are trusted', async () => {
    await using server = await RawServer.start(answerOk);
    const caBundle = Buffer.from(' \n').toString('base64');
    const target = await openTarget({ webhook: { url: server.url, caBundle } }, clientParts());
    expect(await failureOf(call(target))).toMatchObject({ kind: 'tls' });
    target.close();
  });

  test('with a service that has no endpoints', async () => {
    const webhook = { service: { namespace: 'tests', name: 'hook', port: 8443 } };
    const target = await openTarget({ webhook }, clientParts());
    await expect(call(target)).rejects.toThrow('POST "https://hook.tests.svc:8443/": no endpoints');
  });

  test.each<[problem: string, webhook: object]>([
    ['url or service is missing', {}],
    [
      'url and service exclude each other',
      { url: 'https://a', service: { namespace: 'a', name: 'b' } },
    ],
    ['the URL "http://a/" is no https:// URL', { url: 'http://a/' }],
    ['the URL cannot be read', { url: 'nonsense' }],
    ['the URL must not hold a user or password', { url: 'http://u:secret@a/' }],
    ['the URL "https://a/?x=1" must not have a query or a fragment', { url: 'https://a/?x=1' }],
    ['caBundle is not base64', { url: 'https://a/', caBundle: '#' }],
    [
      'the CA bundle is not one PEM certificate or more',
      { url: 'https://a/', caBundle: 'bm90IHBlbQ==' },
    ],
  ])('is refused: %s', async (problem, webhook) => {
    await expect(openTarget({ webhook }, clientParts())).rejects.toThrow(problem);
  });
});
