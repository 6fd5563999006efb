// Calls to webhooks that are real servers over TLS: whom they reach, as whom, in which time.
import { afterEach, describe, expect, test } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '../../base/limits.ts';
import { clientParts, until } from '../../client/testing/open-calls.ts';
import { RawServer, answerOk, answerText, hookTls } from '../../client/testing/raw-server.ts';
import type { RawRequest } from '../../client/testing/raw-server.ts';
import type { Places } from '../../client/connection-pool.ts';
import type { WebhookCaller } from './caller.ts';
import { caBundle, callOf, failedWith, metrics, openCaller, steady } from './testing/calling.ts';

let caller: WebhookCaller | undefined;
afterEach(() => caller?.close());
const open = (...of: Parameters<typeof openCaller>): WebhookCaller => (caller = openCaller(...of));

describe('what is sent', () => {
  test('h.user-agent, h.review-version: one POST of JSON', async () => {
    await using server = await RawServer.start(({ socket }) => socket.write(answerText('{"a":1}')));
    const clientConfig = { url: server.url, caBundle: await caBundle() };
    const body = await open().call(callOf(clientConfig));
    expect(Buffer.from(body).toString()).toBe('{"a":1}');
    expect(server.requests[0]?.head.split('\r\n').toSorted()).toEqual([
      'POST /hook?timeout=10s HTTP/1.1',
      'accept: application/json',
      'connection: keep-alive',
      'content-length: 2',
      'content-type: application/json',
      `host: 127.0.0.1:${String(server.port)}`,
      'user-agent: tests-admission',
    ]);
  });

  test.each([
    ['its own', { timeoutSeconds: 7 }, 30_000, '7s'],
    ['30 s where it has none', { timeoutSeconds: undefined }, 60_000, '30s'],
    ['what is left of the request, rounded up', {}, 4_200, '5s'],
    ['all of it for a required one', { failurePolicy: 'Fail' }, 9_000, '9s'],
    ['n.reserve: less 2 s for an optional one', { failurePolicy: 'Ignore' }, 9_000, '7s'],
  ])('h.timeout: the time of a webhook is %s', async (_claim, webhook, leftMs, told) => {
    await using server = await RawServer.start(answerOk);
    const clientConfig = { url: server.url, caBundle: await caBundle() };
    await open().call(callOf(clientConfig, { webhook, leftMs }));
    expect(server.requests[0]?.head).toContain(`?timeout=${told} HTTP`);
  });

  test('u.deadline: an optional webhook for which no time is left is not called', async () => {
    await using server = await RawServer.start(answerOk);
    const clientConfig = { url: server.url, caBundle: await caBundle() };
    const webhook = { failurePolicy: 'Ignore' };
    const error = await failedWith(open().call(callOf(clientConfig, { webhook, leftMs: 2_000 })));
    expect([error.kind, server.tcpCount]).toEqual(['timeout', 0]);
    expect(error.message).toBe(
      'failed calling webhook "hook.example.com": failed to call webhook: ' +
        'context deadline exceeded: the request has no time left for it',
    );
  });
});

describe('h.client-service: a webhook that is a service', () => {
  const service = { namespace: 'tests', name: 'hook', path: '/admit' };
  const at = (port: number, ip = '127.0.0.1'): { ip: string; port: number } => ({ ip, port });

  test('is called where it is, by its own name', async () => {
    await using server = await RawServer.start(answerOk);
    const asked: unknown[] = [];
    const services = {
      async resolve(of: unknown) {
        asked.push(of);
        return [at(server.port)];
      },
      places: () => undefined,
    };
    const config = { service, caBundle: await caBundle() };
    await open({ calls: { ...clientParts(), services } }).call(callOf(config));
    expect(server.requests[0]?.head).toMatch(/^POST \/admit\?timeout=10s HTTP/);
    expect(server.requests[0]?.head).toMatch(/^host: hook\.tests\.svc/m);
    expect(asked).toEqual([{ namespace: 'tests', name: 'hook', port: 443 }]);
  });

  /** Endpoints that change when the test says so. */
  async function endpoints(
    count: number,
    placesOf: (servers: readonly RawServer[]) => Places,
  ): Promise<{
    readonly servers: readonly RawServer[];
    readonly use: (servers: readonly RawServer[], behind?: readonly RawServer[]) => void;
    readonly call: () => Promise<unknown>;
  }> {
    const servers = await Promise.all(
      Array.from({ length: count }, () => RawServer.start(answerOk)),
    );
    let places = placesOf(servers);
    const services = {
      resolve: () => Promise.resolve(places.addresses),
      places: () => places,
    };
    const config = { service, caBundle: await caBundle() };
    const calling = open({ calls: { ...clientParts(), services } });
    return {
      servers,
      use: (left) => (places = placesOf(left)),
      call: () => calling.call(callOf(config)),
    };
  }

  const direct = (servers: readonly RawServer[]): Places => ({
    addresses: servers.map(({ port }) => at(port)),
  });

  test('u.balance: its calls, one after another, spread over its endpoints', async () => {
    const { servers, call } = await endpoints(3, direct);
    await using one = servers[0];
    await using two = servers[1];
    await using three = servers[2];
    while (servers.some(({ requests }) => requests.length < 2)) await call();
    for (const server of [one, two, three]) expect(server?.connectionCount).toBeGreaterThan(0);
  });

  test('u.balance: a connection is closed when its endpoint goes', async () => {
    const { servers, use, call } = await endpoints(2, direct);
    await using one = servers[0];
    await using two = servers[1];
    await call();
    await call();
    await until(() => servers.every(({ openCount }) => openCount > 0));
    use(servers.slice(0, 1));
    await call();
    await until(() => two?.openCount === 0);
    const before = two?.requests.length;
    await Promise.all([call(), call(), call()]);
    expect([two?.requests.length, one?.openCount]).toEqual([before, expect.any(Number)]);
  });

  test('u.balance: behind an address, all are made anew when an endpoint goes', async () => {
    await using server = await RawServer.start(answerOk);
    let places: Places = {
      addresses: [at(server.port)],
      behind: new Set(['10.0.0.1:1', '10.0.0.2:1']),
    };
    const services = {
      resolve: () => Promise.resolve(places.addresses),
      places: () => places,
    };
    const config = { service, caBundle: await caBundle() };
    const calling = open({ calls: { ...clientParts(), services } });
    const call = (): Promise<unknown> => calling.call(callOf(config));
    while (server.openCount < limits.admissionSpreadCount) await call();
    const old = server.connectionCount;
    places = { ...places, behind: new Set(['10.0.0.2:1', '10.0.0.3:1']) };
    await call();
    expect(server.requests.at(-1)?.connectionIndex).toBeGreaterThanOrEqual(old);
    places = { ...places, behind: new Set(['10.0.0.2:1', '10.0.0.3:1', '10.0.0.4:1']) };
    const now = server.connectionCount;
    await call();
    expect(server.requests.at(-1)?.connectionIndex).toBeLessThan(now + limits.admissionSpreadCount);
  });

  test('h.client-self: of this server itself, is called as this server', async () => {
    const { ca, pair } = await hookTls();
    const identity = await ca.issue({ use: 'clientAuth', commonName: 'system:self', names: [] });
    await using server = await RawServer.start(answerOk, {
      ...pair,
      requestCert: true,
      ca: ca.cert,
    });
    const calling = open({
      own: () => ({
        service: { namespace: 'tests', name: 'hook' },
        address: at(server.port),
        ca: ca.cert,
        identity: { clientCertificate: identity },
      }),
    });
    await calling.call(callOf({ service }));
    const [request] = server.requests;
    expect(request?.socket.getPeerCertificate().subject).toMatchObject({ CN: 'system:self' });
    const other = await failedWith(calling.call(callOf({ service: { ...service, port: 8443 } })));
    expect(other.message).toContain('no endpoints');
  });
});

describe('h.client-auth: who the server is', () => {
  test('is read from a file, by host', async () => {
    await using server = await RawServer.start(answerOk);
    const folder = mkdtempSync(join(tmpdir(), 'identities-'));
    const file = join(folder, 'hooks.yaml');
    const user = (name: string, token: string): object => ({ name, user: { token } });
    const host = `127.0.0.1:${String(server.port)}`;
    writeFileSync(file, JSON.stringify({ users: [user(host, 'of-host'), user('*', 'of-any')] }));
    const calling = open({ kubeconfigFile: file });
    const bundle = await caBundle();
    await calling.call(callOf({ url: server.url, caBundle: bundle }));
    const elsewhere = server.url.replace('127.0.0.1', 'localhost');
    await calling.call(callOf({ url: elsewhere, caBundle: bundle }));
    const sent = server.requests.map(({ head }) => /^authorization: (.*)$/m.exec(head)?.[1]);
    expect(sent).toEqual(['Bearer of-host', 'Bearer of-any']);
  });

  test('is nobody where the file is of no use: calls fail', async () => {
    const calling = open({ kubeconfigFile: '/nowhere/hooks.yaml' });
    const error = await failedWith(calling.call(callOf({ url: 'https://127.0.0.1:1/' })));
    expect(error.message).toBe(
      'failed calling webhook "hook.example.com": failed to call webhook: ' +
        '/nowhere/hooks.yaml cannot be read: ENOENT',
    );
  });
});

describe('clients', () => {
  test('h.client-cache: are kept by URL and CA', async () => {
    await using server = await RawServer.start(answerOk);
    const config = { url: server.url, caBundle: await caBundle() };
    const calling = open();
    await calling.call(callOf(config));
    await calling.call(callOf({ ...config }, { type: 'admit', webhook: { name: 'other' } }));
    expect(server.requests.map(({ connectionIndex }) => connectionIndex)).toContain(0);
    const before = server.connectionCount;
    await calling.call(callOf({ ...config, url: `${server.url}/b` }));
    await until(() => server.connectionCount > before);
  });

  test('h.client-cache: 200 at most', async () => {
    await using server = await RawServer.start(answerOk);
    const bundle = await caBundle();
    const calling = open();
    const at = (index: number): Promise<unknown> =>
      calling.call(callOf({ url: `${server.url}/${String(index)}`, caBundle: bundle }));
    await at(0);
    for (let index = 1; index < limits.clientTargetsMax; index++) await at(index);
    const full = server.openCount;
    await at(limits.clientTargetsMax);
    await until(() => server.openCount <= full);
    expect(server.openCount).toBeGreaterThan(0);
  });

  test('a kept connection closes before any byte of the answer: once more, on a fresh one', async () => {
    await using server = await RawServer.start(answerOk);
    const config = { url: server.url, caBundle: await caBundle() };
    const calling = open();
    await calling.call(callOf(config));
    const closed: number[] = [];
    server.answerWith((request) => {
      if (closed.length > 0) return answerOk(request);
      closed.push(request.connectionIndex);
      request.socket.destroy();
    });
    await calling.call(callOf(config));
    expect(closed).toEqual([0]);
    expect(server.requests.at(-1)?.connectionIndex).toBeGreaterThan(0);
  });

  test('not twice, and not where part of the answer had come', async () => {
    await using server = await RawServer.start(answerOk);
    const config = { url: server.url, caBundle: await caBundle() };
    const calling = open();
    await calling.call(callOf(config));
    server.answerWith(({ socket }) => socket.destroy());
    const twice = await failedWith(calling.call(callOf(config)));
    expect([twice.kind, server.requests.length]).toEqual(['connection', 3]);
    server.answerWith(answerOk);
    await calling.call(callOf(config));
    server.answerWith(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n', () => socket.destroy());
    });
    const begun = await failedWith(calling.call(callOf(config)));
    expect([begun.kind, server.requests.length]).toEqual(['connection', 5]);
  });
});

describe('n.webhookInflight: the line of a webhook', () => {
  test('has 200 under way and 1,000 that wait; others never wait for it', async () => {
    const held: RawRequest[] = [];
    await using slow = await RawServer.start((request) => void held.push(request));
    await using quick = await RawServer.start(answerOk);
    const bundle = await caBundle();
    const calling = open({ breaksCircuits: false });
    const config = { url: slow.url, caBundle: bundle };
    const { admissionCallsMax, admissionPendingCallsMax } = limits;
    const leaving = new AbortController();
    const all = Array.from({ length: admissionCallsMax + admissionPendingCallsMax }, () =>
      calling.call(callOf(config, { signal: leaving.signal })).catch(() => undefined),
    );
    await until(() => held.length === limits.clientConnectionsMax);
    const over = await failedWith(calling.call(callOf(config)));
    expect([over.kind, over.message]).toEqual([
      'overloaded',
      'failed calling webhook "hook.example.com": failed to call webhook: ' +
        `Post "${slow.url}?timeout=10s": 1000 calls are waiting for a connection already ` +
        '(configuration "checks")',
    ]);
    await calling.call(
      callOf({ url: quick.url, caBundle: bundle }, { webhook: { name: 'quick.example.com' } }),
    );
    const { body } = await metrics.text();
    expect(body).toContain(
      'apiserver_admission_webhook_inflight{name="hook.example.com",type="validating"} 200',
    );
    expect(body).toContain('apiserver_admission_webhook_connections{name="hook.example.com"} 64');
    leaving.abort(new Error('left'));
    await Promise.all(all);
  });
});

describe('n.circuit: a webhook that is down', () => {
  const down = { url: 'https://127.0.0.1:1/x' };

  async function fail(calling: WebhookCaller, count: number): Promise<string[]> {
    const kinds: string[] = [];
    for (let index = 0; index < count; index++) {
      kinds.push((await failedWith(calling.call(callOf(down)))).kind);
    }
    return kinds;
  }

  test('is not called after five failures in a row; log and Event are told once', async () => {
    const told: unknown[] = [];
    const calling = open({ onCircuit: (of, problem) => void told.push([of, problem]) });
    expect(await fail(calling, 7)).toEqual([
      ...Array.from({ length: 5 }, () => 'connection'),
      'circuit',
      'circuit',
    ]);
    expect(told).toEqual([
      [
        {
          type: 'validating',
          webhook: 'hook.example.com',
          configuration: { name: 'checks', uid: 'u-1' },
        },
        expect.stringContaining('connection refused'),
      ],
    ]);
    const error = await failedWith(calling.call(callOf(down)));
    expect(steady(error.message)).toBe(
      'failed calling webhook "hook.example.com": failed to call webhook: ' +
        'not called now, its last calls failed and it is tried every 1 s: ' +
        'Post "https://127.0.0.1:PORT/x?timeout=10s": ' +
        'dial tcp 127.0.0.1:PORT: connect: connection refused ' +
        '(configuration "checks", address 127.0.0.1:PORT, step connect, N ms)',
    );
    const { body } = await metrics.text();
    expect(body).toContain(
      'apiserver_admission_webhook_circuit_open{name="hook.example.com",type="validating"} 1',
    );
  });

  test('of another configuration, type or name, is another one', async () => {
    const calling = open();
    await fail(calling, 5);
    const kindOf = async (changes: Parameters<typeof callOf>[1]): Promise<string> =>
      (await failedWith(calling.call(callOf(down, changes)))).kind;
    expect([
      await kindOf({}),
      await kindOf({ type: 'admit' }),
      await kindOf({ webhook: { name: 'other' } }),
      await kindOf({ configuration: { name: 'more', uid: '' } }),
    ]).toEqual(['circuit', 'connection', 'connection', 'connection']);
  });

  test('is called every time where the flag says so', async () => {
    expect(new Set(await fail(open({ breaksCircuits: false }), 12))).toEqual(
      new Set(['connection']),
    );
  });

  test('an answer that is no success is no outage', async () => {
    await using server = await RawServer.start(({ socket }) =>
      socket.write(answerText('broken', { status: '500 Oops' })),
    );
    const config = { url: server.url, caBundle: await caBundle() };
    const calling = open();
    for (let index = 0; index < 8; index++) {
      const { kind, status } = await failedWith(calling.call(callOf(config)));
      expect([kind, status]).toEqual(['status', 500]);
    }
  });
});
