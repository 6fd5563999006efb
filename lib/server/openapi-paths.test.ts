import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { gunzipSync } from 'node:zlib';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { namingProfile } from '../api/vendor.ts';
import { systemClock } from '../base/clock.ts';
import { createOpenApi } from '../discovery/openapi.ts';
import { openApiPaths } from './openapi-paths.ts';
import { request1, startTestServer } from './testing/test-server.ts';
import type { TestAnswer, TestServer } from './testing/test-server.ts';

const nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
let server: TestServer;
let url = '';
const get = (path: string, headers: Record<string, string> = {}): Promise<TestAnswer> =>
  request1(server, path, { headers });
const json = <T>({ body }: TestAnswer): T => JSON.parse(body.toString('utf8')) as T;

beforeAll(async () => {
  const scheme = builtInScheme({ profile: namingProfile('kubernetes') });
  const openApi = createOpenApi({
    scheme,
    groups: () => scheme.groups,
    media: { objects: ['application/json'], streams: [], patches: [] },
    listsValues: true,
    serverVersion: 'v1.36.0',
    answersDeletedObject: () => false,
    clock: systemClock,
  });
  const answer = openApiPaths({
    openApi: () => openApi,
    clock: { ...systemClock, nowMs: () => nowMs },
    compress: true,
  });
  server = await startTestServer({
    filters: [
      async (request, response, next) => {
        if (!(await answer(request, response))) return next();
      },
    ],
  });
  const { paths } = json<{ paths: Record<string, { serverRelativeURL: string }> }>(
    await get('/openapi/v3'),
  );
  url = paths['apis/apps/v1']?.serverRelativeURL ?? '';
});
afterAll(() => server[Symbol.asyncDispose]());

describe('a document', () => {
  test('is JSON unless asked for otherwise', async () => {
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      const answer = await get('/openapi/v2', headers);
      expect(answer.status).toBe(200);
      expect(answer.headers).toMatchObject({ 'content-type': 'application/json', vary: 'Accept' });
      expect(json<{ swagger: string }>(answer).swagger).toBe('2.0');
    }
  });

  test.each([
    ['/openapi/v2', 'v2', 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'],
    ['/openapi/v2', 'v2', 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'],
    ['/openapi/v3/api/v1', 'v3', 'application/com.github.proto-openapi.spec.v3@v1.0+protobuf'],
    ['/openapi/v3/api/v1', 'v3', 'application/com.github.proto-openapi.spec.v3.v1.0+protobuf'],
  ])('%s is Protobuf of %s for %s', async (path, version, accept) => {
    const answer = await get(path, { accept: `${accept}, */*;q=0.1` });
    expect(answer.headers['content-type']).toBe(
      `application/com.github.proto-openapi.spec.${version}.v1.0+protobuf`,
    );
    expect(answer.body[0]).toBe(0x0a); // the version of OpenAPI, member 1
    expect(answer.headers.etag).toBe((await get(path)).headers.etag);
  });

  test.each(['/openapi/v2', '/openapi/v3/api/v1'])('%s in YAML is 406', async (path) => {
    expect((await get(path, { accept: 'application/yaml' })).status).toBe(406);
  });

  test.each(['/openapi/v2', '/openapi/v3', '/openapi/v3/version'])(
    '%s is not sent again to who has it',
    async (path) => {
      const etag = String((await get(path)).headers.etag);
      const again = await get(path, { 'if-none-match': etag });
      expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
      expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
    },
  );

  test('is zipped, and caches learn what it depends on', async () => {
    const answer = await get('/openapi/v2', { 'accept-encoding': 'gzip' });
    expect(answer.headers).toMatchObject({
      'content-encoding': 'gzip',
      vary: 'Accept, Accept-Encoding',
    });
    expect(gunzipSync(answer.body)).toEqual((await get('/openapi/v2')).body);
  });

  test.each(['/openapi/v3/apis/none/v1', '/openapi', '/openapi/v4', '/openapi/v3/__proto__'])(
    '%s is not there',
    async (path) => {
      expect((await get(path)).status).toBe(404);
    },
  );
});

describe('the address with the hash', () => {
  test('may be cached for ever', async () => {
    const answer = await get(url);
    expect(answer.headers).toMatchObject({
      'cache-control': 'public, immutable',
      expires: 'Sat, 02 Jan 2027 03:04:05 GMT',
      vary: 'Accept',
    });
    expect(answer.headers.etag).toBe(`"${url.slice(url.indexOf('=') + 1)}"`);
  });

  test('is found under an old hash, and without one is not cached', async () => {
    const old = await get(`${url.slice(0, url.indexOf('='))}=0123`);
    expect([old.status, old.headers.location, old.body.length]).toEqual([301, url, 0]);
    const plain = await get('/openapi/v3/apis/apps/v1');
    expect([plain.status, plain.headers['cache-control']]).toEqual([200, 'no-cache, private']);
  });
});
