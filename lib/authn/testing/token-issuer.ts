// An issuer of tokens for tests: a small HTTPS server with a discovery document and keys that the
// test changes, and tokens signed by them.
import { once } from 'node:events';
import https from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import type { CryptoKey, JWK } from 'jose';
import { createTestCa } from '../../base/testing/certificates.ts';
import type { TestPair } from '../../base/testing/certificates.ts';

export interface IssuerKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly jwk: JWK;
}

let made: Promise<{ readonly ca: string; readonly pair: TestPair }> | undefined;

/** One CA and serving pair for all issuers of a test file. */
export function issuerTls(): Promise<{ readonly ca: string; readonly pair: TestPair }> {
  made ??= (async () => {
    const ca = await createTestCa('issuer-ca');
    return { ca: ca.cert, pair: await ca.issue({ use: 'serverAuth', commonName: 'issuer' }) };
  })();
  return made;
}

export async function issuerKey(kid: string, alg = 'ES256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

export interface SignOptions {
  readonly key?: IssuerKey;
  /** `false`: the token names no key. */
  readonly kid?: string | false;
  readonly alg?: string;
}

type Answering = (request: IncomingMessage, response: ServerResponse) => void;

export class TokenIssuer {
  readonly url: string;
  readonly ca: string;
  /** Those that are served. */
  keys: readonly IssuerKey[];
  /** Requests by path. */
  readonly hits = new Map<string, number>();
  /** Answers by path, in place of the usual ones. */
  readonly answers = new Map<string, Answering>();
  readonly #server: https.Server;

  private constructor(server: https.Server, url: string, ca: string, keys: readonly IssuerKey[]) {
    this.#server = server;
    this.url = url;
    this.ca = ca;
    this.keys = keys;
  }

  /** `path`: that of the issuer's URL. */
  static async start(keys: readonly IssuerKey[], path = ''): Promise<TokenIssuer> {
    const { ca, pair } = await issuerTls();
    const server = https.createServer(pair);
    server.keepAliveTimeout = 0; // a test may take its time between two calls
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const issuer = new TokenIssuer(server, `https://127.0.0.1:${String(port)}${path}`, ca, keys);
    server.on('request', (request, response) => issuer.#answer(request, response));
    return issuer;
  }

  get document(): Record<string, unknown> {
    return { issuer: this.url, jwks_uri: `${this.url}/keys?all=1` };
  }

  /** What is undefined is left out. */
  async sign(claims: Record<string, unknown> = {}, options: SignOptions = {}): Promise<string> {
    const { key = this.keys[0], kid = key?.kid ?? '', alg = key?.alg ?? '' } = options;
    if (key === undefined) throw new Error('an issuer without keys signs nothing');
    const now = Math.floor(Date.now() / 1_000);
    const usual = { iss: this.url, aud: 'client', sub: 'jane', iat: now, exp: now + 600 };
    const payload = JSON.parse(JSON.stringify({ ...usual, ...claims })) as Record<string, unknown>;
    const header = { alg, ...(kid === false ? {} : { kid }) };
    return new SignJWT(payload).setProtectedHeader(header).sign(key.privateKey);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? '/', this.url);
    this.hits.set(pathname, (this.hits.get(pathname) ?? 0) + 1);
    const own = this.answers.get(pathname);
    const base = new URL(this.url).pathname.replace(/\/$/, '');
    if (own !== undefined) own(request, response);
    else if (pathname === `${base}/.well-known/openid-configuration`) {
      sendJson(response, this.document);
    } else if (pathname === `${base}/keys`) {
      sendJson(response, { keys: this.keys.map(({ jwk }) => jwk) });
    } else response.writeHead(404).end();
  }
}

export function sendJson(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}
