// How the keys of an issuer are found, kept and read again.
import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as later } from 'node:timers/promises';
import { systemClock } from '../../base/clock.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { createLogger } from '../../base/log.ts';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { createTestCa } from '../../base/testing/certificates.ts';
import { signingAlgorithms } from '../../config/authentication-flags.ts';
import { ask, jwtOf, jwtParts, testContext } from '../testing/jwt-parts.ts';
import { TokenIssuer, issuerKey, sendJson } from '../testing/token-issuer.ts';
import type { IssuerKey } from '../testing/token-issuer.ts';
import type { IssuerConfiguration } from './configuration.ts';
import { IssuerClient } from './issuer-client.ts';
import { IssuerKeys } from './issuer-keys.ts';
import { JwtAuthenticator, JwtIssuer } from './jwt-authenticator.ts';
import { compileJwt } from './validate.ts';

const discovery = '/.well-known/openid-configuration';
const bodyMax = limits.issuerAnswerBytesMax;
let first: IssuerKey;
let second: IssuerKey;
const ending: (() => void)[] = [];

beforeAll(async () => {
  [first, second] = await Promise.all([issuerKey('1'), issuerKey('2')]);
});
afterEach(() => {
  for (const end of ending.splice(0)) end();
});

function open(issuer: TokenIssuer, change: Partial<IssuerConfiguration> = {}) {
  const clock = new ManualClock();
  const log: string[] = [];
  const logger = createLogger('info', (line) => log.push(line));
  const configuration = jwtOf(issuer, { issuer: change }).issuer;
  const parts = jwtParts({ clock: withTimersOf(clock), logger });
  const client = new IssuerClient(configuration.certificateAuthority, parts);
  const keys = new IssuerKeys(configuration, client, parts);
  ending.push(() => {
    keys.close();
    client.close();
  });
  return { keys, clock, log };
}

/** Time passes, and timers wait for the test: the deadlines of calls are never reached. */
const withTimersOf = (timers: ManualClock): Clock => ({
  ...systemClock,
  after: (delayMs, run) => timers.after(delayMs, run),
});

/** It ends with the test that waits, whatever becomes of that. */
async function until(holds: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000; turn++) {
    if (holds()) return;
    await later(5);
  }
  throw new Error('it does not come');
}

test('discovery and keys are read at once, over TLS, with the CA that is given', async () => {
  await using issuer = await TokenIssuer.start([first], '/a/b');
  const { keys } = open(issuer);
  await keys.ready;
  expect([...issuer.hits]).toEqual([
    [`/a/b${discovery}`, 1],
    ['/a/b/keys', 1],
  ]);
  expect(keys.fetches).toMatchObject({ failedAtMs: undefined });
  expect(keys.fetches.hash).toMatch(/^sha256:[0-9a-f]{64}$/);
});

test('jwt[].issuer.discoveryURL: replaces the default discovery location', async () => {
  await using issuer = await TokenIssuer.start([first]);
  await using elsewhere = await TokenIssuer.start([]);
  elsewhere.answers.set('/found/here', (_request, response) => {
    sendJson(response, issuer.document);
  });
  const { keys } = open(issuer, { discoveryURL: `${elsewhere.url}/found/here` });
  await keys.ready;
  expect([...issuer.hits.keys()]).toEqual(['/keys']);
});

describe('an issuer is not ready', () => {
  const other = { issuer: 'https://other.tests', jwks_uri: 'https://other.tests/keys' };
  test.each<[claim: string, answer: (issuer: TokenIssuer) => void, reason: string]>([
    [
      'jwt[].issuer.discoveryURL: the issuer in the discovered document must equal url',
      (issuer) => issuer.answers.set(discovery, (_, response) => sendJson(response, other)),
      'another issuer',
    ],
    [
      'whose document names it with a slash more',
      (issuer) =>
        issuer.answers.set(discovery, (_, response) => {
          sendJson(response, { ...issuer.document, issuer: `${issuer.url}/` });
        }),
      'another issuer',
    ],
    [
      'whose keys are without TLS',
      (issuer) =>
        issuer.answers.set(discovery, (_, response) => {
          sendJson(response, { ...issuer.document, jwks_uri: 'http://127.0.0.1/keys' });
        }),
      'jwks_uri is no https URL',
    ],
    [
      'whose document is a redirect',
      (issuer) =>
        issuer.answers.set(discovery, (_, response) => {
          response.writeHead(302, { location: `${issuer.url}/elsewhere` }).end();
        }),
      'redirect',
    ],
    [
      'whose keys are a redirect',
      (issuer) =>
        issuer.answers.set('/keys', (_, response) => {
          response.writeHead(307, { location: `${issuer.url}/elsewhere` }).end();
        }),
      'redirect',
    ],
    [
      'that answers with an error',
      (issuer) =>
        issuer.answers.set(discovery, (_, response) => void response.writeHead(500).end('secret')),
      'status 500',
    ],
    [
      'that answers without end',
      (issuer) =>
        issuer.answers.set('/keys', (_, response) => {
          response.writeHead(200).end(Buffer.alloc(bodyMax + 1, 0x20));
        }),
      `larger than ${String(bodyMax)} bytes`,
    ],
    [
      'that answers no JSON',
      (issuer) => issuer.answers.set(discovery, (_, response) => void response.end('<secret>')),
      'no JSON object',
    ],
    [
      'whose keys are no list',
      (issuer) => issuer.answers.set('/keys', (_, response) => sendJson(response, { keys: {} })),
      'a key set needs a list',
    ],
    [
      'with too many keys',
      (issuer) =>
        issuer.answers.set('/keys', (_, response) => {
          sendJson(response, { keys: Array(limits.issuerKeysMax + 1).fill(first.jwk) });
        }),
      'a key set needs a list',
    ],
  ])('%s', async (_claim, answer, reason) => {
    await using issuer = await TokenIssuer.start([first]);
    answer(issuer);
    const { keys, log } = open(issuer);
    await until(() => log.length > 0);
    expect(log).toHaveLength(1);
    expect(log[0]).toContain(reason);
    expect(log[0]).not.toContain('secret');
    expect(keys.current).toBeUndefined();
    expect(issuer.hits.has('/elsewhere')).toBe(false);
  });

  test('jwt[].issuer.certificateAuthority: whose certificate is of another CA', async () => {
    await using issuer = await TokenIssuer.start([first]);
    const { cert } = await createTestCa('other');
    const { keys, log } = open(issuer, { certificateAuthority: cert });
    await until(() => log.length > 0);
    expect(keys.current).toBeUndefined();
    expect(issuer.hits.size).toBe(0);
  });

  test('until it answers: it is tried again, and its tokens are rejected so long', async () => {
    await using issuer = await TokenIssuer.start([first]);
    let isAway = true;
    issuer.answers.set(discovery, (_, response) => {
      if (isAway) response.writeHead(503).end();
      else sendJson(response, issuer.document);
    });
    const log: string[] = [];
    const parts = jwtParts({ logger: createLogger('info', (line) => log.push(line)) });
    const clock = new ManualClock();
    const one = new JwtIssuer(compileJwt(jwtOf(issuer), testContext()), signingAlgorithms, {
      ...parts,
      clock: withTimersOf(clock),
    });
    ending.push(() => one.close());
    const authenticator = new JwtAuthenticator([one], parts);
    const token = await issuer.sign();
    expect(await ask(authenticator, token)).toEqual({
      outcome: 'rejected',
      reason: 'oidc: authenticator not initialized',
    });
    // A handshake may take as long: only after the failure is the wait that for the next attempt.
    await until(() => log.length > 0 && clock.waitsMs.includes(limits.issuerRetryIntervalMs));
    isAway = false;
    clock.pass(limits.issuerRetryIntervalMs);
    await one.keys.ready;
    expect(await ask(authenticator, token)).toMatchObject({ outcome: 'accepted' });
  });
});

describe('keys that are there', () => {
  test('are read again from time to time: one that was taken back is good no longer', async () => {
    await using issuer = await TokenIssuer.start([first]);
    const { keys, clock } = open(issuer);
    await keys.ready;
    await until(() => clock.waitsMs.includes(limits.issuerKeysIntervalMs));
    const { generation } = keys;
    issuer.keys = [second];
    clock.pass(limits.issuerKeysIntervalMs);
    await until(() => keys.generation !== generation);
    expect(issuer.hits.get('/keys')).toBe(2);
  });

  test('stay while a later reading fails, which is told once', async () => {
    await using issuer = await TokenIssuer.start([first]);
    const { keys, clock, log } = open(issuer);
    await keys.ready;
    const { current } = keys;
    issuer.answers.set('/keys', (_, response) => void response.writeHead(500).end());
    await until(() => clock.waitsMs.includes(limits.issuerKeysIntervalMs));
    clock.pass(limits.issuerKeysIntervalMs);
    const isTold = (): boolean => log.some((line) => line.includes('cannot be read'));
    await until(() => isTold() && clock.waitsMs.includes(limits.issuerRetryIntervalMs));
    clock.pass(limits.issuerRetryIntervalMs);
    await until(() => (issuer.hits.get('/keys') ?? 0) >= 3);
    expect(keys.current).toBe(current);
    expect(log.filter((line) => line.includes('cannot be read'))).toHaveLength(1);
    expect(keys.fetches.failedAtMs).toBeDefined();
  });

  test('that are the same change nothing', async () => {
    await using issuer = await TokenIssuer.start([first]);
    const { keys, clock } = open(issuer);
    await keys.ready;
    const { current, generation } = keys;
    await until(() => clock.waitsMs.includes(limits.issuerKeysIntervalMs));
    clock.pass(limits.issuerKeysIntervalMs);
    await until(() => issuer.hits.get('/keys') === 2);
    await until(() => clock.waitsMs.includes(limits.issuerKeysIntervalMs));
    expect(keys).toMatchObject({ current, generation });
  });
});

describe('tokens of unknown keys', () => {
  async function opened(issuer: TokenIssuer) {
    const parts = jwtParts();
    const one = new JwtIssuer(compileJwt(jwtOf(issuer), testContext()), signingAlgorithms, parts);
    ending.push(() => one.close());
    await one.keys.ready;
    return new JwtAuthenticator([one], parts);
  }

  test('a rotated key is known with its first token', async () => {
    await using issuer = await TokenIssuer.start([first]);
    const authenticator = await opened(issuer);
    issuer.keys = [first, second];
    const token = await issuer.sign({}, { key: second });
    expect(await ask(authenticator, token)).toMatchObject({ outcome: 'accepted' });
  });

  test('so is one that took the name of the one before; what that signed is rejected', async () => {
    await using issuer = await TokenIssuer.start([first]);
    const authenticator = await opened(issuer);
    const old = await issuer.sign();
    expect(await ask(authenticator, old)).toMatchObject({ outcome: 'accepted' });
    const renamed = await issuerKey('1');
    issuer.keys = [renamed];
    expect(await ask(authenticator, await issuer.sign())).toMatchObject({ outcome: 'accepted' });
    expect(await ask(authenticator, old)).toMatchObject({ outcome: 'rejected' });
  });

  test('a flood of them causes one reading', async () => {
    await using issuer = await TokenIssuer.start([first]);
    const authenticator = await opened(issuer);
    const tokens = await Promise.all(
      Array.from({ length: 100 }, (_, at) =>
        issuer.sign({}, { key: second, kid: `../${String(at)}` }),
      ),
    );
    for (const part of [tokens.slice(0, 50), tokens.slice(50)]) {
      const answers = await Promise.all(part.map((token) => ask(authenticator, token)));
      expect(answers.every(({ outcome }) => outcome === 'rejected')).toBe(true);
    }
    expect(issuer.hits.get('/keys')).toBe(2);
    expect([...issuer.hits.keys()]).toEqual([discovery, '/keys']);
    expect(await ask(authenticator, await issuer.sign())).toMatchObject({ outcome: 'accepted' });
  });
});

test('what is closed reads no more', async () => {
  await using issuer = await TokenIssuer.start([first]);
  const { keys, clock } = open(issuer);
  await keys.ready;
  await until(() => clock.waitsMs.includes(limits.issuerKeysIntervalMs));
  keys.close();
  clock.pass(limits.issuerKeysIntervalMs);
  await keys.readAfterMiss();
  expect(issuer.hits.get('/keys')).toBe(1);
});
