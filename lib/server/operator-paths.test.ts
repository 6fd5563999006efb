import { describe, expect, test } from '@jest/globals';
import { createLogger } from '../base/log.ts';
import { Health } from '../telemetry/health.ts';
import { operatorPaths } from './operator-paths.ts';
import { request1, startTestServer } from './testing/test-server.ts';
import type { TestServer } from './testing/test-server.ts';

const log: string[] = [];
let isBroken = false;
const start = (): Promise<TestServer> => {
  const endpoints = ['livez', 'readyz', 'healthz'] as const;
  const failure = (): string | undefined => (isBroken ? 'password=canary' : undefined);
  const paths = operatorPaths({
    health: new Health([
      { name: 'etcd', endpoints, failure },
      { name: 'hook/a/b', endpoints: ['healthz'], failure: () => undefined },
    ]),
    logger: createLogger('info', (line) => void log.push(line)),
    metrics: new Map([
      ['/metrics', () => Promise.resolve({ contentType: 'text/plain', body: 'metric 1\n' })],
    ]),
    version: { major: '1' },
    discovery: () => Promise.resolve(false),
    servesGroup: (group) => group === 'apps',
    documents: [{ path: '/keys', contentType: 'application/jwk-set+json', text: '{}' }],
    pages: new Map([['/statusz', (_request, response) => void response.end('status')]]),
    paths: () => ['/version', '/metrics'],
  });
  return startTestServer({ filters: [paths] });
};

describe('a document of the issuer', () => {
  test.each([
    ['*/*', 200],
    ['application/jwk-set+json', 200],
    ['application/json, application/*;q=0.1', 200],
    [undefined, 200],
    ['application/json', 406],
    ['application/jwk-set+json;q=0', 406],
  ])('to whoever accepts %s: %d', async (accept, status) => {
    await using server = await start();
    const answer = await request1(server, '/keys', {
      headers: accept === undefined ? {} : { accept },
    });
    expect(answer.status).toBe(status);
    if (status !== 200) return;
    expect(answer.body.toString()).toBe('{}');
    expect(answer.headers).toMatchObject({
      'content-type': 'application/jwk-set+json',
      'cache-control': 'public, max-age=3600',
    });
  });
});

describe('operator paths', () => {
  test.each([
    ['GET', '/livez', 200, 'ok'],
    ['HEAD', '/livez', 200, ''],
    ['GET', '/readyz/etcd', 200, 'ok'],
    ['GET', '/readyz/ping', 200, 'ok'],
    ['GET', '/healthz/hook/a/b', 200, 'ok'],
    ['GET', '/healthz/hook/a', 404, '404 page not found\n'],
    ['GET', '/readyz/unknown', 404, '404 page not found\n'],
    ['GET', '/livez?verbose', 200, '[+]ping ok\n[+]etcd ok\nhealthz check passed\n'],
    ['GET', '/metrics', 200, 'metric 1\n'],
    ['GET', '/version', 200, '{\n  "major": "1"\n}'],
    ['GET', '/version/', 200, '{\n  "major": "1"\n}'],
    ['GET', '/', 200, '{\n  "paths": [\n    "/metrics",\n    "/version"\n  ]\n}'],
    ['GET', '/index.html', 200, '{\n  "paths": [\n    "/metrics",\n    "/version"\n  ]\n}'],
    ['GET', '/statusz', 200, 'status'],
    ['GET', '/statusz/', 404, undefined],
    ['POST', '/', 405, undefined],
    ['POST', '/version', 405, undefined],
    ['GET', '/metrics/', 404, undefined],
    ['GET', '/livez/', 404, undefined],
    ['GET', '/livez/ping/', 404, undefined],
    ['POST', '/livez/..%2fmetrics', 404, undefined],
    ['GET', '/unknown', 404, undefined],
    ['GET', '/Livez', 404, undefined],
    ['GET', '/%6civez', 404, undefined],
    ['GET', '/livez/%ff', 404, undefined],
    ['GET', '/livez/..%2fmetrics', 404, undefined],
    ['GET', '/livez/../metrics', 404, undefined],
    ['GET', '//metrics', 404, undefined],
  ])('%s %s: %d', async (method, path, status, body) => {
    await using server = await start();
    const answer = await request1(server, path, { method });
    expect(answer.status).toBe(status);
    if (body !== undefined) expect(answer.body.toString()).toBe(body);
  });

  test.each(['/livez', '/readyz?verbose', '/healthz/ping', '/healthz/unknown'])(
    '%s is text and nothing else',
    async (path) => {
      await using server = await start();
      const { headers } = await request1(server, path);
      expect(headers).toMatchObject({
        'content-type': 'text/plain; charset=utf-8',
        'x-content-type-options': 'nosniff',
      });
    },
  );

  test('a failing check is 500, its reason in the log alone', async () => {
    await using server = await start();
    isBroken = true;
    const answer = await request1(server, '/readyz');
    isBroken = false;
    expect(answer.status).toBe(500);
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(answer.body.toString()).toBe(
      '[+]ping ok\n[-]etcd failed: reason withheld\nreadyz check failed\n',
    );
    expect(log.join('')).toContain('health check failed');
  });
});
