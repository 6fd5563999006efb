// The authentication configuration file by the specification, row by row: tokens of issuers, files
// that change or are refused, anonymous requests, and attacks on signed tokens.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createHmac, createPublicKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issuerKey, sendJson, TokenIssuer } from '../../lib/authn/testing/token-issuer.ts';
import type { IssuerKey, SignOptions } from '../../lib/authn/testing/token-issuer.ts';
import { TestCluster } from '../harness.ts';
import type { Replica } from '../harness.ts';
import * as world from './authentication-world.ts';
import type { Asked, Who } from './authentication-world.ts';
import { byClaims, byExpressions, fileOf, minimal } from './authentication-file-entries.ts';
import { accounts, refusedRows, valid } from './authentication-file-rules.ts';

const { nameOf, replaceFile, unauthorized, until, whoIs } = world;
const discovery = '/.well-known/openid-configuration';
const apart = 'https://apart.tests';

let cluster: TestCluster;
let replica: Replica;
let path: string;
let keys: readonly IssuerKey[];
/** By claims; by expressions; found elsewhere; of a lying document; untrusted; a redirect. */
let [claims, expressions, elsewhere, lying, untrusted, redirected, late]: TokenIssuer[] = [];

/** Fails for an issuer that was not started. */
const of = (issuer: TokenIssuer | undefined): TokenIssuer => {
  if (issuer === undefined) throw new Error('the issuer was not started');
  return issuer;
};
const sign = (by: TokenIssuer | undefined, given: object = {}, options?: SignOptions) =>
  of(by).sign({ ...given }, options);

const fromElsewhere = (): object => ({
  issuer: {
    ...{ url: apart, discoveryURL: `${of(elsewhere).url}/found/here` },
    ...{ certificateAuthority: of(elsewhere).ca, audiences: ['client'] },
  },
  claimMappings: { username: { claim: 'sub', prefix: '' } },
});
const noAuthority = (): object => ({
  issuer: { url: of(untrusted).url, audiences: ['client'] },
  claimMappings: { username: { claim: 'sub', prefix: '' } },
});

const usual = (): object[] => [
  byClaims(of(claims)),
  byExpressions(of(expressions)),
  fromElsewhere(),
];

beforeAll(async () => {
  keys = await Promise.all(['k-0', 'k-1', 'k-2', 'k-3'].map((kid) => issuerKey(kid, 'ES256')));
  const started = keys.map((key) => TokenIssuer.start([key]));
  [claims, expressions, elsewhere, lying] = await Promise.all(started);
  // Their keys have names that another issuer has, too.
  [untrusted, redirected, late] = await Promise.all(
    ['k-0', 'k-1', 'k-2'].map(async (kid) => TokenIssuer.start([await issuerKey(kid, 'RS256')])),
  );
  elsewhere?.answers.set('/found/here', (_request, response) => {
    sendJson(response, { issuer: apart, jwks_uri: `${of(elsewhere).url}/keys` });
  });
  lying?.answers.set(discovery, (_request, response) => sendJson(response, of(claims).document));
  redirected?.answers.set('/keys', (_request, response) => {
    response.writeHead(307, { location: `${of(redirected).url}/inner` }).end();
  });
  cluster = await TestCluster.start({
    naming: 'svc',
    serverFlags: [`--service-account-issuer=${accounts}`],
    replicaFlags: (_replica, folder) => {
      path = join(folder, 'authentication.yaml');
      const never = [minimal(of(lying), 'l:'), noAuthority(), minimal(of(redirected), 'r:')];
      writeFileSync(path, fileOf([...usual(), ...never]));
      return [`--authentication-config=${path}`];
    },
  });
  replica = cluster.replica(0);
  for (const issuer of [claims, expressions]) {
    const token = await sign(issuer, { ...whole, ...person });
    await until(
      () => nameOf(replica, { token }),
      (name) => name !== 401,
    );
  }
});
afterAll(async () => {
  await cluster.stop();
  for (const issuer of [claims, expressions, elsewhere, lying, untrusted, redirected, late]) {
    await issuer?.[Symbol.asyncDispose]();
  }
});

const who = (asked: Asked): Promise<Who> => whoIs(replica, asked);
const refused = async (token: string): Promise<void> => {
  expect(await who({ token })).toEqual(unauthorized);
};
const whole = { hd: 'a.b', id: 'u-1', tenant: 'acme', groups: ['dev', 'ops'] };
const person = { email: 'jane@a.b', roles: 'dev,ops' };
const all = 'system:authenticated';

describe('Authentication configuration file: tokens', () => {
  type Given = readonly [
    row: string,
    by: () => TokenIssuer | undefined,
    claims: object,
    user: object,
  ];
  test.each<Given>([
    [
      'jwt[].claimMappings.username: claim with prefix; groups: claim with prefix; uid: ' +
        'claim; extra[]: key and valueExpression',
      () => claims,
      whole,
      {
        ...{ username: 'a:jane', uid: 'u-1', groups: ['g-dev', 'g-ops', all] },
        extra: { 'example.com/tenant': ['acme'] },
      },
    ],
    [
      'jwt[].claimMappings.username: expression (string); groups: expression (string or ' +
        'list of string); uid: expression (string); extra[]: valueExpression (string or ' +
        'list)',
      () => expressions,
      person,
      {
        ...{ username: 'jane@a.b', uid: 'jane', groups: ['dev', 'ops', all] },
        extra: { 'example.com/list': ['x', 'jane'] },
      },
    ],
    [
      'jwt[].issuer.audiences: accepted audiences. At least one must match the token aud',
      () => claims,
      { ...whole, aud: ['other', 'second'] },
      { username: 'a:jane' },
    ],
    [
      'jwt[].issuer.discoveryURL: optional. Replaces the default discovery location; ' +
        'prefix required, may be empty string; Minimal JWT payload: iss, aud, exp, and the ' +
        'username claim',
      () => elsewhere,
      { iss: apart, iat: undefined },
      { username: 'jane', groups: [all] },
    ],
  ])('%s', async (_row, by, given, expected) => {
    const token = await sign(by(), given);
    await until(
      () => nameOf(replica, { token }),
      (name) => name !== 401,
    );
    expect(await who({ token })).toMatchObject(expected);
  });

  const now = (): number => Math.floor(Date.now() / 1_000);
  test.each<[row: string, by: () => TokenIssuer | undefined, claims: object]>([
    ['jwt[].issuer.audiences: none matches', () => claims, { ...whole, aud: 'other' }],
    ['jwt[].issuer.url: another issuer', () => claims, { ...whole, iss: 'https://none.tests' }],
    ['jwt[].claimValidationRules[]: claim with requiredValue', () => claims, { ...whole, hd: 'x' }],
    [
      'jwt[].claimValidationRules[]: expression (boolean, must be true) with message, over ' +
        'claims, a map from claim name to value',
      () => claims,
      { ...whole, exp: now() + 90_000 },
    ],
    [
      'jwt[].claimMappings.username: Empty result fails authentication',
      () => expressions,
      { ...person, email: '' },
    ],
    [
      'jwt[].claimMappings.username: the verified-email claim is false',
      () => expressions,
      { ...person, email_verified: false },
    ],
    ['jwt[].claimMappings.groups: another type', () => expressions, { ...person, roles: 5 }],
    ['jwt[].claimMappings.uid: an absent claim', () => claims, { ...whole, id: undefined }],
    ['jwt[].claimMappings.extra[]: an absent claim', () => claims, { ...whole, tenant: undefined }],
    [
      'jwt[].userValidationRules[]: expression (boolean, all must be true, variable user ' +
        'with username)',
      () => claims,
      { ...whole, sub: 'system:x' },
    ],
    [
      'jwt[].userValidationRules[]: variable user with groups',
      () => claims,
      { ...whole, groups: ['root'] },
    ],
    ['Minimal JWT payload: iss', () => elsewhere, { iss: undefined }],
    ['Minimal JWT payload: aud', () => elsewhere, { iss: apart, aud: undefined }],
    ['Minimal JWT payload: exp (UNIX seconds)', () => elsewhere, { iss: apart, exp: undefined }],
    ['Minimal JWT payload: the username claim', () => elsewhere, { iss: apart, sub: undefined }],
    ['Checks: expiry', () => claims, { ...whole, iat: now() - 60, exp: now() - 1 }],
  ])('Failure of validation yields 401 Unauthorized: %s', async (_row, by, given) => {
    expect(await who({ token: await sign(by(), given) })).toEqual(unauthorized);
  });

  test.each<[row: string, by: () => TokenIssuer | undefined, reason: string]>([
    [
      'jwt[].issuer.discoveryURL: The issuer in the discovered document must equal url',
      () => lying,
      'another issuer',
    ],
    [
      'jwt[].issuer.certificateAuthority: PEM CA certificates for discovery. Default ' +
        'system verifier',
      () => untrusted,
      'certificate',
    ],
    ['keys behind a redirect are not read (JWKS SSRF)', () => redirected, 'redirect'],
  ])('%s', async (_row, by, reason) => {
    const { url, hits } = of(by());
    const lines = (): string[] => replica.output.split('\n').filter((line) => line.includes(url));
    await until(
      () => Promise.resolve(lines()),
      (found) => found.join('').includes(reason),
    );
    expect(await who({ token: await sign(by(), whole) })).toEqual(unauthorized);
    expect(hits.has('/inner')).toBe(false);
  });
});

describe('Anonymous requests', () => {
  test.each([
    ['/livez', 200],
    ['/version', 200],
    ['/livez/ping', 401],
    ['/healthz', 401],
    ['/api/v1/pods', 401],
  ])(
    'With the configuration field anonymous (enabled, conditions[] of path), only ' +
      'requests to the listed paths are allowed as anonymous: %s is %d',
    async (asked, status) => {
      expect((await world.send(replica, { path: asked })).status).toBe(status);
    },
  );
});

describe('attacks on signed tokens', () => {
  const base64 = (value: unknown): string =>
    Buffer.from(JSON.stringify(value)).toString('base64url');
  const payload = (by: TokenIssuer | undefined): object => ({
    ...{ iss: of(by).url, aud: 'client', sub: 'jane', ...whole },
    ...{ iat: Math.floor(Date.now() / 1_000), exp: Math.floor(Date.now() / 1_000) + 600 },
  });
  const publicKey = (): string =>
    createPublicKey({ key: keys[0]?.jwk as never, format: 'jwk' })
      .export({ type: 'spki', format: 'pem' })
      .toString();

  test('alg confusion: HMAC with the public key as the secret', async () => {
    for (const secret of [publicKey(), JSON.stringify(keys[0]?.jwk), publicKey().trim()]) {
      for (const [alg, hash] of [
        ['HS256', 'sha256'],
        ['HS512', 'sha512'],
      ] as const) {
        const text = `${base64({ alg, kid: 'k-0' })}.${base64(payload(claims))}`;
        await refused(`${text}.${createHmac(hash, secret).update(text).digest('base64url')}`);
      }
    }
  });
  test.each(['none', 'None', 'NONE', 'nOnE', ''])(
    'alg %j, with and without a signature',
    async (alg) => {
      const text = `${base64({ alg, kid: 'k-0' })}.${base64(payload(claims))}`;
      const { 2: signature = '' } = (await sign(claims, whole)).split('.');
      for (const end of ['', signature]) await refused(`${text}.${end}`);
    },
  );
  test('another alg than that of the key in the header', async () => {
    const [, body = '', signature = ''] = (await sign(claims, whole)).split('.');
    for (const alg of ['RS256', 'ES384', 'PS256']) {
      await refused(`${base64({ alg, kid: 'k-0' })}.${body}.${signature}`);
    }
  });
  test(
    'issuer overlap: a key of one issuer signs ' + 'nothing of another, whatever its kid says',
    async () => {
      const [own, foreign] = [keys[0], keys[1]] as [IssuerKey, IssuerKey];
      expect(await nameOf(replica, { token: await sign(claims, whole, { key: own }) })).toBe(
        'a:jane',
      );
      for (const kid of ['k-0', 'k-1', false] as const) {
        await refused(await sign(claims, whole, { key: foreign, kid }));
      }
      for (const iss of [
        `${of(claims).url}/`,
        `${of(claims).url}/x`,
        of(claims).url.toUpperCase(),
      ]) {
        await refused(await sign(claims, { ...whole, iss }));
      }
    },
  );
  test.each([
    '../../../etc/passwd',
    '/dev/null',
    'k-0/../k-1',
    '..%2fk-0',
    "' OR 1=1",
    'k-0\u0000',
  ])('kid traversal: %j names no key', async (kid) => {
    const before = [...of(claims).hits.keys()];
    await refused(await sign(claims, whole, { kid, key: keys[1] as IssuerKey }));
    expect([...of(claims).hits.keys()]).toEqual(before);
  });
  test('addresses and keys in the header are not looked at (jku, x5u, jwk)', async () => {
    const [, body = '', signature = ''] = (
      await sign(claims, whole, { key: of(late).keys[0] as IssuerKey })
    ).split('.');
    const url = `${of(late).url}/keys`;
    for (const more of [{ jku: url }, { x5u: url }, { jwk: of(late).keys[0]?.jwk }]) {
      await refused(`${base64({ alg: 'RS256', kid: 'k-2', ...more })}.${body}.${signature}`);
    }
    expect(of(late).hits.size).toBe(0);
  });
});

describe('Configuration file changed', () => {
  const lastReload = async (status: string): Promise<number> => {
    const name =
      'apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds';
    const { text } = await replica.request('GET', '/metrics');
    return Number(
      new RegExp(`^${name}\\{.*status="${status}"\\} (\\S+)$`, 'm').exec(text)?.[1] ?? 0,
    );
  };

  test(
    'file change event → Reloaded, told by ' +
      'apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds',
    async () => {
      const before = Date.now() / 1_000;
      const token = await sign(late);
      await refused(token);
      replaceFile(path, fileOf([...usual(), minimal(of(late), 'late:')]));
      await until(
        () => nameOf(replica, { token }),
        (name) => name === 'late:jane',
      );
      expect(await lastReload('success')).toBeGreaterThanOrEqual(before - 1);
      replaceFile(path, fileOf(usual()));
      await until(
        () => nameOf(replica, { token }),
        (name) => name === 401,
      );
      expect(await nameOf(replica, { token: await sign(claims, whole) })).toBe('a:jane');
    },
  );

  describe('a file that breaks a rule is not used', () => {
    const rows = refusedRows();
    let told = '';
    beforeAll(async () => {
      replaceFile(path, fileOf(rows.map(([, , jwt]) => jwt)));
      const last = rows.at(-1)?.[1] ?? '';
      await until(
        () => Promise.resolve(replica.output),
        (text) => plain(text).includes(last),
      );
      told = plain(replica.output);
    });
    test.each(rows.filter(([, problem]) => problem !== ''))('%s', (_row, problem) => {
      expect(told).toContain(problem);
    });
    test.each<[row: string, file: () => string, problem: string]>([
      [
        'jwt: array of token authenticators, at most 64',
        () => fileOf(Array.from({ length: 65 }, (_, at) => valid(`https://n${String(at)}.tests`))),
        'jwt: Too many: 65: must have at most 64 items',
      ],
      [
        'anonymous: what it says is that of the start',
        () => fileOf(usual(), { anonymous: { enabled: true } }),
        'anonymous: Forbidden: changed from initial configuration file',
      ],
    ])('%s', async (_row, file, problem) => {
      replaceFile(path, file());
      await until(
        () => Promise.resolve(replica.output),
        (text) => plain(text).includes(problem),
      );
      expect(await lastReload('failure')).toBeGreaterThan(0);
    });
    test('the one before stays in force', async () => {
      expect(await nameOf(replica, { token: await sign(claims, whole) })).toBe('a:jane');
    });
  });
});

/** Of a line of the log, without its quotes' escapes. */
const plain = (text: string): string => text.replaceAll('\\', '');
