// Subresources that take requests over, from their records alone: plain and upgraded, over HTTP/1.1
// and HTTP/2, behind all filters.
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import WebSocket, { WebSocketServer } from 'ws';
import type { Authorizer } from '../authz/authorizer.ts';
import { badRequest } from '../base/status.ts';
import { RegistryOnEtcd } from '../registry/testing/registry-on-etcd.ts';
import type { Replica } from '../registry/testing/registry-on-etcd.ts';
import type { ConnectRequest } from '../registry/requests.ts';
import type { Subresource } from '../registry/verb-target.ts';
import { startApiServer } from './testing/api-server.ts';
import { Auditing } from './testing/auditing.ts';
import { connect2, connectRaw, eventually, request1, request2 } from './testing/test-server.ts';
import type { RawConnection, TestServer } from './testing/test-server.ts';

let registry: RegistryOnEtcd;
let replica: Replica;
let server: TestServer;
let auditing: Auditing;
let taken: ConnectRequest[] = [];
let authorized: string[] = [];
let mayConnect = true;
/** undefined: every verb is allowed. */
let allowedVerb: string | undefined;
const path = '/api/v1/namespaces/n/pods/a';

const authorizer: Authorizer = {
  name: 'test',
  authorize({ verb, resource, subresource, name }) {
    if (resource === 'pods') authorized.push(`${verb} ${resource}/${subresource} ${name}`);
    const isAllowed = mayConnect && (allowedVerb ?? verb) === verb;
    return { effect: isAllowed ? 'allow' : 'noOpinion', reason: '' };
  },
};

beforeAll(async () => {
  registry = await RegistryOnEtcd.start();
  replica = await registry.replica();
  auditing = new Auditing(replica.scheme, { rules: [{ level: 'RequestResponse' }] });
  server = await start();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await registry.stop();
});
afterEach(() => {
  taken = [];
  authorized = [];
  mayConnect = true;
  allowedVerb = undefined;
});

function start(): Promise<TestServer> {
  const stores = replica.stores.all.map((store) =>
    store.resource.group === '' && store.resource.resource === 'pods'
      ? { ...store, subresources: new Map([echo('exec'), echo('proxy')]) }
      : store,
  );
  return startApiServer(replica, { stores, authorizer, auditor: auditing.auditor });
}

/** Gives back what it is sent, as the query says. */
function echo(name: 'exec' | 'proxy'): [string, Subresource] {
  const pods = replica.scheme.resource({ group: '', version: 'v1', resource: 'pods' });
  if (pods === undefined) throw new Error('not served');
  const kind = {
    group: '',
    version: 'v1',
    kind: name === 'exec' ? 'PodExecOptions' : 'PodProxyOptions',
  };
  const verbs =
    name === 'exec' ? ['create', 'get'] : ['create', 'delete', 'get', 'patch', 'update'];
  const record: Subresource = {
    info: { name, kind, verbs },
    resource: pods,
    input: pods,
    takesPath: name === 'proxy',
    connect: async (connection) => {
      taken.push(connection);
      const { request, response, query, upgrade, signal } = connection;
      if (query.get('fail') === 'early') throw badRequest('no such container');
      if (upgrade === undefined) {
        response.writeHead(200, { 'content-type': 'application/octet-stream' });
        response.flushHeaders();
        if (query.get('fail') === 'late') throw badRequest('the container ended');
        for await (const chunk of request) response.write(chunk);
        response.end();
        return;
      }
      const { socket, head } = upgrade;
      if (request.headers.upgrade === 'websocket') {
        const acceptor = new WebSocketServer({ noServer: true });
        acceptor.handleUpgrade(request as never, socket, head, (peer) => {
          response.statusCode = 101;
          peer.on('message', (data: Buffer) => peer.send(data));
        });
        return;
      }
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
      response.statusCode = 101;
      socket.write(head);
      if (query.get('fail') === 'late') throw badRequest('the container ended');
      socket.pipe(socket);
      signal.addEventListener('abort', () => socket.end('last words'), { once: true });
    },
  };
  return [name, record];
}

async function upgraded(target: string, method = 'POST', more = ''): Promise<RawConnection> {
  const raw = await connectRaw(server);
  raw.socket.write(
    `${method} ${target} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n` +
      `Authorization: Bearer secret\r\n\r\n${more}`,
  );
  await eventually(() => raw.received().includes('\r\n\r\n'));
  return raw;
}

describe('a subresource that takes requests over', () => {
  test('gets them as they came over HTTP/1.1, and streams in both directions', async () => {
    const request = https.request({
      host: '127.0.0.1',
      port: server.port,
      ca: server.ca,
      path: `${path}/exec?command=ls`,
      method: 'POST',
      headers: { authorization: 'Bearer secret' },
    });
    request.flushHeaders();
    const [response] = (await once(request, 'response')) as [
      AsyncIterable<Buffer> & { statusCode: number },
    ];
    expect(response.statusCode).toBe(200); // before anything was sent
    const chunks = response[Symbol.asyncIterator]();
    for (const word of ['one', 'two']) {
      request.write(word);
      expect(String((await chunks.next()).value)).toBe(word);
    }
    request.end();
    expect((await chunks.next()).done).toBe(true);
    const [connection] = taken;
    expect(connection).toMatchObject({
      path: { namespace: 'n', name: 'a', subresource: 'exec' },
      user: { name: 'tester' },
      rest: [],
      upgrade: undefined,
    });
    expect(connection?.query.get('command')).toBe('ls');
    expect(connection?.request.headers.authorization).toBeUndefined();
    expect(authorized).toEqual(['create pods/exec a']);
  });

  test('gets them as they came over HTTP/2, and streams in both directions', async () => {
    const session = await connect2(server);
    const stream = session.request({ ':path': `${path}/exec`, ':method': 'POST' });
    const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    expect(Number(head[':status'])).toBe(200);
    const chunks = (stream as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
    for (const word of ['one', 'two']) {
      stream.write(word);
      expect(String((await chunks.next()).value)).toBe(word);
    }
    stream.end();
    expect((await chunks.next()).done).toBe(true);
    session.close();
  });

  test.each(['GET', 'POST'])('gets the socket of a %s that upgrades', async (method) => {
    const raw = await upgraded(`${path}/exec`, method, 'sent with the head,');
    expect(raw.received()).toMatch(/^HTTP\/1\.1 101 /);
    raw.socket.write('sent later');
    await eventually(() => raw.received().endsWith('\r\n\r\nsent with the head,sent later'));
    expect(authorized).toEqual(['create pods/exec a']);
    raw.socket.destroy();
    await eventually(() => taken[0]?.signal.aborted === true);
  });

  test('may make it a WebSocket, whose token it does not see', async () => {
    const token = Buffer.from('t').toString('base64url');
    const socket = new WebSocket(
      `wss://127.0.0.1:${String(server.port)}${path}/exec`,
      [`base64url.bearer.authorization.k8s.io.${token}`, 'v5.channel.k8s.io'],
      { ca: server.ca },
    );
    await once(socket, 'open');
    expect(socket.protocol).toBe('v5.channel.k8s.io');
    socket.send('hello');
    const [message] = (await once(socket, 'message')) as [Buffer];
    expect(message.toString()).toBe('hello');
    expect(taken[0]?.request.headers['sec-websocket-protocol']).toBe('v5.channel.k8s.io');
    socket.terminate();
  });

  test.each([
    ['GET', `${path}/proxy/a%20b/c?d=e`, ['a b', 'c'], 'get'],
    ['PUT', `${path}/proxy/`, [''], 'update'],
    ['DELETE', `${path}/proxy`, [], 'delete'],
    ['PATCH', `${path}/proxy/x`, ['x'], 'patch'],
  ])('may take what follows it in the path: %s %s', async (method, target, rest, verb) => {
    expect((await request1(server, target, { method })).status).toBe(200);
    expect(taken[0]?.rest).toEqual(rest);
    expect(taken[0]?.request.url).toBe(target);
    expect(authorized).toEqual([`${verb} pods/proxy a`]);
  });

  test('fails with a Status before it has begun to answer, and is cut later', async () => {
    const early = `${path}/exec?fail=early`;
    const session = await connect2(server);
    expect((await request1(server, early)).status).toBe(400);
    expect((await request2(session, early)).status).toBe(400);
    session.close();
    const refused = await upgraded(early);
    expect(await refused.closed).toMatch(/^HTTP\/1\.1 400 [^]*no such container/);
    await expect(request1(server, `${path}/exec?fail=late`)).rejects.toThrow();
    const cut = await upgraded(`${path}/exec?fail=late`);
    expect(await cut.closed).toMatch(/^HTTP\/1\.1 101 (?:(?!HTTP)[^])*$/);
  });

  test('is told of a drain', async () => {
    await using own = await start();
    const raw = await connectRaw(own);
    raw.socket.write(
      `POST ${path}/exec HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n`,
    );
    await eventually(() => taken.length === 1);
    const drained = own.running.drain({ delayMs: 0, graceMs: 5_000 });
    expect(await raw.closed).toMatch(/last words$/);
    await drained;
  });

  test('is listed with its kind and verbs', async () => {
    const document = await request1(server, '/api/v1');
    const { resources } = JSON.parse(document.body.toString()) as { resources: { name: string }[] };
    expect(resources.filter(({ name }) => name.startsWith('pods/'))).toEqual([
      expect.objectContaining({
        name: 'pods/exec',
        kind: 'PodExecOptions',
        verbs: ['create', 'get'],
      }),
      expect.objectContaining({ name: 'pods/proxy', kind: 'PodProxyOptions' }),
    ]);
  });
});

describe('nothing is taken over', () => {
  test('of who may not, plain or upgraded', async () => {
    mayConnect = false;
    const session = await connect2(server);
    expect((await request1(server, `${path}/exec`, { method: 'POST', body: 'x' })).status).toBe(
      403,
    );
    expect((await request2(session, `${path}/exec`)).status).toBe(403);
    session.close();
    const raw = await upgraded(`${path}/exec`);
    expect(await raw.closed).toMatch(/^HTTP\/1\.1 403 [^]*cannot create/);
    expect(taken).toEqual([]);
  });

  test.each([
    ['GET', 'exec', 'get'],
    ['GET', 'proxy', 'get'],
    ['GET', 'proxy/x', 'get'],
    ['PUT', 'proxy', 'update'],
    ['PATCH', 'proxy', 'patch'],
    ['DELETE', 'proxy', 'delete'],
  ])('of an upgrade, %s %s, by who may only %s', async (method, subresource, verb) => {
    allowedVerb = verb;
    const raw = await upgraded(`${path}/${subresource}`, method);
    expect(await raw.closed).toMatch(/^HTTP\/1\.1 403 [^]*cannot create resource \\"pods\//);
    expect(taken).toEqual([]);
    allowedVerb = 'create';
    const allowed = await upgraded(`${path}/${subresource}`, method);
    expect(allowed.received()).toMatch(/^HTTP\/1\.1 101 /);
    allowed.socket.destroy();
  });

  test.each([
    ['POST', `${path}/attach`, 404],
    ['POST', `${path}/exec/more`, 404],
    ['POST', `${path}/exec/more/`, 404],
    ['DELETE', `${path}/exec`, 405],
    ['PATCH', `${path}/exec`, 405],
    ['POST', '/api/v1/pods/a/exec', 404],
  ])('by %s %s: %d, plain or upgraded', async (method, target, status) => {
    expect((await request1(server, target, { method })).status).toBe(status);
    const raw = await upgraded(target, method);
    expect(raw.received()).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} `));
    raw.socket.destroy();
    expect(taken).toEqual([]);
  });
});

describe('its audit events', () => {
  const codes = () =>
    auditing
      .events()
      .map(({ stage, responseStatus }) => `${stage} ${String(responseStatus?.['code'])}`);

  test('tell when the connection is taken over, and when it ends', async () => {
    auditing.clear();
    const raw = await upgraded(`${path}/exec?command=ls`);
    await eventually(() => codes().length === 2);
    expect(codes()).toEqual(['RequestReceived undefined', 'ResponseStarted 101']);
    raw.socket.destroy();
    await eventually(() => codes().length === 3);
    const last = auditing.events()[2];
    expect(last).toMatchObject({
      stage: 'ResponseComplete',
      verb: 'create',
      requestURI: `${path}/exec?command=ls`,
      objectRef: { resource: 'pods', name: 'a', subresource: 'exec' },
      responseStatus: { code: 101 },
    });
    expect(JSON.stringify(auditing.events())).not.toContain('secret');
  });

  test.each([
    ['', [200, 200]],
    ['?fail=early', [400, 400]],
    ['?fail=late', [200, 200]],
  ])('of one that is not upgraded%s: answers %j', async (query, [started, complete]) => {
    auditing.clear();
    const asked = request1(server, `${path}/proxy/x${query}`, { method: 'POST', body: 'x' });
    await asked.catch(() => undefined);
    await eventually(() => codes().length === 3);
    expect(codes().slice(1)).toEqual([
      `ResponseStarted ${String(started)}`,
      `ResponseComplete ${String(complete)}`,
    ]);
  });

  test('are the same over HTTP/2', async () => {
    auditing.clear();
    const session = await connect2(server);
    await request2(session, `${path}/proxy/x`, { method: 'POST', body: 'x' });
    session.close();
    await eventually(() => codes().length === 3);
    expect(codes().slice(1)).toEqual(['ResponseStarted 200', 'ResponseComplete 200']);
  });
});
