// Signatures alone: whose tokens cost a verification, and what is remembered of them.
import { describe, expect, test } from '@jest/globals';
import { SignJWT, UnsecuredJWT } from 'jose';
import type { JWTPayload } from 'jose';
import { limits } from '../../base/limits.ts';
import { testCredentials } from '../testing/credentials.ts';
import type { SigningKey } from './keys.ts';
import { keySorts, newSigningKey, pemOf } from './testing/test-keys.ts';
import { VerifiedTokens } from './verified-tokens.ts';

const issuer = 'https://issuer.example.com';
const payload = { iss: issuer, sub: 'a' };
const sign = (
  { privateKey, algorithm, id }: SigningKey,
  claims: JWTPayload = payload,
  header: object = {},
): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid: id, ...header }).sign(privateKey);

interface Kept {
  readonly sub: string | undefined;
}

function tokensOf(keys: readonly SigningKey[]) {
  const clock = { nowMs: 0, reads: 0 };
  const verified = new VerifiedTokens<Kept>({
    issuers: new Set([issuer]),
    keys,
    clock: { monotonicMs: () => clock.nowMs },
    read(claims) {
      clock.reads++;
      return claims['bad'] === true ? { refused: 'bad' } : { sub: claims.sub };
    },
  });
  const of = (token: string): ReturnType<typeof verified.of> =>
    verified.of(token, testCredentials({ token }));
  return { tokens: { of }, clock };
}

const notOurs = { refused: 'not a service-account token of this server' };
const unsigned = { refused: 'no key of this server has signed the token' };

test.each(keySorts)('a token signed with %s is good', async (sort) => {
  const key = newSigningKey(sort);
  const { tokens } = tokensOf([newSigningKey(), key]);
  expect(await tokens.of(await sign(key))).toEqual({ sub: 'a' });
});

describe('a token', () => {
  const key = newSigningKey('RSA');
  const other = newSigningKey('P-256');
  const publicPem = Buffer.from(pemOf(key.key));
  const hmac = (): Promise<string> =>
    new SignJWT(payload).setProtectedHeader({ alg: 'HS256', kid: key.id }).sign(publicPem);
  const rs384 = (): Promise<string> =>
    new SignJWT(payload).setProtectedHeader({ alg: 'RS384', kid: key.id }).sign(key.privateKey);
  const changed = async (): Promise<string> => {
    const [header = '', , signature = ''] = (await sign(key)).split('.');
    const claims = Buffer.from(JSON.stringify({ ...payload, sub: 'b' })).toString('base64url');
    return [header, claims, signature].join('.');
  };
  test.each<[string, () => Promise<string> | string, object]>([
    [
      'without a key in its header is tried with all',
      () => sign(key, payload, { kid: undefined }),
      { sub: 'a' },
    ],
    [
      'that names a key which is not known is tried with all',
      () => sign(other, payload, { kid: 'x' }),
      { sub: 'a' },
    ],
    [
      'that names another key than its own is refused',
      () => sign(other, payload, { kid: key.id }),
      unsigned,
    ],
    [
      'of a stranger is refused',
      () => sign(newSigningKey('RSA'), payload, { kid: key.id }),
      unsigned,
    ],
    ['with the public key as a shared secret is refused', hmac, unsigned],
    ['with another hash than the key is for is refused', rs384, unsigned],
    ['whose claims were changed is refused', changed, unsigned],
    ['without a signature is not looked at', () => new UnsecuredJWT(payload).encode(), unsigned],
    [
      'of another issuer is not looked at',
      () => sign(key, { iss: 'https://evil.example.com' }),
      notOurs,
    ],
    ['without an issuer is not looked at', () => sign(key, { sub: 'a' }), notOurs],
    ['that is no JWT is not looked at', () => 'secret', notOurs],
    ['of two parts is not looked at', () => 'a.b', notOurs],
    ['of four parts is not looked at', async () => `${await sign(key)}.x`, notOurs],
    ['that is not base64url is not looked at', () => 'a.b.c', notOurs],
    [
      'that its reader refuses is refused',
      () => sign(key, { ...payload, bad: true }),
      { refused: 'bad' },
    ],
  ])('%s', async (_claim, make, outcome) => {
    const { tokens } = tokensOf([key, other]);
    const token = await make();
    expect(await tokens.of(token)).toEqual(outcome);
    expect(await tokens.of(token)).toEqual(outcome);
  });
});

describe('what was found', () => {
  test('is there at once for a time, and is found again afterwards', async () => {
    const key = newSigningKey();
    const { tokens, clock } = tokensOf([key]);
    const token = await sign(key);
    const first = await tokens.of(token);
    expect(tokens.of(token)).toBe(first);
    clock.nowMs = limits.verifiedTokenMs - 1;
    expect(tokens.of(token)).toBe(first);
    clock.nowMs = limits.verifiedTokenMs;
    expect(await tokens.of(token)).toEqual(first);
    expect(clock.reads).toBe(2);
  });

  test('is shared by all who ask at once', async () => {
    const key = newSigningKey();
    const { tokens, clock } = tokensOf([key]);
    const token = await sign(key);
    const found = await Promise.all(Array.from({ length: 50 }, async () => tokens.of(token)));
    expect(new Set(found).size).toBe(1);
    expect(clock.reads).toBe(1);
  });

  test('of bad tokens displaces nothing of good ones', async () => {
    const key = newSigningKey();
    const { tokens, clock } = tokensOf([key]);
    const token = await sign(key);
    const first = await tokens.of(token);
    const [header = '', claims = ''] = token.split('.');
    const forged = (index: number): string => `${header}.${claims}.${'A'.repeat(80 + (index % 6))}`;
    for (let index = 0; index < 6; index++) {
      expect(await tokens.of(forged(index))).toEqual(unsigned);
    }
    expect(tokens.of(token)).toBe(first);
    clock.nowMs = limits.refusedTokenMs;
    expect(tokens.of(forged(0))).toBeInstanceOf(Promise);
  });
});
