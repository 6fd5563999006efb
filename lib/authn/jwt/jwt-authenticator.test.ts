// Tokens of issuers that run: what is accepted, and what hostile ones come to.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SignJWT, exportSPKI, importJWK } from 'jose';
import { limits } from '../../base/limits.ts';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { signingAlgorithms } from '../../config/authentication-flags.ts';
import { ask, jwtOf, jwtParts, testContext } from '../testing/jwt-parts.ts';
import { TokenIssuer, issuerKey } from '../testing/token-issuer.ts';
import type { IssuerKey, SignOptions } from '../testing/token-issuer.ts';
import { JwtAuthenticator, JwtIssuer } from './jwt-authenticator.ts';
import type { JwtParts } from './jwt-authenticator.ts';
import { compileJwt } from './validate.ts';

type Given = Parameters<typeof jwtOf>[1];
const base64 = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const now = (): number => Math.floor(Date.now() / 1_000);

let rsa: IssuerKey;
let ec: IssuerKey;
let issuer: TokenIssuer;
let other: TokenIssuer;
const opened: JwtIssuer[] = [];

async function open(
  given: Given = {},
  options: { readonly of?: TokenIssuer; readonly algorithms?: readonly string[] } = {},
  parts: Partial<JwtParts> = {},
): Promise<JwtAuthenticator> {
  const { of = issuer, algorithms = signingAlgorithms } = options;
  const made = jwtParts(parts);
  const one = new JwtIssuer(compileJwt(jwtOf(of, given), testContext()), algorithms, made);
  opened.push(one);
  await one.keys.ready;
  return new JwtAuthenticator([one], made);
}

beforeAll(async () => {
  [rsa, ec] = await Promise.all([issuerKey('rsa-1', 'RS256'), issuerKey('ec-1', 'ES256')]);
  [issuer, other] = await Promise.all([
    TokenIssuer.start([rsa, ec], '/tenant'),
    TokenIssuer.start([await issuerKey('rsa-1', 'RS256')]),
  ]);
});
afterAll(async () => {
  for (const one of opened) one.close();
  await Promise.all([issuer[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
});

describe('a token', () => {
  test.each<[claim: string, claims: Record<string, unknown>, options?: () => SignOptions]>([
    ['of the first key', {}],
    ['of another key', {}, () => ({ key: ec })],
    ['that names no key', {}, () => ({ key: ec, kid: false })],
    ['with several audiences, one of which is listed', { aud: ['x', 'client'] }],
    ['whose nbf is a little ahead', { nbf: now() + 60 }],
    ['without iat', { iat: undefined }],
    ['with a member __proto__', { ['__proto__']: { sub: 'x' } }],
  ])('%s is accepted', async (_claim, claims, options = () => ({})) => {
    const token = await issuer.sign(claims, options());
    expect(await ask(await open(), token)).toEqual({
      outcome: 'accepted',
      user: { name: 'a:jane', uid: '', groups: [], extra: {} },
    });
  });

  test.each<[claim: string, claims: Record<string, unknown>, options?: () => SignOptions]>([
    ['aud: another', { aud: 'other' }],
    ['aud: none', { aud: undefined }],
    ['aud: part of one', { aud: 'client2' }],
    ['exp: in the past', { exp: now() - 1 }],
    ['exp: none', { exp: undefined }],
    ['exp: a text', { exp: String(now() + 60) }],
    ['nbf: far ahead', { nbf: now() + 3_600 }],
    ['an unknown kid', {}, () => ({ kid: 'nope' })],
    ['a kid that is a path', {}, () => ({ kid: '../../keys/ec-1' })],
    ['the kid of another key', {}, () => ({ key: ec, kid: 'rsa-1' })],
    ['a key of another issuer with the same kid', {}, () => ({ key: other.keys[0] as IssuerKey })],
    ['no name', { sub: undefined }],
  ])('%s is rejected', async (_claim, claims, options = () => ({})) => {
    const token = await issuer.sign(claims, options());
    expect(await ask(await open(), token)).toMatchObject({ outcome: 'rejected' });
  });

  test('RS256 alone by --oidc-signing-algs, others where they are listed', async () => {
    const [token, rs512] = await Promise.all([issuer.sign({}, { key: ec }), issuer.sign({})]);
    const byDefault = await open({}, { algorithms: ['RS256'] });
    expect(await ask(byDefault, token)).toMatchObject({ outcome: 'rejected' });
    expect(await ask(byDefault, rs512)).toMatchObject({ outcome: 'accepted' });
    expect(await ask(await open({}, { algorithms: ['ES256'] }), token)).toMatchObject({
      outcome: 'accepted',
    });
  });

  test.each([
    ['none', undefined],
    ['no token of this kind', 'opaque-token'],
    ['two parts', 'eyJhIjoxfQ.eyJhIjoxfQ'],
    ['four parts', 'eyJhIjoxfQ.eyJhIjoxfQ.c.d'],
    ['no JSON', `eyJ.${base64('no json')}.c`],
    ['no object', `eyJ.${base64([1])}.c`],
    ['null', `eyJ.${base64('null')}.c`],
    ['no issuer', `eyJ.${base64({ sub: 'a' })}.c`],
    ['an issuer that is a list', `eyJ.${base64({ iss: ['x'] })}.c`],
  ])('%s is absent', async (_claim, token) => {
    expect(await ask(await open(), token)).toEqual({ outcome: 'absent' });
  });
});

describe('hostile tokens', () => {
  test('none, in any spelling and with or without a signature', async () => {
    const authenticator = await open();
    const payload = base64({ iss: issuer.url, aud: 'client', sub: 'jane', exp: now() + 60 });
    for (const alg of ['none', 'None', 'NONE', '', null]) {
      for (const signature of ['', 'AAAA']) {
        const token = `${base64({ alg, kid: 'rsa-1' })}.${payload}.${signature}`;
        expect(await ask(authenticator, token)).toMatchObject({ outcome: 'rejected' });
      }
    }
  });

  test('HMAC with the public key as the secret', async () => {
    const authenticator = await open();
    const key = await importJWK(rsa.jwk, 'RS256', { extractable: true });
    const pem = await exportSPKI(key as Parameters<typeof exportSPKI>[0]);
    const secrets = [pem, pem.trim(), JSON.stringify(rsa.jwk), rsa.jwk.n ?? ''];
    for (const secret of secrets) {
      for (const alg of ['HS256', 'HS384', 'HS512']) {
        const token = await new SignJWT({ iss: issuer.url, aud: 'client', sub: 'jane' })
          .setProtectedHeader({ alg, kid: 'rsa-1' })
          .setExpirationTime('5m')
          .sign(Buffer.from(secret.padEnd(64, '=')));
        expect(await ask(authenticator, token)).toMatchObject({ outcome: 'rejected' });
      }
    }
  });

  test('a key of its own in the header, or an address of one', async () => {
    const mine = await issuerKey('rsa-1', 'RS256');
    const authenticator = await open();
    const before = other.hits.size;
    for (const more of [{ jwk: mine.jwk }, { jku: `${other.url}/keys` }, { x5u: other.url }]) {
      const token = await new SignJWT({ iss: issuer.url, aud: 'client', sub: 'jane' })
        .setProtectedHeader({ alg: 'RS256', kid: 'rsa-1', ...more })
        .setExpirationTime('5m')
        .sign(mine.privateKey);
      expect(await ask(authenticator, token)).toMatchObject({ outcome: 'rejected' });
    }
    expect(other.hits.size).toBe(before);
  });

  test('extensions that nobody here understands', async () => {
    const token = await new SignJWT({ iss: issuer.url, aud: 'client', sub: 'jane' })
      .setProtectedHeader({ alg: 'RS256', kid: 'rsa-1', crit: ['x'], x: 1 })
      .setExpirationTime('5m')
      .sign(rsa.privateKey, { crit: { x: true } });
    expect(await ask(await open(), token)).toMatchObject({ outcome: 'rejected' });
  });

  test.each([
    ['with a slash at its end', (url: string) => `${url}/`],
    ['without its path', (url: string) => new URL(url).origin],
    ['in capitals', (url: string) => url.toUpperCase()],
    ['with a default port', (url: string) => url.replace('/tenant', ':443/tenant')],
    ['with another segment', (url: string) => `${url}/../tenant`],
  ])('an issuer %s is another one', async (_claim, change) => {
    const token = await issuer.sign({ iss: change(issuer.url) });
    expect(await ask(await open(), token)).toEqual({ outcome: 'absent' });
  });

  test('two issuers with one host: each has its own tokens and keys', async () => {
    const parts = jwtParts();
    const compiled = (of: TokenIssuer, prefix: string) =>
      compileJwt(
        jwtOf(of, { claimMappings: { username: { claim: 'sub', prefix, expression: '' } } }),
        testContext(),
      );
    const issuers = [compiled(issuer, '1:'), compiled(other, '2:')].map(
      (one) => new JwtIssuer(one, signingAlgorithms, parts),
    );
    opened.push(...issuers);
    await Promise.all(issuers.map(({ keys }) => keys.ready));
    const authenticator = new JwtAuthenticator(issuers, parts);
    const nameOf = async (token: string) => (await ask(authenticator, token)) as object;
    expect(await nameOf(await issuer.sign())).toMatchObject({ user: { name: '1:jane' } });
    expect(await nameOf(await other.sign())).toMatchObject({ user: { name: '2:jane' } });
    for (const forged of [
      await issuer.sign({ iss: other.url }),
      await other.sign({ iss: issuer.url }),
    ]) {
      expect(await nameOf(forged)).toMatchObject({ outcome: 'rejected' });
    }
  });

  test('huge and deep ones cost little', async () => {
    const authenticator = await open();
    const huge = await issuer.sign({ pad: 'x'.repeat(limits.jwtLengthMax) });
    expect(await ask(authenticator, huge)).toEqual({ outcome: 'absent' });
    const deep = `{"iss":"${issuer.url}","a":${'['.repeat(40_000)}${']'.repeat(40_000)}}`;
    const token = `${base64({ alg: 'RS256', kid: 'rsa-1' })}.${base64(deep)}.AAAA`;
    expect(token.length).toBeLessThan(limits.jwtLengthMax);
    expect(await ask(authenticator, token)).toMatchObject({ outcome: 'rejected' });
  });

  test('a signature of the other half of a pair of tokens', async () => {
    const [one, two] = await Promise.all([issuer.sign({ sub: 'a' }), issuer.sign({ sub: 'b' })]);
    const [header, , signature] = one.split('.');
    const mixed = [header, two.split('.')[1], signature].join('.');
    expect(await ask(await open(), mixed)).toMatchObject({ outcome: 'rejected' });
  });
});

describe('verdicts', () => {
  test('a good one is kept for ten seconds, a bad one for one', async () => {
    const results: string[] = [];
    const clock = new ManualClock();
    clock.pass(Date.now());
    const onVerified: JwtParts['onVerified'] = (hash, result) => results.push(`${hash} ${result}`);
    const authenticator = await open({}, {}, { clock, onVerified });
    const [one] = authenticator.issuers;
    expect(one?.hash).toMatch(/^sha256:[0-9a-f]{64}$/);
    const good = await issuer.sign();
    const bad = await issuer.sign({ aud: 'other' });
    const twice = async (): Promise<void> => {
      for (const token of [good, good, bad, bad]) await ask(authenticator, token);
    };
    await twice();
    expect(results).toEqual([`${one?.hash ?? ''} success`, `${one?.hash ?? ''} failure`]);
    clock.pass(1_000);
    await twice();
    expect(results).toHaveLength(3);
    clock.pass(9_000);
    await twice();
    expect(results).toHaveLength(5);
  });

  test('none outlives its token', async () => {
    const clock = new ManualClock();
    clock.pass(Date.now());
    const authenticator = await open({}, {}, { clock });
    const token = await issuer.sign({ exp: now() + 5 });
    expect(await ask(authenticator, token)).toMatchObject({ outcome: 'accepted' });
    clock.pass(6_000);
    expect(await ask(authenticator, token)).toMatchObject({ outcome: 'rejected' });
  });

  test('one that is asked for many times at once is verified once', async () => {
    let count = 0;
    const authenticator = await open({}, {}, { onVerified: () => count++ });
    const token = await issuer.sign();
    const answers = await Promise.all(Array.from({ length: 50 }, () => ask(authenticator, token)));
    expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(['accepted']));
    expect(count).toBe(1);
  });

  test('a request that gives up does not take the others with it', async () => {
    const authenticator = await open();
    const token = await issuer.sign();
    const credentials = { token, connection: undefined, rawHeaders: [], audiences: [] };
    const ending = new AbortController();
    const gone = (async () => authenticator.authenticate(credentials, ending.signal))();
    const stays = ask(authenticator, token);
    ending.abort(new Error('the client left'));
    await expect(gone).rejects.toThrow('the client left');
    expect(await stays).toMatchObject({ outcome: 'accepted' });
  });
});
