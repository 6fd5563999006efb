// Webhooks at their worst, as real servers over TLS: the exact text for each, and no memory that
// grows with what they send.
import { afterEach, describe, expect, test } from '@jest/globals';
import { createTestCa } from '../../base/testing/certificates.ts';
import { limits } from '../../base/limits.ts';
import { collect } from '../../base/testing/held-bytes.ts';
import { clientParts } from '../../client/testing/open-calls.ts';
import { RawServer, answerOk, answerText, hookTls } from '../../client/testing/raw-server.ts';
import type { Answering } from '../../client/testing/raw-server.ts';
import { startStoppedServer } from '../../client/testing/stopped-server.ts';
import type { WebhookCaller, WebhookCallFailureKind } from './caller.ts';
import { caBundle, callOf, failedWith, openCaller, steady } from './testing/calling.ts';

let caller: WebhookCaller | undefined;
afterEach(() => caller?.close());
const open = (...of: Parameters<typeof openCaller>): WebhookCaller => (caller = openCaller(...of));

const before = 'failed calling webhook "hook.example.com": failed to call webhook: ';
const post = 'Post "https://127.0.0.1:PORT/hook?timeout=1s": ';
const at = (step: string): string =>
  ` (configuration "checks", address 127.0.0.1:PORT, step ${step}, N ms)`;
const writes =
  (text: string): Answering =>
  ({ socket }) =>
    void socket.write(text);
const drips: Answering = ({ socket }) => {
  socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
  const timer = setInterval(() => socket.write('x'), 20);
  socket.once('close', () => clearInterval(timer));
};
const headerDrips: Answering = ({ socket }) => {
  socket.write('HTTP/1.1 200 OK\r\n');
  const timer = setInterval(() => socket.write('a: b\r\n'), 20);
  socket.once('close', () => clearInterval(timer));
};
/** As fast as it is read, for ever. */
const endless: Answering = ({ socket }) => {
  socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
  const chunk = `10000\r\n${'x'.repeat(0x1_0000)}\r\n`;
  const more = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
};
const secret = 'the-secret-of-the-body';
const halfway = `HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n${secret}`;

describe('u.names: an answer that is none names step, address and time', () => {
  test.each<[what: string, Answering, WebhookCallFailureKind, cause: string]>([
    ['hanging', () => undefined, 'timeout', `${post}context deadline exceeded${at('wait')}`],
    [
      'dripping its header',
      headerDrips,
      'timeout',
      `${post}context deadline exceeded${at('wait')}`,
    ],
    ['dripping its body', drips, 'timeout', `${post}context deadline exceeded${at('read')}`],
    ['closing at once', ({ socket }) => socket.destroy(), 'connection', `${post}EOF${at('wait')}`],
    [
      'closing midway',
      ({ socket }) => void socket.write(halfway, () => socket.destroy()),
      'connection',
      `${post}unexpected EOF${at('read')}`,
    ],
    [
      'endless',
      endless,
      'answer',
      `${post}the body of the answer is larger than 6291456 bytes${at('read')}`,
    ],
    [
      'said to be too large',
      writes('HTTP/1.1 200 OK\r\ncontent-length: 6291457\r\n\r\n'),
      'answer',
      `${post}the body of the answer is larger than 6291456 bytes${at('read')}`,
    ],
    [
      'a header without an end',
      ({ socket }) => void socket.write(`HTTP/1.1 200 OK\r\na: ${'x'.repeat(100_000)}`),
      'answer',
      `${post}the header of the answer is larger than 65536 bytes${at('wait')}`,
    ],
    [
      'a redirect, which is not followed',
      writes(answerText('', { status: '302 Found', headers: ['location: https://127.0.0.1:1/'] })),
      'answer',
      `${post}the answer is a redirect (302), which is never followed${at('wait')}`,
    ],
    [
      'no HTTP',
      writes('SSH-2.0-OpenSSH_9.6\r\n\r\n'),
      'answer',
      `${post}malformed HTTP response: Response does not match the HTTP/1.1 protocol ` +
        `(Expected HTTP/, RTSP/ or ICE/)${at('wait')}`,
    ],
    [
      'an error, of whose body nothing is told',
      writes(answerText(secret, { status: '500 Internal Server Error' })),
      'status',
      `an error on the server ("unknown") has prevented the request from succeeding${at('read')}`,
    ],
    [
      'not found',
      writes(answerText(secret, { status: '404 Not Found' })),
      'status',
      `the server could not find the requested resource${at('read')}`,
    ],
    [
      'busy',
      writes(answerText('', { status: '503 Service Unavailable' })),
      'status',
      `the server is currently unable to handle the request${at('read')}`,
    ],
  ])('%s', async (_what, answering, kind, cause) => {
    await using server = await RawServer.start(answering);
    const config = { url: server.url, caBundle: await caBundle() };
    const error = await failedWith(open().call(callOf(config, timeout)));
    expect(steady(error.message)).toBe(before + cause);
    expect([error.kind, error.message.includes(secret)]).toEqual([kind, false]);
  });
});

/** Bytes of buffers that something refers to, where all buffers are more than `atMost`. */
function heldBuffers(atMost: number): number {
  const all = process.memoryUsage().arrayBuffers;
  if (all <= atMost) return all;
  collect();
  collect(); // Waits until what the first one found is freed.
  return process.memoryUsage().arrayBuffers;
}

const timeout = { webhook: { timeoutSeconds: 1 } };

describe('a webhook that cannot be reached', () => {
  test('a refused port', async () => {
    const config = { url: 'https://127.0.0.1:1/hook' };
    const error = await failedWith(open().call(callOf(config, timeout)));
    expect(steady(error.message)).toBe(
      `${before}${post}dial tcp 127.0.0.1:PORT: connect: connection refused${at('connect')}`,
    );
  });

  test('a port that drops what comes', async () => {
    await using stopped = await startStoppedServer();
    const config = { url: `https://127.0.0.1:${String(stopped.port)}/hook` };
    const error = await failedWith(open().call(callOf(config, timeout)));
    expect([error.kind, steady(error.message)]).toEqual([
      'timeout',
      `${before}${post}context deadline exceeded${at('connect')}`,
    ]);
  });

  test('a name that nobody knows', async () => {
    const config = { url: 'https://hook.nowhere.invalid/hook' };
    const resolve = (host: string): Promise<never> =>
      Promise.reject(Object.assign(new Error(host), { code: 'ENOTFOUND' }));
    const calling = open({ calls: { ...clientParts(), resolve } });
    const error = await failedWith(calling.call(callOf(config, timeout)));
    expect(steady(error.message)).toBe(
      `${before}Post "https://hook.nowhere.invalid/hook?timeout=1s": ` +
        'dial tcp: lookup hook.nowhere.invalid: no such host ' +
        '(configuration "checks", step resolve, N ms)',
    );
  });

  test('h.client-service: a service without endpoints', async () => {
    const services = {
      resolve: () => Promise.reject(new Error('no endpoints available for service "hook"')),
      places: () => undefined,
    };
    const calling = open({ calls: { ...clientParts(), services } });
    const service = { namespace: 'tests', name: 'hook', path: '/x' };
    const error = await failedWith(calling.call(callOf({ service }, timeout)));
    expect([error.kind, steady(error.message)]).toEqual([
      'connection',
      `${before}Post "https://hook.tests.svc:443/x?timeout=1s": ` +
        'no endpoints available for service "hook" ' +
        '(configuration "checks", step resolve, N ms)',
    ]);
  });

  test('a configuration that is of no use', async () => {
    const config = { url: 'https://127.0.0.1:1/hook', caBundle: 'bm90IHBlbQ==' };
    const error = await failedWith(open().call(callOf(config)));
    expect([error.kind, error.message]).toEqual([
      'configuration',
      `${before}the CA bundle is not one PEM certificate or more`,
    ]);
  });
});

describe('a certificate', () => {
  const x509 = (why: string): string =>
    `${before}${post}tls: failed to verify certificate: x509: ${why}${at('TLS')}`;

  async function presented(
    pair: { readonly key: string; readonly cert: string },
    bundle: string,
  ): Promise<string> {
    await using server = await RawServer.start(answerOk, pair);
    const config = { url: server.url, caBundle: bundle };
    const error = await failedWith(open().call(callOf(config, timeout)));
    expect(error.kind).toBe('connection');
    caller?.close();
    return steady(error.message);
  }

  test('of an unknown CA', async () => {
    const { pair } = await hookTls();
    const other = await createTestCa('another');
    const bundle = Buffer.from(other.cert).toString('base64');
    expect(await presented(pair, bundle)).toBe(x509('certificate signed by unknown authority'));
  });

  test('of another name', async () => {
    const { ca } = await hookTls();
    const names = ['other.tests.svc'];
    const pair = await ca.issue({ use: 'serverAuth', commonName: '127.0.0.1', names });
    expect(await presented(pair, await caBundle())).toBe(
      x509('certificate is valid for other.tests.svc, not 127.0.0.1'),
    );
  });

  test('that has expired', async () => {
    const { ca } = await hookTls();
    const pair = await ca.issue({
      ...{ use: 'serverAuth', commonName: 'hook', names: ['127.0.0.1'] },
      notBefore: new Date(Date.now() - 2 * 86_400_000),
      notAfter: new Date(Date.now() - 86_400_000),
    });
    expect(await presented(pair, await caBundle())).toBe(
      x509('certificate has expired or is not yet valid'),
    );
  });

  test('that is renewed with its CA: the new bundle counts at once', async () => {
    await using server = await RawServer.start(answerOk);
    const next = await createTestCa('next');
    const nextBundle = Buffer.from(next.cert).toString('base64');
    const names = ['127.0.0.1'];
    const calling = open();
    await calling.call(callOf({ url: server.url, caBundle: await caBundle() }));
    server.present(await next.issue({ use: 'serverAuth', commonName: 'hook', names }));
    server.cut();
    const error = await failedWith(
      calling.call(callOf({ url: server.url, caBundle: await caBundle() }, timeout)),
    );
    expect(steady(error.message)).toBe(x509('certificate signed by unknown authority'));
    const body = await calling.call(callOf({ url: server.url, caBundle: nextBundle }));
    expect(Buffer.from(body).toString()).toBe('{"ok":true}');
  });
});

describe('under load', () => {
  test('a killed webhook: all calls end, all are skipped, it comes back', async () => {
    const calling = open();
    let server = await RawServer.start(() => undefined);
    const { port, url } = server;
    const config = { url, caBundle: await caBundle() };
    const calls = Array.from({ length: 300 }, () => failedWith(calling.call(callOf(config))));
    while (server.requests.length < limits.clientConnectionsMax) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    await server[Symbol.asyncDispose]();
    const kinds = new Set((await Promise.all(calls)).map(({ kind }) => kind));
    expect([...kinds].toSorted()).toEqual(['circuit', 'connection']);
    expect((await failedWith(calling.call(callOf(config)))).kind).toBe('circuit');
    server = await RawServer.start(answerOk, { port });
    await using _ = server;
    for (;;) {
      const outcome = await calling.call(callOf(config)).catch(() => undefined);
      if (outcome !== undefined) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await Promise.all(Array.from({ length: 50 }, () => calling.call(callOf(config))));
  });

  test('n.webhookResponse: endless answers at once take bounded memory together', async () => {
    await using server = await RawServer.start(endless);
    const config = { url: server.url, caBundle: await caBundle() };
    const calling = open({ breaksCircuits: false });
    const atMost = heldBuffers(0) + 128 * 1024 * 1024;
    let most = 0;
    const watching = setInterval(() => (most = Math.max(most, heldBuffers(atMost))), 5);
    const all = await Promise.all(
      Array.from({ length: limits.clientConnectionsMax }, () =>
        failedWith(calling.call(callOf(config, { webhook: { timeoutSeconds: 30 } }))),
      ),
    );
    clearInterval(watching);
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(['answer']));
    expect(most).toBeLessThan(atMost);
  });
});
