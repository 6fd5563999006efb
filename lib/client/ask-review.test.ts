import { afterEach, expect, test } from '@jest/globals';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { askReview, resultOf } from './ask-review.ts';
import type { ReviewCall } from './ask-review.ts';
import type { HttpsTarget } from './https-target.ts';
import { openHook, textOf } from './testing/open-calls.ts';
import { RawServer, answerText } from './testing/raw-server.ts';
import type { RawRequest } from './testing/raw-server.ts';

let waitsMs: number[] = [];
/** Waits are told of, and are over at once. */
const quick: Clock = {
  ...systemClock,
  after(delayMs, run) {
    waitsMs.push(delayMs);
    return systemClock.after(0, run);
  },
};
afterEach(() => {
  waitsMs = [];
});

const results: string[] = [];
const ask = (target: HttpsTarget, change: Partial<ReviewCall<string>> = {}): Promise<string> => {
  results.length = 0;
  return askReview(target, quick, {
    body: Buffer.from('{}'),
    decode: textOf,
    signal: new AbortController().signal,
    timeoutMs: 3_000,
    attempted: (ended) =>
      void results.push('error' in ended ? resultOf(ended.error) : String(ended.status)),
    ...change,
  });
};

const answering =
  (...answers: readonly string[]) =>
  ({ socket, index }: RawRequest): void => {
    const answer = answers[Math.min(index, answers.length - 1)] ?? '';
    if (answer === 'cut') socket.destroy();
    else socket.write(answer);
  };
const ok = answerText('{"a":1}');
const status = (text: string): string => answerText('no', { status: text });

test.each([['429 Too Many Requests'], ['500 Internal Server Error'], ['504 Gateway Timeout']])(
  '%s is asked again, later each time',
  async (text) => {
    await using server = await RawServer.start(answering(status(text), status(text), ok));
    const target = await openHook(server.url);
    expect(await ask(target)).toBe('{"a":1}');
    expect(results).toEqual(['error', 'error', '200']);
    const [first = 0, second = 0] = waitsMs;
    expect(waitsMs).toHaveLength(2);
    expect(first).toBeGreaterThanOrEqual(500);
    expect(first).toBeLessThanOrEqual(600);
    expect(second).toBeGreaterThanOrEqual(750);
    expect(second).toBeLessThanOrEqual(900);
    target.close();
  },
);

test('a connection that is cut before its answer is asked again', async () => {
  await using server = await RawServer.start(answering('cut', ok));
  const target = await openHook(server.url);
  expect(await ask(target)).toBe('{"a":1}');
  target.close();
});

test('five times at most', async () => {
  await using server = await RawServer.start(answering(status('500 Broken')));
  const target = await openHook(server.url);
  await expect(ask(target)).rejects.toThrow(/the answer has status 500/);
  expect(server.requests).toHaveLength(5);
  target.close();
});

test.each([
  ['404 Not Found', status('404 Not Found')],
  ['503 Service Unavailable', status('503 Service Unavailable')],
  ['a redirect', answerText('', { status: '302 Found', headers: ['location: https://a/'] })],
])('%s is final', async (_what, answer) => {
  await using server = await RawServer.start(answering(answer));
  const target = await openHook(server.url);
  await expect(ask(target)).rejects.toThrow(/the answer/);
  expect(server.requests).toHaveLength(1);
  expect(results).toEqual(['error']);
  target.close();
});

test.each([
  [30_000, '30s'],
  [1_500, '1.5s'],
  [500, '500ms'],
])('a timeout of %d ms is told as %s', async (timeoutMs, text) => {
  await using server = await RawServer.start(answering(ok));
  const target = await openHook(server.url);
  await ask(target, { timeoutMs });
  expect(server.requests[0]?.head).toMatch(`POST /hook?timeout=${text} HTTP/1.1`);
  target.close();
});

test('no answer in time is a timeout; a caller that leaves is no failure', async () => {
  await using server = await RawServer.start(() => undefined);
  const target = await openHook(server.url);
  await expect(ask(target, { timeoutMs: 20 })).rejects.toThrow(/deadline exceeded/);
  expect(results).toEqual(['timeout']);
  const leaving = new AbortController();
  const asked = ask(target, { signal: leaving.signal });
  leaving.abort(new Error('left'));
  await expect(asked).rejects.toThrow('left');
  expect(results).toEqual(['canceled']);
  target.close();
});
