import { beforeEach, describe, expect, test } from '@jest/globals';
import { limits } from '../../base/limits.ts';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import type { Authentication } from '../authenticator.ts';
import { CachedTokens } from './cached-tokens.ts';
import type { CachedTokensOptions, TokenVerdict } from './cached-tokens.ts';
import { testCredentials } from '../testing/credentials.ts';

const ttlMs = 120_000;
const user = { name: 'u', uid: '', groups: [], extra: {} };
const good: TokenVerdict = { user, audiences: ['api'] };
const bad: TokenVerdict = { refusal: 'unknown', isLasting: true };
const unclear: TokenVerdict = { refusal: 'try later', isLasting: false };
const { signal } = new AbortController();

let clock: ManualClock;
let asked: string[];
let told: string[];
let answers: ((verdict: TokenVerdict) => void)[];
beforeEach(() => {
  clock = new ManualClock();
  [asked, told, answers] = [[], [], []];
});

/** A question is answered when the test says so. */
function open(options: Partial<CachedTokensOptions> = {}): CachedTokens {
  return new CachedTokens({
    name: 'test',
    judge: (token, audiences, ending) =>
      new Promise((resolve, reject) => {
        asked.push(`${token} for ${audiences.join('+')}`);
        answers.push(resolve);
        ending.addEventListener('abort', () => reject(ending.reason as Error));
      }),
    ownAudiences: ['api'],
    goodTtlMs: ttlMs,
    badTtlMs: ttlMs,
    clock,
    observer: {
      looked: (status) => void told.push(status),
      fetched: (status) => void told.push(status),
      waiting: (change) => void told.push(`waiting ${String(change)}`),
      fetching: (change) => void told.push(`fetching ${String(change)}`),
    },
    ...options,
  });
}
const ask = (tokens: CachedTokens, token: string, audiences: readonly string[] = []): unknown =>
  tokens.authenticate(testCredentials({ token, audiences }), signal);
const settle = async (asking: unknown, verdict: TokenVerdict): Promise<Authentication> => {
  answers.at(-1)?.(verdict);
  return (await asking) as Authentication;
};

test('without a token nobody is asked', () => {
  const answer = open().authenticate(testCredentials(), signal);
  expect([answer, asked]).toEqual([{ outcome: 'absent' }, []]);
});

describe('an answer', () => {
  test.each([
    ['of a good token', good, { outcome: 'accepted', user }],
    ['of a bad token', bad, { outcome: 'rejected', reason: 'unknown' }],
  ])('%s is good for its time, and then asked for again', async (_of, verdict, expected) => {
    const tokens = open();
    expect(await settle(ask(tokens, 't'), verdict)).toEqual(expected);
    clock.pass(ttlMs - 1);
    expect(ask(tokens, 't')).toEqual(expected); // at once
    clock.pass(1);
    expect(ask(tokens, 't')).toBeInstanceOf(Promise);
    expect(asked).toHaveLength(2);
  });

  test.each([
    ['that tells nothing', unclear, {}],
    ['of a good token, where nothing is to be kept', good, { goodTtlMs: 0 }],
    ['of a bad token, where nothing is to be kept', bad, { badTtlMs: 0 }],
  ])('%s is not kept', async (_of, verdict, options) => {
    const tokens = open(options);
    await settle(ask(tokens, 't'), verdict);
    expect(ask(tokens, 't')).toBeInstanceOf(Promise);
  });

  test('is of one token for one set of audiences', async () => {
    const tokens = open();
    await settle(ask(tokens, 't'), good);
    for (const [token, audiences] of [
      ['t', ['api', 'b']],
      ['t2', []],
      ['t', ['b']],
    ] as const) {
      expect(ask(tokens, token, audiences)).toBeInstanceOf(Promise);
    }
    expect(asked).toEqual(['t for api', 't for api+b', 't2 for api', 't for b']);
  });

  test('names audiences to who names some', async () => {
    const tokens = open();
    expect(await settle(ask(tokens, 't'), good)).toEqual({ outcome: 'accepted', user });
    const named = { outcome: 'accepted', user, audiences: ['api'] };
    expect(ask(tokens, 't', ['api'])).toEqual(named);
  });
});

test('who asks about the same token at once waits for one answer', async () => {
  const tokens = open();
  const asking = [ask(tokens, 't'), ask(tokens, 't'), ask(tokens, 't')];
  expect(asked).toEqual(['t for api']);
  await settle(asking[0], unclear);
  const rejected = { outcome: 'rejected', reason: 'try later' };
  expect(await Promise.all(asking)).toEqual([rejected, rejected, rejected]);
  expect(told.filter((one) => one === 'fetching 1')).toHaveLength(1);
  expect(told.filter((one) => one === 'waiting 1')).toHaveLength(3);
});

test('who gives up does not take the answer from others', async () => {
  const tokens = open();
  const leaving = new AbortController();
  const gone = tokens.authenticate(testCredentials({ token: 't' }), leaving.signal);
  const staying = ask(tokens, 't');
  leaving.abort(new Error('left'));
  await expect(gone).rejects.toThrow('left');
  expect(await settle(staying, good)).toMatchObject({ outcome: 'accepted' });
});

test('a question has an end, and is asked anew after it', async () => {
  const tokens = open();
  const asking = ask(tokens, 't');
  clock.pass(limits.tokenReviewTimeoutMs);
  expect(await asking).toMatchObject({ outcome: 'rejected' });
  expect(clock.waitsMs).toEqual([]);
  expect(ask(tokens, 't')).toBeInstanceOf(Promise);
});

test('a storm of bad tokens takes no place from good ones', async () => {
  const tokens = open({
    judge: (token) => Promise.resolve(token === 'mine' ? good : bad),
  });
  await ask(tokens, 'mine');
  for (let index = 0; index < limits.badTokensKeptMax + 10; index++) {
    await ask(tokens, `bad-${String(index)}`);
  }
  expect(ask(tokens, 'mine')).toMatchObject({ outcome: 'accepted' });
  expect(ask(tokens, 'bad-0')).toBeInstanceOf(Promise); // the oldest made room
});

test('looks, questions and who waits are told', async () => {
  const tokens = open();
  await settle(ask(tokens, 't'), good);
  ask(tokens, 't');
  expect(told).toEqual([
    ...['waiting 1', 'fetching 1', 'ok', 'fetching -1', 'waiting -1', 'miss'],
    'hit',
  ]);
  told = [];
  await settle(ask(tokens, 'other'), unclear);
  expect(told).toContain('error');
});
