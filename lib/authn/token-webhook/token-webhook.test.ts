import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { systemClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import type { HttpsTarget } from '../../client/https-target.ts';
import { openHook } from '../../client/testing/open-calls.ts';
import { RawServer, answerText } from '../../client/testing/raw-server.ts';
import type { RawRequest } from '../../client/testing/raw-server.ts';
import type { TokenVerdict } from './cached-tokens.ts';
import { tokenWebhook } from './token-webhook.ts';

const apiVersion = 'authentication.svc.io/v1';
const { signal } = new AbortController();
/** Back-off takes no time. */
const clock: Clock = {
  ...systemClock,
  after(delayMs, run) {
    waitsMs.push(delayMs);
    const timer = setImmediate(run);
    return () => clearImmediate(timer);
  },
};

let server: RawServer;
let target: HttpsTarget;
let waitsMs: number[];
let log: string[];
let calls: string[];
beforeAll(async () => {
  server = await RawServer.start(() => undefined);
  target = await openHook(server.url);
});
afterAll(async () => {
  target.close();
  await server[Symbol.asyncDispose]();
});
beforeEach(() => {
  [waitsMs, log, calls] = [[], [], []];
});

type Answers = (request: RawRequest, count: number) => void;

async function judge(
  answer: Answers,
  audiences: readonly string[] = ['api'],
): Promise<TokenVerdict> {
  let count = 0;
  server.answerWith((request) => answer(request, count++));
  const judged = tokenWebhook({
    target,
    apiVersion,
    ownAudiences: ['api', 'api2'],
    clock,
    logger: { warn: (message, fields) => void log.push(`${message} ${JSON.stringify(fields)}`) },
    called: (code) => void calls.push(code),
  });
  return judged('secret-token', audiences, signal);
}
const json =
  (body: unknown): Answers =>
  ({ socket }) =>
    void socket.write(answerText(JSON.stringify(body)));
const review = (status: unknown): Answers => json({ kind: 'TokenReview', apiVersion, status });
const status =
  (line: string): Answers =>
  ({ socket }) =>
    void socket.write(`HTTP/1.1 ${line}\r\nContent-Length: 2\r\n\r\nno`);
const known = { authenticated: true, user: { username: 'u' } };
const user = { name: 'u', uid: '', groups: [], extra: {} };

test('POST of a TokenReview with spec.token, as JSON', async () => {
  let seen: RawRequest | undefined;
  await judge((request, count) => {
    seen = request;
    review(known)(request, count);
  });
  expect(seen?.head).toMatch(/^POST \/hook\?timeout=30s HTTP\/1\.1/);
  expect(seen?.head.toLowerCase()).toContain('content-type: application/json');
  expect(JSON.parse(seen?.body ?? '')).toEqual({
    kind: 'TokenReview',
    apiVersion,
    metadata: {},
    spec: { token: 'secret-token', audiences: ['api'] },
  });
  expect([calls, log]).toEqual([['200'], []]);
});

test.each([
  [known, user],
  [
    {
      authenticated: true,
      user: { username: 'u', uid: '1', groups: ['g'], extra: { 'a.io/b': ['x'] } },
      error: 'is ignored when true',
    },
    { name: 'u', uid: '1', groups: ['g'], extra: { 'a.io/b': ['x'] } },
  ],
])('Success: authenticated true and user: %j', async (given, expected) => {
  expect(await judge(review(given))).toEqual({ user: expected, audiences: ['api'] });
});

test.each([
  [undefined, 'the token webhook does not know the token', true],
  [{}, 'the token webhook does not know the token', true],
  [{ authenticated: false }, 'the token webhook does not know the token', true],
  [{ authenticated: false, error: 'because' }, 'because', false],
])('Failure: authenticated false, optional error: %j', async (given, refusal, isLasting) => {
  expect(await judge(review(given))).toEqual({ refusal, isLasting });
});

describe('status.audiences', () => {
  test.each([
    [['api'], undefined, ['api']],
    [['other'], undefined, undefined],
    [['other'], ['other', 'more'], ['other']],
    [['api'], ['other'], undefined],
    [
      ['a', 'b', 'api2'],
      ['b', 'api2'],
      ['b', 'api2'],
    ],
  ])('for %j, answered as %j, are good for %j', async (wanted, audiences, good) => {
    const verdict = await judge(review({ ...known, ...(audiences && { audiences }) }), wanted);
    expect('user' in verdict ? verdict.audiences : undefined).toEqual(good);
  });
});

describe('is refused, and nothing of the answer is told:', () => {
  test.each([
    [
      'another version',
      json({ kind: 'TokenReview', apiVersion: `${apiVersion}beta1`, status: known }),
    ],
    ['another kind', json({ kind: 'ConfigMap', apiVersion: 'v1' })],
    ['no JSON', ({ socket }) => void socket.write(answerText('hello'))],
    ['a list', json([known])],
    ['a user without a name', review({ authenticated: true, user: { username: '' } })],
    ['no user', review({ authenticated: true })],
    ['a text for true', review({ ...known, authenticated: 'true' })],
    [
      'groups that are no list',
      review({ authenticated: true, user: { username: 'u', groups: 'g' } }),
    ],
    [
      'extra that is no list',
      review({ authenticated: true, user: { username: 'u', extra: { a: 'b' } } }),
    ],
    ['404', status('404 Not Found')],
    ['503', status('503 Service Unavailable')],
    [
      'a redirect',
      ({ socket }) =>
        void socket.write('HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n'),
    ],
  ] as [string, Answers][])('%s', async (_what, answer) => {
    let count = 0;
    const verdict = await judge((request, index) => {
      count++;
      answer(request, index);
    });
    expect(verdict).toMatchObject({ isLasting: false });
    expect(count).toBe(1);
    expect(log).toHaveLength(1);
    expect(JSON.stringify([verdict, log])).not.toMatch(/hello|secret-token|other"/);
  });
});

describe('what passes is asked again with back-off:', () => {
  test.each([['500 Internal Server Error'], ['429 Too Many Requests'], ['504 Gateway Timeout']])(
    '%s',
    async (line) => {
      const verdict = await judge((request, count) =>
        (count < 2 ? status(line) : review(known))(request, count),
      );
      expect(verdict).toMatchObject({ user });
      const code = line.slice(0, 3);
      expect(calls).toEqual([code, code, '200']);
    },
  );

  test('a cut connection', async () => {
    const verdict = await judge((request, count) =>
      count === 0 ? server.cut() : review(known)(request, count),
    );
    expect(verdict).toMatchObject({ user });
    expect(calls).toEqual(['<error>', '200']);
  });

  test('four times, a little longer each time', async () => {
    const verdict = await judge(status('500 Internal Server Error'));
    expect(verdict).toMatchObject({ isLasting: false });
    expect(calls).toHaveLength(5);
    const firsts = [500, 750, 1_125, 1_687.5];
    expect(waitsMs).toHaveLength(firsts.length);
    for (const [index, first] of firsts.entries()) {
      expect(waitsMs[index]).toBeGreaterThanOrEqual(first);
      expect(waitsMs[index]).toBeLessThanOrEqual(first * 1.2);
    }
  });
});
