import { describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { ClientHttp2Session } from 'node:http2';
import https from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../base/limits.ts';
import { serverDraining } from './open-request.ts';
import type { Filter } from './request-context.ts';
import { sendNow, writeHead } from './respond.ts';
import {
  connect2,
  eventually,
  request1,
  request2,
  startTestServer,
} from './testing/test-server.ts';

const text = { status: 200, contentType: 'text/plain' };
const slow: Filter = async (request, response) => {
  await new Promise((resolve) => setTimeout(resolve, 5));
  sendNow(request, response, text, Buffer.from('done'));
};
const watch: Filter = async (request, response) => {
  const open = request.context;
  open.startStreaming(Infinity);
  writeHead(request, response, text, undefined);
  (response as { flushHeaders(): void }).flushHeaders();
  await once(open.signal, 'abort');
  response.end(open.signal.reason === serverDraining ? 'last words' : 'cut');
};

/**
 * A request that was queued when the client read GOAWAY: nghttp2 never sends it, and every client
 * asks again on another connection (RFC 9113, section 8.7).
 */
const wasKeptBack = (session: ClientHttp2Session, reason: unknown): boolean =>
  session.closed && String(reason).includes('NGHTTP2_REFUSED_STREAM');

describe('drain', () => {
  test('fails no request of a kept-alive client that reconnects when told to', async () => {
    await using server = await startTestServer({ filters: [slow] });
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ca: server.ca });
    const failures: unknown[] = [];
    let answered = 0;
    let closings = 0;
    const client = (async () => {
      for (;;) {
        try {
          const { headers } = await request1(server, '/', { agent });
          answered++;
          if (headers.connection === 'close') closings++;
        } catch (error) {
          // A load balancer goes to another replica when it gets no connection; anything else is a
          // loss.
          const { syscall, message } = error as NodeJS.ErrnoException;
          if (syscall === 'connect' || message.includes('before secure TLS')) return;
          failures.push(error);
          return;
        }
      }
    })();
    await eventually(() => answered > 10);
    const before = answered;
    await server.running.drain({ delayMs: 1_000, graceMs: 3_000 });
    await client;
    agent.destroy();
    expect(failures).toEqual([]);
    expect(answered).toBeGreaterThan(before);
    expect(closings).toBeGreaterThan(0);
  });

  test('fails no request of an HTTP/2 client that heeds GOAWAY', async () => {
    await using server = await startTestServer({ filters: [slow] });
    const failures: unknown[] = [];
    let answered = 0;
    let goaways = 0;
    const connect = async () => {
      const session = await connect2(server);
      session.once('goaway', () => goaways++);
      return session;
    };
    let session = await connect();
    const client = (async () => {
      for (;;) {
        if (session.closed || session.destroyed) {
          try {
            session = await connect();
          } catch {
            return; // nobody listens any more
          }
        }
        const asked = Array.from({ length: 4 }, () => request2(session, '/'));
        for (const result of await Promise.allSettled(asked)) {
          if (result.status === 'fulfilled') answered++;
          else if (!wasKeptBack(session, result.reason)) failures.push(String(result.reason));
        }
        if (failures.length > 0) return;
      }
    })();
    await eventually(() => answered > 20);
    await server.running.drain({ delayMs: 0, graceMs: 3_000 });
    await client;
    expect(failures).toEqual([]);
    expect(goaways).toBeGreaterThan(0);
  });

  test('ends watches with their last words, on both protocols', async () => {
    await using server = await startTestServer({ filters: [watch] });
    const session = await connect2(server);
    const answers = Promise.all([request1(server, '/'), request2(session, '/')]);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await server.running.drain({ delayMs: 0, graceMs: 60_000 });
    for (const { body } of await answers) expect(body.toString()).toBe('last words');
  });

  test('finishes work in flight, takes a request on an open connection, then ends', async () => {
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const filter: Filter = async (request, response) => {
      if (request.context.info.path === '/held') await held;
      sendNow(request, response, text, Buffer.from('done'));
    };
    await using server = await startTestServer({ filters: [filter] });
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ca: server.ca });
    await request1(server, '/first', { agent });
    const inFlight = request1(server, '/held');
    await new Promise((resolve) => setTimeout(resolve, 50));
    const drained = server.running.drain({ delayMs: 0, graceMs: 5_000 });
    const late = await request1(server, '/late', { agent });
    expect([late.status, late.headers.connection]).toEqual([200, 'close']);
    release();
    expect((await inFlight).body.toString()).toBe('done');
    await drained;
    agent.destroy();
    await expect(request1(server, '/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('answers the next request of a client whose watch it has ended', async () => {
    await using server = await startTestServer({ filters: [watch] });
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1, ca: server.ca });
    const first = request1(server, '/', { agent });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const drained = server.running.drain({ delayMs: 0, graceMs: 60_000 });
    expect((await first).headers.connection).toBe('keep-alive');
    await sleep(limits.idleCloseGraceMs);
    for (let turn = 0; turn < limits.idleCloseTurns / 2; turn++) await sleep(20);
    const next = await request1(server, '/', { agent });
    expect([next.body.toString(), next.headers.connection]).toEqual(['last words', 'close']);
    await drained;
    agent.destroy();
  });

  test('cuts what does not end within its grace', async () => {
    const filter: Filter = () => new Promise(() => undefined);
    await using server = await startTestServer({ filters: [filter] });
    const hung = request1(server, '/').catch((error: unknown) => error);
    await new Promise((resolve) => setTimeout(resolve, 50));
    await server.running.drain({ delayMs: 0, graceMs: 200 });
    expect(await hung).toMatchObject({ code: 'ECONNRESET' });
  });
});

test('--goaway-chance asks HTTP/2 clients to reconnect, failing no request', async () => {
  await using server = await startTestServer({ filters: [slow], goawayChance: 1 });
  const session = await connect2(server);
  const goaway = once(session, 'goaway');
  expect((await request2(session, '/')).body.toString()).toBe('done');
  await goaway;
  await eventually(() => session.closed);
});
