// The whole way with a real provider: somebody signs in there, and the ID token that comes out of
// it is who they are here; its keys change meanwhile.
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import https from 'node:https';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeProtectedHeader, exportJWK, generateKeyPair } from 'jose';
import type { JWK } from 'jose';
import { signingAlgorithms } from '../../config/authentication-flags.ts';
import { ask, jwtParts, testContext, testJwt } from '../testing/jwt-parts.ts';
import { issuerTls } from '../testing/token-issuer.ts';
import { oidcConfiguration } from './oidc-flags.ts';
import { ReloadingJwt } from './reloading-jwt.ts';
import { compileJwt } from './validate.ts';
import type { JwtConfiguration } from './configuration.ts';

/** As much of the package as is used here; it has no types of its own. */
interface Provider {
  callback(): RequestListener;
  interactionFinished(
    request: IncomingMessage,
    response: ServerResponse,
    result: { readonly login: { readonly accountId: string } },
  ): Promise<void>;
}
interface Context {
  readonly oidc: {
    readonly provider: { readonly Grant: new (of: object) => Grant };
    readonly client: { readonly clientId: string };
    readonly session: { readonly accountId: string };
  };
}
interface Grant {
  addOIDCScope(scope: string): void;
  save(): Promise<string>;
}
type ProviderClass = new (issuer: string, configuration: object) => Provider;

const callbackUrl = 'https://client.tests/callback';
const client = {
  client_id: 'kubectl',
  redirect_uris: [callbackUrl],
  response_types: ['id_token'],
  grant_types: ['implicit'],
  token_endpoint_auth_method: 'none',
};

let providerOf: ProviderClass;
let provider: Provider;
let server: https.Server;
let url: string;
let ca: string;

beforeAll(async () => {
  jest.spyOn(console, 'warn').mockImplementation(() => undefined); // it keeps its data in memory
  const packages = await Promise.all(['oidc-provider'].map((name) => import(name)));
  providerOf = (packages[0] as { readonly default: ProviderClass }).default;
  const tls = await issuerTls();
  ({ ca } = tls);
  server = https.createServer(tls.pair, (request, response) => {
    if (request.url?.startsWith('/interaction/') !== true) {
      provider.callback()(request, response);
      return;
    }
    // Whoever is asked to sign in is jane.
    void provider.interactionFinished(request, response, { login: { accountId: 'jane' } });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `https://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function startWith(kid: string): Promise<void> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const key: JWK = { ...(await exportJWK(privateKey)), kid, alg: 'RS256', use: 'sig' };
  provider = new providerOf(url, {
    clients: [client],
    jwks: { keys: [key] },
    cookies: { keys: ['cookie-secret'] },
    ttl: { Interaction: 60, Grant: 60, IdToken: 60, Session: 60 },
    features: { devInteractions: { enabled: false } },
    conformIdTokenClaims: false,
    claims: { openid: ['sub', 'groups'] },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, groups: ['dev', 'ops'] }),
    }),
    async loadExistingGrant({ oidc }: Context) {
      const { clientId } = oidc.client;
      const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid');
      await grant.save();
      return grant;
    },
  });
}

/** A browser: follows redirects with its cookies until the client is called back. */
async function signIn(): Promise<string> {
  const cookies = new Map<string, string>();
  const query = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: callbackUrl,
    response_type: 'id_token',
    scope: 'openid',
    nonce: 'n-1',
  });
  let at = new URL(`${url}/auth?${query.toString()}`);
  for (let hops = 0; hops < 10; hops++) {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const request = https.get(at, { ca, agent: false, headers: { cookie } });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    for (const line of response.headers['set-cookie'] ?? []) {
      const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s, 2);
      cookies.set(name, value);
    }
    const { location } = response.headers;
    if (location === undefined) throw new Error(`no redirect: ${String(response.statusCode)}`);
    at = new URL(location, at);
    if (at.href.startsWith(callbackUrl)) break;
  }
  const token = new URLSearchParams(at.hash.slice(1)).get('id_token');
  if (token === null) throw new Error(`no token: ${at.href}`);
  return token;
}

async function opened(configuration: JwtConfiguration, algorithms: readonly string[]) {
  const jwt = new ReloadingJwt([compileJwt(configuration, testContext())], algorithms, jwtParts());
  await Promise.all(jwt.issuers.map(({ keys }) => keys.ready));
  return jwt;
}

test('The id_token of the provider response is the bearer token; keys may be rotated', async () => {
  await startWith('key-1');
  const token = await signIn();
  expect(decodeProtectedHeader(token)).toMatchObject({ alg: 'RS256', kid: 'key-1' });
  const byFlags = await opened(
    oidcConfiguration(
      {
        'oidc-issuer-url': url,
        'oidc-client-id': client.client_id,
        'oidc-username-claim': 'sub',
        'oidc-username-prefix': '',
        'oidc-groups-claim': 'groups',
        'oidc-groups-prefix': 'oidc:',
        'oidc-required-claim': new Map([['nonce', 'n-1']]),
      },
      ca,
    ),
    ['RS256'],
  );
  expect(await ask(byFlags, token)).toEqual({
    outcome: 'accepted',
    user: { name: `${url}#jane`, uid: '', groups: ['oidc:dev', 'oidc:ops'], extra: {} },
  });
  const groups = {
    claim: '',
    prefix: undefined,
    expression: "dyn(claims.groups).map(g, 'p/' + g)",
  };
  const byFile = await opened(
    testJwt({
      issuer: { url, certificateAuthority: ca, audiences: [client.client_id] },
      claimMappings: { groups },
    }),
    signingAlgorithms,
  );
  const jane = { name: 'a:jane', uid: '', groups: ['p/dev', 'p/ops'], extra: {} };
  expect(await ask(byFile, token)).toEqual({ outcome: 'accepted', user: jane });

  await startWith('key-2');
  const newer = await signIn();
  expect(decodeProtectedHeader(newer)).toMatchObject({ kid: 'key-2' });
  expect(await ask(byFile, newer)).toEqual({ outcome: 'accepted', user: jane });
  expect(await ask(byFile, token)).toMatchObject({ outcome: 'rejected' });
  byFlags.close();
  byFile.close();
});
