// The whole API as one server: what its flags and gates do to it, how it starts and ends, and that
// it serves while memory is filled and while resources come and go.
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Authorizer, Decision } from '../authz/authorizer.ts';
import { abortable } from '../base/abort.ts';
import { ApiOnEtcd, sendTo } from './testing/api-on-etcd.ts';
import { startApiServer } from './testing/api-server.ts';
import type { ApiServerOptions } from './testing/api-server.ts';
import { connectRaw, eventually } from './testing/test-server.ts';
import type { TestServer } from './testing/test-server.ts';

const configMaps = '/api/v1/namespaces/n/configmaps';
const one = `${configMaps}/one`;
let api: ApiOnEtcd;

beforeAll(async () => {
  api = await ApiOnEtcd.start();
  await api.send('POST /api/v1/namespaces', { body: { metadata: { name: 'n' } } });
  await api.send(`POST ${configMaps}`, { body: { metadata: { name: 'one' } } });
});
afterAll(() => api.stop());

/** Another server over the same stores. */
const another = (options: ApiServerOptions = {}): Promise<TestServer> =>
  startApiServer(api.replica, options);

describe('a server', () => {
  test('does not start on a port that is taken, and says which', async () => {
    const { port } = api.server;
    await expect(another({ flags: [`--secure-port=${String(port)}`] })).rejects.toMatchObject({
      code: 'EADDRINUSE',
      syscall: 'listen',
      port,
    });
    expect((await api.send(`GET ${one}`)).status).toBe(200);
  });

  test('answers what is no resource', async () => {
    expect((await api.send('GET /healthz')).body.toString()).toBe('ok');
    expect((await api.send('GET /version')).json).toMatchObject({ gitVersion: 'v1.36.0' });
    expect((await api.send('GET /metrics')).body.toString()).toContain('apiserver_request_total');
    expect((await api.send('GET /api')).json).toMatchObject({ kind: 'APIVersions' });
    expect((await api.send('GET /flagz')).body.toString()).toContain('\nsecure-port=0\n');
    const { status, body } = await api.send('GET /nosuchpath');
    expect([status, body.toString()]).toEqual([404, '404 page not found\n']);
  });

  test('lists every path of that kind, and each answers', async () => {
    const { paths } = (await api.send('GET /')).json as { paths: string[] };
    expect(paths).toEqual([...paths].sort());
    expect(paths).toEqual(
      expect.arrayContaining([
        '/apis/apps/v1',
        '/livez/ping',
        '/metrics',
        '/openapi/v3',
        '/statusz',
      ]),
    );
    const statuses = await Promise.all(paths.map((path) => api.statusOf(`GET ${path}`)));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  test('says what is wrong with it where it is asked for its health', async () => {
    const failure = (): string => 'too old';
    const check = { name: 'certificate', endpoints: ['readyz'], failure } as const;
    await using server = await another({ checks: [check] });
    const ready = await sendTo(server, 'GET /readyz');
    expect([ready.status, ready.body.toString()]).toEqual([
      500,
      expect.stringContaining('[-]certificate failed'),
    ]);
    expect((await sendTo(server, 'GET /livez')).status).toBe(200);
  });

  test('answers a fault of its own with InternalError, logs it, and goes on', async () => {
    const authorizer: Authorizer = {
      name: 'test',
      authorize({ verb }) {
        if (verb === 'delete') throw new TypeError('a fault');
        return { effect: 'allow', reason: '' };
      },
    };
    await using server = await another({ authorizer });
    const { status, json } = await sendTo(server, `DELETE ${one}`);
    expect([status, json]).toMatchObject([500, { kind: 'Status', reason: 'InternalError' }]);
    expect(server.log.filter((line) => line.includes('a fault'))).toHaveLength(1);
    expect((await sendTo(server, `GET ${one}`)).status).toBe(200);
  });
});

describe('flags and gates', () => {
  const authenticate = (): { readonly outcome: 'absent' } => ({ outcome: 'absent' });
  const authenticator = { name: 'nobody', authenticate };

  test('--anonymous-auth=false makes requests without credentials 401', async () => {
    await using open = await another({ authenticator });
    expect((await sendTo(open, `GET ${one}`)).status).toBe(200);
    await using closed = await another({
      authenticator,
      flags: ['--secure-port=0', '--anonymous-auth=false'],
    });
    const { status, json } = await sendTo(closed, `GET ${one}`);
    expect([status, json]).toMatchObject([401, { kind: 'Status', reason: 'Unauthorized' }]);
  });

  test('--request-timeout ends a request that takes longer with Timeout', async () => {
    const authorizer: Authorizer = {
      name: 'test',
      authorize: (_attributes, signal) => abortable(new Promise<Decision>(() => undefined), signal),
    };
    await using server = await another({
      authorizer,
      flags: ['--secure-port=0', '--request-timeout=1s'],
    });
    const { status, json } = await sendTo(server, `GET ${one}`);
    expect([status, json]).toMatchObject([504, { kind: 'Status', reason: 'Timeout' }]);
  });

  test.each([
    ['true', 200, 201],
    ['false', 406, 415],
  ] as const)('CBORServingAndStorage=%s: %d and %d for CBOR', async (isOn, read, write) => {
    await using server = await another({ gates: { CBORServingAndStorage: isOn } });
    const mediaType = 'application/cbor';
    expect((await sendTo(server, `GET ${one}`, { accept: mediaType })).status).toBe(read);
    const body = Buffer.concat([
      Buffer.from('d9d9f7a1686d65746164617461a1', 'hex'), // {"metadata":{…
      Buffer.from('\x6cgenerateName\x62c-', 'latin1'),
    ]);
    const sent = { body, contentType: mediaType };
    expect((await sendTo(server, `POST ${configMaps}`, sent)).status).toBe(write);
    const described = (await sendTo(server, 'GET /openapi/v2')).body.toString();
    expect(described.includes(`"${mediaType}"`)).toBe(isOn === 'true');
  });

  test.each([
    ['true', 'gzip'],
    ['false', undefined],
  ] as const)('APIResponseCompression=%s: Content-Encoding %s', async (isOn, encoding) => {
    await using server = await another({ gates: { APIResponseCompression: isOn } });
    const headers = { 'accept-encoding': 'gzip' };
    const answer = await sendTo(server, 'GET /openapi/v2', { headers });
    expect([answer.status, answer.headers['content-encoding']]).toEqual([200, encoding]);
  });
});

describe('while memory is filled', () => {
  test('reads and writes are answered by etcd, watches wait', async () => {
    const cold = await api.registry.replica({ isCold: true });
    await using server = await startApiServer(cold);
    const body = { metadata: { name: 'cold', labels: { is: 'cold' } } };
    expect((await sendTo(server, `POST ${configMaps}`, { body })).status).toBe(201);
    expect((await sendTo(server, `GET ${configMaps}/cold`)).status).toBe(200);
    const list = await sendTo(server, `GET ${configMaps}?labelSelector=is%3Dcold`);
    expect(list.json).toMatchObject({ items: [{ metadata: { name: 'cold' } }] });
    const raw = await connectRaw(server);
    raw.socket.write(`GET ${configMaps}?watch=1 HTTP/1.1\r\nHost: a\r\n\r\n`);
    const path = `${configMaps}/cold`;
    expect((await sendTo(server, `PATCH ${path}`, { body: { data: { k: '1' } } })).status).toBe(
      200,
    );
    expect(raw.received()).toBe('');
    await cold.cache.start(AbortSignal.timeout(20_000));
    await eventually(() => raw.received().includes('"name":"cold"'));
    raw.socket.destroy();
    expect((await sendTo(server, `DELETE ${path}`)).status).toBe(200);
    expect((await sendTo(server, `GET ${path}`)).status).toBe(404);
  });
});

test('resources that come and go are found at once, in documents too', async () => {
  const { naming, stores } = api.replica;
  const pods = api.replica.store('pods');
  const resource = { ...pods.resource, group: 'zoo.example.com', resource: 'lions' };
  const path = '/apis/zoo.example.com/v1';
  const status = async (asked: string): Promise<number> => (await api.send(`GET ${asked}`)).status;
  const accept = `application/json;g=${naming.discoveryGroup};v=v2;as=APIGroupDiscoveryList`;
  const aggregated = async (): Promise<string> =>
    (await api.send('GET /apis', { accept })).body.toString();
  const before = await aggregated();
  expect([await status(path), await status(`/openapi/v3${path}`)]).toEqual([404, 404]);
  stores.set('lions', [{ ...pods, resource }]);
  expect(await status(`${path}/lions`)).toBe(200);
  expect((await api.send(`GET ${path}`)).json).toMatchObject({
    resources: expect.arrayContaining([
      expect.objectContaining({ name: 'lions' }),
      expect.objectContaining({ name: 'lions/status' }),
    ]),
  });
  expect([await status('/apis/zoo.example.com'), await status(`/openapi/v3${path}`)]).toEqual([
    200, 200,
  ]);
  expect(await aggregated()).toContain('zoo.example.com');
  stores.set('lions', []);
  expect([await status(`${path}/lions`), await status(path)]).toEqual([404, 404]);
  expect(await aggregated()).toBe(before);
});

describe('a drain', () => {
  const bodyOf = (name: string): string => JSON.stringify({ metadata: { name } });

  test('ends watches with a bookmark, finishes writes, then takes no connection', async () => {
    const server = await another();
    const watch = await connectRaw(server);
    watch.socket.write(
      `GET ${configMaps}?watch=1&allowWatchBookmarks=true HTTP/1.1\r\nHost: a\r\n\r\n`,
    );
    await eventually(() => watch.received().includes('ADDED'));
    const write = await connectRaw(server);
    const body = bodyOf('drained');
    write.socket.write(
      `POST ${configMaps} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n` +
        `Expect: 100-continue\r\nContent-Length: ${String(body.length)}\r\n\r\n`,
    );
    await once(write.socket, 'data');
    const drained = server.running.drain({ delayMs: 0, graceMs: 30_000 });
    expect(await watch.closed).toMatch(/BOOKMARK[^]*\r\n0\r\n\r\n$/);
    write.socket.write(body);
    expect(await write.closed).toContain('HTTP/1.1 201 Created');
    await drained;
    await expect(sendTo(server, `GET ${one}`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect((await api.send(`GET ${configMaps}/drained`)).status).toBe(200);
    expect(server.log).toEqual([]);
  });

  test('may be asked for twice, at once and again', async () => {
    const server = await another();
    await sendTo(server, `GET ${one}`);
    const options = { delayMs: 0, graceMs: 1_000 };
    await Promise.all([server.running.drain(options), server.running.drain(options)]);
    await server.running.drain(options);
    await expect(sendTo(server, `GET ${one}`)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
