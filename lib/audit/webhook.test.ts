import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { openHook, until } from '../client/testing/open-calls.ts';
import { RawServer, answerText } from '../client/testing/raw-server.ts';
import type { Answering, RawRequest } from '../client/testing/raw-server.ts';
import { blockingBackend } from './backend.ts';
import { BatchBackend } from './batch.ts';
import { CountingObserver, eventOf } from './testing/recorder.ts';
import { WebhookWriter } from './webhook-writer.ts';

let hook: RawServer;
const ok: Answering = ({ socket }) => void socket.write(answerText(''));
const fail: Answering = ({ socket }) =>
  void socket.write(answerText('', { status: '500 Internal Server Error' }));
beforeEach(async () => {
  hook = await RawServer.start(ok);
});
afterEach(() => hook[Symbol.asyncDispose]());

async function open(firstRetryMs = 1, clock: Clock = systemClock): Promise<WebhookWriter> {
  return new WebhookWriter(await openHook(hook.url), {
    apiVersion: 'audit.test/v1',
    firstRetryMs,
    clock,
  });
}
interface SentList {
  readonly kind: string;
  readonly apiVersion: string;
  readonly items: readonly Record<string, unknown>[];
}
const listIn = ({ body }: RawRequest): SentList => JSON.parse(body) as SentList;
const idsIn = (request: RawRequest): unknown[] =>
  listIn(request).items.map(({ auditID }) => auditID);

test('events go as a list in JSON, whose members do not name their kind', async () => {
  const writer = await open();
  await writer.write([eventOf({ auditID: '1' }), eventOf({ auditID: '2' })]);
  const [request] = hook.requests;
  if (request === undefined) throw new Error('nothing was sent');
  expect(request.head).toMatch(/^POST \/hook\?timeout=30s HTTP/);
  expect(request.head).toMatch(/content-type: application\/json/i);
  const { kind, apiVersion, items } = listIn(request);
  expect({ kind, apiVersion }).toEqual({ kind: 'EventList', apiVersion: 'audit.test/v1' });
  expect(idsIn(request)).toEqual(['1', '2']);
  expect(items[0]).not.toHaveProperty('kind');
  await writer.close(0);
});

describe('a list that cannot be sent', () => {
  test.each<readonly [string, Answering]>([
    ['an answer of 500', fail],
    ['a refusal', ({ socket }) => void socket.write(answerText('', { status: '400 Bad' }))],
    ['a connection that is cut', ({ socket }) => void socket.destroy()],
  ])('is sent again after %s', async (_what, answering) => {
    hook.answerWith((request) => (request.index === 0 ? answering(request) : ok(request)));
    const writer = await open();
    await writer.write([eventOf()]);
    expect(hook.requests).toHaveLength(2);
    expect(hook.requests[1]?.body).toBe(hook.requests[0]?.body);
    await writer.close(0);
  });

  test('fails after so many tries, and names the status alone', async () => {
    hook.answerWith(({ socket }) =>
      socket.write(answerText('secret words', { status: '500 Internal Server Error' })),
    );
    const writer = await open();
    await expect(writer.write([eventOf()])).rejects.toThrow(/the answer has status 500$/);
    expect(hook.requests).toHaveLength(limits.auditCallTriesMax);
    await writer.close(0);
  });

  test('waits before each try, half as long again each time', async () => {
    const clock = new ManualClock();
    hook.answerWith(fail);
    const writer = await open(10_000, clock);
    const writing = writer.write([eventOf()]).catch(() => 'failed');
    for (const [least, most] of [
      [10_000, 12_000],
      [15_000, 18_000],
      [22_500, 27_000],
      [33_750, 40_500],
    ] as const) {
      await until(() => clock.waitsMs.length === 1);
      const [waitMs = 0] = clock.waitsMs;
      expect(waitMs).toBeGreaterThanOrEqual(least);
      expect(waitMs).toBeLessThanOrEqual(most);
      clock.pass(waitMs);
    }
    expect(await writing).toBe('failed');
    await writer.close(0);
  });
});

test('so many calls are made at a time, and every list arrives', async () => {
  let openCount = 0;
  let mostOpen = 0;
  hook.answerWith(({ socket }) => {
    mostOpen = Math.max(mostOpen, ++openCount);
    setTimeout(() => {
      openCount--;
      socket.write(answerText(''));
    }, 5);
  });
  const writer = await open();
  const ids = Array.from({ length: 200 }, (_, index) => String(index));
  await Promise.all(ids.map((auditID) => writer.write([eventOf({ auditID })])));
  expect(mostOpen).toBeLessThanOrEqual(limits.auditCallsMax);
  expect(hook.requests.flatMap(idsIn).map(String).sort()).toEqual([...ids].sort());
  await writer.close(0);
});

describe('modes', () => {
  test('blocking: the event waits for a slow hook', async () => {
    hook.answerWith(({ socket }) => void setTimeout(() => socket.write(answerText('')), 50));
    const observer = new CountingObserver();
    const backend = blockingBackend(await open(), { isStrict: true, observer });
    expect(await backend.process(eventOf())).toBe(true);
    expect(hook.requests).toHaveLength(1);
    await backend.close();
  });

  test('blocking-strict: no event is lost while the hook fails now and then', async () => {
    hook.answerWith((request) => (request.index % 2 === 0 ? fail(request) : ok(request)));
    const observer = new CountingObserver();
    const backend = blockingBackend(await open(), { isStrict: true, observer });
    const ids = Array.from({ length: 20 }, (_, index) => String(index));
    const taken = await Promise.all(
      ids.map(async (auditID) => ({
        auditID,
        isTaken: await backend.process(eventOf({ auditID })),
      })),
    );
    const answered = new Set(hook.requests.filter(({ index }) => index % 2 === 1).flatMap(idsIn));
    // Each that let its request go on has arrived; each other one is counted.
    const refused = taken.filter(({ isTaken }) => !isTaken);
    for (const { auditID, isTaken } of taken) if (isTaken) expect(answered).toContain(auditID);
    expect(observer.lines).toHaveLength(refused.length);
    await backend.close();
  });

  test('batch: events are sent together, and what a dead hook cannot take is counted', async () => {
    hook.answerWith(fail);
    const observer = new CountingObserver();
    const options = {
      bufferCountMax: 10,
      batchCountMax: 4,
      batchBytesMax: Infinity,
      batchWaitMs: 1,
      throttle: undefined,
    };
    const backend = new BatchBackend(await open(), options, { clock: systemClock, observer });
    for (const auditID of ['1', '2', '3', '4', '5']) backend.process(eventOf({ auditID }));
    await backend.close();
    const counts = observer.lines.map((line) => /^lost webhook (\d)/.exec(line)?.[1]).sort();
    expect(counts).toEqual(['1', '4']);
  });

  test('at the end a list that waits for its next try is given up after a while', async () => {
    hook.answerWith(fail);
    const writer = await open(60_000);
    const writing = writer.write([eventOf()]).catch((error: unknown) => (error as Error).message);
    await until(() => hook.requests.length === 1);
    await writer.close(20);
    expect(await writing).toMatch(/status 500/);
  });
});
