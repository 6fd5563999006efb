import { describe, expect, test } from '@jest/globals';
import { limits } from '../base/limits.ts';
import { systemClock } from '../base/clock.ts';
import { resolveBySystem } from './addresses.ts';
import { HttpsTarget } from './https-target.ts';
import { makeSettings } from './target-settings.ts';
import { call, clientMetrics, failureOf, openHook, until } from './testing/open-calls.ts';
import { RawServer, answerOk, hookTls } from './testing/raw-server.ts';
import type { RawRequest } from './testing/raw-server.ts';

/** A server that answers when the test says so. */
async function startHolding(): Promise<{ server: RawServer; held: RawRequest[] }> {
  const held: RawRequest[] = [];
  const server = await RawServer.start((request) => void held.push(request));
  return { server, held };
}

describe('the bounds of one target', () => {
  test('connections, then calls that wait, then refusal', async () => {
    const { server, held } = await startHolding();
    await using _ = server;
    const target = await openHook(server.url);
    const { clientConnectionsMax, clientPendingCallsMax } = limits;
    const all = Array.from({ length: clientConnectionsMax + clientPendingCallsMax }, () =>
      call(target),
    );
    await until(() => held.length === clientConnectionsMax);
    expect(await failureOf(call(target))).toEqual({
      kind: 'overloaded',
      pendingMax: clientPendingCallsMax,
    });
    // A lost connection is replaced by one, however many wait.
    held.pop()?.socket.destroy();
    await until(() => held.length === clientConnectionsMax);
    // Every answer gives its connection to the next in line.
    server.answerWith(answerOk);
    for (const request of held) answerOk(request);
    const outcomes = (await Promise.allSettled(all)).map(({ status }) => status);
    expect(outcomes.filter((outcome) => outcome === 'rejected').length).toBe(1);
    expect(server.tcpCount).toBe(clientConnectionsMax + 1);
    target.close();
  });

  test('a lost connection, and a call that gives up waiting, make room for others', async () => {
    const { server, held } = await startHolding();
    await using _ = server;
    const target = await openHook(server.url);
    const first = Array.from({ length: limits.clientConnectionsMax }, () => call(target));
    const outcomes = Promise.allSettled(first);
    await until(() => held.length === limits.clientConnectionsMax);
    const leaving = new AbortController();
    const gone = call(target, { signal: leaving.signal }).catch((reason: unknown) => reason);
    const waiting = call(target);
    leaving.abort(new Error('left'));
    expect(await gone).toEqual(new Error('left'));
    server.answerWith(answerOk);
    server.cut();
    expect((await waiting).status).toBe(200);
    const failed = (await outcomes).filter(({ status }) => status === 'rejected');
    expect(failed.length).toBe(limits.clientConnectionsMax);
    // All of the room is there again, for as many at once as before.
    held.length = 0;
    server.answerWith((request) => void held.push(request));
    const again = Array.from({ length: limits.clientConnectionsMax }, () => call(target));
    await until(() => held.length === limits.clientConnectionsMax);
    for (const request of held) answerOk(request);
    await Promise.all(again);
    target.close();
  });

  test('connections that could not be made leave room', async () => {
    const target = await openHook('https://127.0.0.1:1/');
    const many = Array.from({ length: limits.clientConnectionsMax * 2 }, () =>
      failureOf(call(target)),
    );
    for (const failure of await Promise.all(many)) expect(failure.kind).toBe('unreachable');
    expect((await failureOf(call(target))).kind).toBe('unreachable');
  });
});

describe('new settings', () => {
  test('are used by the next call; a call under way ends as it would have', async () => {
    const { server, held } = await startHolding();
    await using _ = server;
    const target = await openHook(server.url, { authorization: 'Bearer old' });
    const underWay = call(target);
    await until(() => held.length === 1);
    const { ca } = await hookTls();
    target.renew(makeSettings({ url: server.url, ca: ca.cert, authorization: 'Bearer new' }));
    server.answerWith(answerOk);
    await call(target);
    for (const request of held) answerOk(request);
    expect((await underWay).status).toBe(200);
    await call(target);
    const tokens = server.requests.map(({ head }) => /authorization: (.*)/.exec(head)?.[1]);
    expect(tokens).toEqual(['Bearer old', 'Bearer new', 'Bearer new']);
    expect(server.requests.map(({ connectionIndex }) => connectionIndex)).toEqual([0, 1, 1]);
    await until(() => server.openCount === 1);
    target.close();
  });

  test('close what is free at once', async () => {
    await using server = await RawServer.start(answerOk);
    const target = await openHook(server.url);
    await call(target);
    const { ca } = await hookTls();
    target.renew(makeSettings({ url: server.url, ca: ca.cert }));
    await until(() => server.openCount === 0);
    target.close();
  });
});

test('n.webhookConnections: what is idle for as long as its target says is closed', async () => {
  await using server = await RawServer.start(answerOk);
  const { ca } = await hookTls();
  const open = (idleMs: number): HttpsTarget =>
    new HttpsTarget(makeSettings({ url: server.url, ca: ca.cert }), {
      clock: systemClock,
      resolve: resolveBySystem,
      metrics: clientMetrics,
      pool: { pendingMax: Infinity, idleMs, spreadCount: 1 },
    });
  const [kept, closed] = [open(600_000), open(20)];
  await Promise.all([call(kept), call(closed)]);
  await until(() => server.openCount === 1);
  await call(kept);
  expect(server.requests.at(-1)?.connectionIndex).toBe(
    server.requests.findIndex(({ socket }) => !socket.destroyed),
  );
  kept.close();
  closed.close();
});

describe('a closed target', () => {
  test('lets calls end, waiting ones too, and keeps no connection', async () => {
    const { server, held } = await startHolding();
    await using _ = server;
    const target = await openHook(server.url);
    const all = Array.from({ length: limits.clientConnectionsMax + 5 }, () => call(target));
    await until(() => held.length === limits.clientConnectionsMax);
    target.close();
    server.answerWith(answerOk);
    for (const request of held) answerOk(request);
    expect((await Promise.all(all)).every(({ status }) => status === 200)).toBe(true);
    await until(() => server.openCount === 0);
    expect((await call(target)).status).toBe(200);
    await until(() => server.openCount === 0);
  });
});
