// Users that others vouch for, by the specification of authentication, row by row: OpenID Connect
// by flags, the token webhook, and reviews of tokens.
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { issuerKey, TokenIssuer } from '../../lib/authn/testing/token-issuer.ts';
import type { SignOptions } from '../../lib/authn/testing/token-issuer.ts';
import { createTestCa } from '../../lib/base/testing/certificates.ts';
import { signingAlgorithms } from '../../lib/config/authentication-flags.ts';
import { adminToken, TestCluster } from '../harness.ts';
import type { Replica } from '../harness.ts';
import * as world from './authentication-world.ts';
import type { Who } from './authentication-world.ts';

const { authentication, nameOf, send, unauthorized, until, whoIs } = world;
const all = 'system:authenticated';
/** Beside RS256. */
const otherAlgorithms = signingAlgorithms.filter((alg) => alg !== 'RS256');

interface Call {
  readonly method: string;
  readonly contentType: string;
  /** The common name of the certificate of who calls. */
  readonly client: string;
  readonly body: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly spec: { readonly token: string; readonly audiences?: readonly string[] };
  };
}
let calls: Call[] = [];
const callsFor = (token: string): Call[] => calls.filter(({ body }) => body.spec.token === token);

const full = {
  ...{ username: 'full', uid: 'u-1', groups: ['g1', 'g2'] },
  extra: { 'example.com/k': ['v1', 'v2'] },
};
const yes = { authenticated: true, user: { username: 'bare' } };
/** By token; others are not authenticated. */
const verdicts: Readonly<Record<string, object>> = {
  full: { authenticated: true, user: full, error: 'ignored when true' },
  ...{ bare: yes, kept: yes, asked: yes, 'v-older': yes, 'v-newer': yes },
  vault: { ...yes, audiences: ['vault'] },
  nameless: { authenticated: true, user: { uid: 'u' } },
  because: { authenticated: false, error: 'the token was stolen' },
};

let cluster: TestCluster;
/** With what flags have by default, and with as much as possible set. */
let [usual, set]: Replica[] = [];
let hook: Server;
let issuer: TokenIssuer;

const of = (replica: Replica | undefined): Replica => {
  if (replica === undefined) throw new Error('the replica was not started');
  return replica;
};

async function startHook(folder: string): Promise<string> {
  const [ca, clients] = await Promise.all([createTestCa('hook-ca'), createTestCa('hook-clients')]);
  const serving = await ca.issue({ use: 'serverAuth', commonName: 'hook' });
  const client = await clients.issue({ use: 'clientAuth', commonName: 'api-server' });
  const tls = { ...serving, ca: clients.cert, requestCert: true, rejectUnauthorized: true };
  hook = createServer(tls, (request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (part: string) => (text += part));
    request.on('end', () => {
      const body = JSON.parse(text) as Call['body'];
      const { CN } = (request.socket as TLSSocket).getPeerCertificate().subject;
      const contentType = request.headers['content-type'] ?? '';
      calls.push({ method: request.method ?? '', contentType, client: String(CN), body });
      const { token } = body.spec;
      const version = token === 'v-older' ? 'v1beta1' : 'v1';
      const apiVersion = token.startsWith('v-')
        ? `authentication.svc.io/${version}`
        : body.apiVersion;
      const status = verdicts[token] ?? { authenticated: false };
      response.end(JSON.stringify({ apiVersion, kind: 'TokenReview', status }));
    });
  });
  hook.listen(0, '127.0.0.1');
  await once(hook, 'listening');
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const server = `https://127.0.0.1:${String((hook.address() as AddressInfo).port)}/review`;
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'hook', user: 'me' } }],
    clusters: [
      { name: 'hook', cluster: { server, 'certificate-authority-data': base64(ca.cert) } },
    ],
    users: [
      {
        name: 'me',
        user: {
          'client-certificate-data': base64(client.cert),
          'client-key-data': base64(client.key),
        },
      },
    ],
  };
  const path = join(folder, 'hook.kubeconfig');
  writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
  return path;
}

beforeAll(async () => {
  issuer = await TokenIssuer.start(
    await Promise.all(signingAlgorithms.map((alg) => issuerKey(alg, alg))),
  );
  let config: Promise<string> | undefined;
  cluster = await TestCluster.start({
    naming: 'svc',
    replicaCount: 2,
    serverFlags: ['--api-audiences=api', `--oidc-issuer-url=${issuer.url}`],
    replicaFlags: async (index, folder) => {
      config ??= startHook(folder);
      const ca = join(folder, 'issuer.crt');
      writeFileSync(ca, issuer.ca);
      const both = [
        `--authentication-token-webhook-config-file=${await config}`,
        `--oidc-ca-file=${ca}`,
      ];
      return [...both, ...(index === 0 ? usualFlags : setFlags)];
    },
  });
  [usual, set] = cluster.replicas as [Replica, Replica];
  for (const [replica, token] of [
    [usual, await usualToken()],
    [set, await setToken()],
  ] as const) {
    await until(
      () => nameOf(replica, { token }),
      (name) => name !== 401,
    );
  }
});
afterAll(async () => {
  await cluster.stop();
  hook.closeAllConnections();
  hook.close();
  await issuer[Symbol.asyncDispose]();
});

const usualFlags = [
  ...['--oidc-client-id=client', '--oidc-groups-claim=groups', '--oidc-groups-prefix=o:'],
  ...['--oidc-required-claim=hd=a.b', '--oidc-required-claim=tier=1'],
  '--anonymous-auth=false',
];
const setFlags = [
  ...['--oidc-client-id=second', '--oidc-username-claim=email', '--oidc-username-prefix=u:'],
  `--oidc-signing-algs=${otherAlgorithms.join(',')}`,
  ...['--authentication-token-webhook-version=v1', '--authentication-token-webhook-cache-ttl=0s'],
];
const algKey = (alg: string): SignOptions => {
  const key = issuer.keys.find(({ kid }) => kid === alg);
  if (key === undefined) throw new Error(`there is no key for ${alg}`);
  return { key };
};
const usualClaims = { hd: 'a.b', tier: '1', groups: ['dev', 'ops'] };
const usualToken = (more: object = {}, alg = 'RS256'): Promise<string> =>
  issuer.sign({ ...usualClaims, ...more }, algKey(alg));
const setToken = (more: object = {}, alg = 'ES256'): Promise<string> =>
  issuer.sign({ aud: 'second', email: 'jane@a.b', email_verified: true, ...more }, algKey(alg));
const who = (replica: Replica | undefined, token: string): Promise<Who> =>
  whoIs(of(replica), { token });

describe('OpenID Connect flags', () => {
  test(
    '--oidc-issuer-url: Required. https URL used for discovery of signing keys; ' +
      '--oidc-ca-file: CA of the provider web certificate',
    () => {
      expect([...issuer.hits.keys()]).toEqual(['/.well-known/openid-configuration', '/keys']);
    },
  );
  test(
    '--oidc-username-claim: Default sub; --oidc-username-prefix: Default <issuer URL># ' +
      'when the username claim is not email; --oidc-groups-claim: Claim with a string ' +
      'array; --oidc-groups-prefix: Prefix for group names',
    async () => {
      expect(await who(usual, await usualToken())).toEqual({
        ...{ username: `${issuer.url}#jane`, groups: ['o:dev', 'o:ops', all] },
      });
    },
  );
  test('--oidc-username-prefix: Prefix added to usernames', async () => {
    expect(await who(set, await setToken())).toEqual({ username: 'u:jane@a.b', groups: [all] });
  });
  test.each([
    ['--oidc-client-id: Required. All tokens must be issued to it', { aud: 'second' }],
    ['--oidc-required-claim: key=value. Token must carry it', { hd: 'x' }],
    ['--oidc-required-claim: repeatable', { tier: undefined }],
    ['Checks: expiry', { exp: Math.floor(Date.now() / 1_000) - 10 }],
    ['--oidc-issuer-url: another issuer', { iss: 'https://none.tests' }],
    ['The id_token (not the access token) is the bearer token', { aud: ['https://api.tests'] }],
  ])('%s, others are 401', async (_row, claims) => {
    expect(await who(usual, await usualToken(claims))).toEqual(unauthorized);
  });
  test.each([false, 'true', null])('an email whose email_verified is %j is 401', async (given) => {
    expect(await who(set, await setToken({ email_verified: given }))).toEqual(unauthorized);
  });
  test.each(otherAlgorithms)('--oidc-signing-algs: Default RS256. Also %s', async (alg) => {
    expect(await nameOf(of(set), { token: await setToken({}, alg) })).toBe('u:jane@a.b');
    expect(await who(usual, await usualToken({}, alg))).toEqual(unauthorized);
  });
  test(
    'No state is kept between requests. Tokens cannot be revoked: the provider is not ' +
      'asked of one',
    async () => {
      const [token, before] = [await usualToken(), [...issuer.hits]];
      for (let turn = 0; turn < 3; turn++)
        expect(await who(usual, token)).toHaveProperty('username');
      expect([...issuer.hits]).toEqual(before);
    },
  );
  test('--oidc-signing-algs: RS256 is refused where it is not listed', async () => {
    expect(await who(set, await setToken({}, 'RS256'))).toEqual(unauthorized);
  });
});

describe('Token webhook', () => {
  test(
    '--authentication-token-webhook-config-file: a cluster entry for the remote service ' +
      '(URL, CA), a user entry for the client certificate and key of the API server; POST ' +
      'of a TokenReview with spec.token (Content-Type JSON)',
    async () => {
      await who(usual, 'bare');
      expect(callsFor('bare')[0]).toMatchObject({
        ...{ method: 'POST', client: 'api-server' },
        contentType: expect.stringMatching(/^application\/json/),
        body: { kind: 'TokenReview', spec: { token: 'bare', audiences: ['api'] } },
      });
    },
  );
  test('--authentication-token-webhook-version: v1beta1 (default) or v1', async () => {
    await Promise.all([who(usual, 'full'), who(set, 'full')]);
    const versions = callsFor('full').map(({ body }) => body.apiVersion);
    expect(versions.sort()).toEqual(['v1', 'v1beta1'].map((one) => `authentication.svc.io/${one}`));
  });
  test(
    'The remote service must answer with the same ' + 'TokenReview version as the request',
    async () => {
      expect(await nameOf(of(usual), { token: 'v-older' })).toBe('bare');
      expect(await who(usual, 'v-newer')).toEqual(unauthorized);
      expect(await nameOf(of(set), { token: 'v-newer' })).toBe('bare');
      expect(await who(set, 'v-older')).toEqual(unauthorized);
    },
  );
  test(
    '--authentication-token-webhook-cache-ttl, Token webhook decision cache: Default 2 ' +
      'minutes',
    async () => {
      for (let turn = 0; turn < 3; turn++) {
        expect(await nameOf(of(usual), { token: 'kept' })).toBe('bare');
        expect(await nameOf(of(set), { token: 'asked' })).toBe('bare');
      }
      expect([callsFor('kept').length, callsFor('asked').length]).toEqual([1, 3]);
      const flags = await of(usual).request('GET', '/flagz', { headers: { accept: 'text/plain' } });
      expect(flags.text).toMatch(/authentication-token-webhook-cache-ttl[=:]\s*2m0s/);
    },
  );
  test('Success: authenticated true and user', async () => {
    expect(await who(usual, 'full')).toEqual({ ...full, groups: [...full.groups, all] });
  });
  test(
    'Failure: authenticated false, optional error; Errors: Failed token-webhook ' +
      'authentication without an error text is 401',
    async () => {
      expect(await who(usual, 'unknown')).toEqual(unauthorized);
      expect(await who(usual, 'because')).toMatchObject({ status: 401 });
    },
  );
  test('other methods come first: their tokens are not sent to it', async () => {
    calls = [];
    expect(await nameOf(of(usual), { token: adminToken })).toBe('e2e-admin');
    expect(await nameOf(of(usual), { token: await usualToken() })).toBe(`${issuer.url}#jane`);
    expect(calls).toEqual([]);
  });
});

describe('TokenReview', () => {
  interface Review {
    readonly kind?: string;
    readonly apiVersion?: string;
    readonly status?: {
      readonly authenticated?: boolean;
      readonly user?: object;
      readonly audiences?: readonly string[];
      readonly error?: string;
    };
  }
  const reviewed = async (spec: object): Promise<Review> => {
    const reply = await of(usual).request('POST', `${authentication}/tokenreviews`, {
      body: { apiVersion: 'authentication.svc.io/v1', kind: 'TokenReview', spec },
    });
    expect([reply.status, reply.text]).toEqual([201, reply.text]);
    return reply.json<Review>();
  };

  test('kind, apiVersion: TokenReview, version as requested', async () => {
    expect(await reviewed({ token: 'bare' })).toMatchObject({
      ...{ kind: 'TokenReview', apiVersion: 'authentication.svc.io/v1' },
    });
  });
  test('spec.token: opaque bearer token', async () => {
    for (const [token, username] of [
      ['bare', 'bare'],
      [adminToken, 'e2e-admin'],
      [await usualToken(), `${issuer.url}#jane`],
    ] as const) {
      expect((await reviewed({ token })).status).toMatchObject({
        ...{ authenticated: true, user: { username } },
      });
    }
  });
  test.each<[row: string, token: string, user: object]>([
    ['status.user.username: required on success', 'bare', { username: 'bare', groups: [all] }],
    [
      'status.user.uid, status.user.groups, status.user.extra: optional',
      'full',
      { ...full, groups: [...full.groups, all] },
    ],
  ])('status.authenticated: boolean; %s', async (_row, token, user) => {
    expect((await reviewed({ token })).status).toMatchObject({ authenticated: true, user });
  });
  test('status.user.username: required on success: without one it is none', async () => {
    expect((await reviewed({ token: 'nameless' })).status?.authenticated).not.toBe(true);
    expect(await who(usual, 'nameless')).toEqual(unauthorized);
  });
  test(
    'spec.audiences: optional. Audience-aware authenticators verify the token targets ' +
      'one of them',
    async () => {
      const audiences = ['vault', 'other'];
      expect((await reviewed({ token: 'vault', audiences })).status).toMatchObject({
        ...{ authenticated: true, audiences: ['vault'] },
      });
      expect(
        (await reviewed({ token: 'vault', audiences: ['none'] })).status?.authenticated,
      ).not.toBe(true);
      expect(callsFor('vault').map(({ body }) => body.spec.audiences)).toContainEqual(audiences);
    },
  );
  test(
    'status.audiences: optional subset of spec.audiences. If omitted the token is valid ' +
      'for the API server itself',
    async () => {
      expect((await reviewed({ token: 'bare', audiences: ['api', 'x'] })).status).toMatchObject({
        ...{ authenticated: true, audiences: ['api'] },
      });
      expect((await reviewed({ token: 'bare', audiences: ['x'] })).status?.authenticated).not.toBe(
        true,
      );
      expect(await who(usual, 'vault')).toEqual(unauthorized);
    },
  );
  test('status.error: optional reason when authenticated is false. Ignored when true', async () => {
    const refused = (await reviewed({ token: 'because' })).status;
    expect(refused?.authenticated ?? false).toBe(false);
    expect(refused?.error).toContain('the token was stolen');
    expect((await reviewed({ token: 'full' })).status?.error ?? '').toBe('');
  });
});

describe('Review endpoints', () => {
  test(
    'POST /apis/authentication.svc.io/v1/selfsubjectreviews: SelfSubjectReview without ' +
      'fields → SelfSubjectReview with status.userInfo; All authenticated users may create ' +
      'it (system:basic-user)',
    async () => {
      const { status, text } = await send(of(set), {
        ...{ token: 'full', method: 'POST', path: world.reviewsOfSelf },
        body: { apiVersion: 'authentication.svc.io/v1', kind: 'SelfSubjectReview' },
      });
      expect(status).toBe(201);
      expect(JSON.parse(text)).toMatchObject({
        ...{ kind: 'SelfSubjectReview', apiVersion: 'authentication.svc.io/v1' },
        status: { userInfo: { ...full, groups: [...full.groups, all] } },
      });
    },
  );
});

test(
  'Anonymous requests: Flag --anonymous-auth (true or false): false makes requests ' +
    'without credentials 401',
  async () => {
    expect(await whoIs(of(usual), {})).toEqual(unauthorized);
    expect((await send(of(usual), { path: '/livez' })).status).toBe(401);
    expect((await send(of(set), { path: '/livez' })).status).toBe(200);
  },
);
