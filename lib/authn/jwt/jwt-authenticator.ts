// Tokens of several issuers. What a token says of its issuer chooses, before anything is verified,
// who looks at it; all else counts once its signature is verified. Verdicts are kept for a short
// time.
import { createHash } from 'node:crypto';
import { abortable } from '../../base/abort.ts';
import type { WaitEnd } from '../../base/abort.ts';
import { limits } from '../../base/limits.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { Authentication, Authenticator, Credentials } from '../authenticator.ts';
import { tokenDigest } from '../token-digest.ts';
import { TokenVerdicts } from '../token-verdicts.ts';
import { claimedIssuer } from './claimed-issuer.ts';
import { userOf } from './claims.ts';
import { DistributedClaims } from './distributed-claims.ts';
import { IssuerClient } from './issuer-client.ts';
import { IssuerKeys } from './issuer-keys.ts';
import type { IssuerParts } from './issuer-keys.ts';
import type { CompiledJwt } from './validate.ts';
import { verifyToken } from './verify.ts';

/** Told of each token that is verified, not of those whose verdict is known. */
export type OnVerified = (
  issuerHash: string,
  result: 'success' | 'failure',
  seconds: number,
) => void;

export interface JwtParts extends IssuerParts {
  readonly onVerified: OnVerified;
}

/** One issuer with its keys and what its claims mean. */
export class JwtIssuer {
  readonly compiled: CompiledJwt;
  readonly algorithms: readonly string[];
  readonly keys: IssuerKeys;
  /** Where groups may come from besides the token; undefined: groups are no claim. */
  readonly distributed: DistributedClaims | undefined;
  /** `sha256:…` of its URL. */
  readonly hash: string;
  readonly #client: IssuerClient;

  constructor(compiled: CompiledJwt, algorithms: readonly string[], parts: IssuerParts) {
    const { issuer } = compiled.configuration;
    this.compiled = compiled;
    this.algorithms = algorithms;
    const client = new IssuerClient(issuer.certificateAuthority, parts);
    this.#client = client;
    this.keys = new IssuerKeys(issuer, client, parts);
    const { claim } = compiled.configuration.claimMappings.groups;
    const { keys } = this;
    this.distributed =
      claim === ''
        ? undefined
        : new DistributedClaims(issuer, claim, { client, keys, algorithms, parts });
    this.hash = `sha256:${createHash('sha256').update(issuer.url).digest('hex')}`;
  }

  /** Reads no more; what is being read, and tokens that are being verified, may end. */
  close(): void {
    this.keys.close();
    this.distributed?.close();
    this.#client.close();
  }
}

interface Verdict {
  readonly answer: Authentication;
  readonly issuer: JwtIssuer;
  /** Of the issuer's keys. */
  readonly generation: number;
}

const absent: Authentication = { outcome: 'absent' };

export class JwtAuthenticator implements Authenticator {
  readonly name = 'jwt';
  readonly issuers: readonly JwtIssuer[];
  readonly #byUrl: ReadonlyMap<string, JwtIssuer>;
  readonly #parts: JwtParts;
  readonly #verdicts: TokenVerdicts<Verdict>;

  constructor(issuers: readonly JwtIssuer[], parts: JwtParts) {
    this.issuers = issuers;
    this.#byUrl = new Map(issuers.map((one) => [one.compiled.configuration.issuer.url, one]));
    this.#parts = parts;
    this.#verdicts = new TokenVerdicts({
      goodCountMax: limits.jwtAcceptedMax,
      badCountMax: limits.jwtRejectedMax,
      nowMs: () => parts.clock.nowMs(),
    });
  }

  authenticate(credentials: Credentials, end: WaitEnd): MaybePromise<Authentication> {
    const { token } = credentials;
    if (token === undefined || this.issuers.length === 0 || !looksLikeJwt(token)) return absent;
    const digest = tokenDigest(credentials, token);
    const known = this.#verdicts.get(digest);
    if (known !== undefined && known.generation === known.issuer.keys.generation) {
      return known.answer;
    }
    const issuer = this.#byUrl.get(claimedIssuer(token) ?? '');
    if (issuer === undefined) return absent;
    const verdict = this.#verdicts.judged(digest, () => this.#verify(token, digest, issuer));
    return abortable(verdict, end).then(({ answer }) => answer);
  }

  async #verify(token: string, digest: string, issuer: JwtIssuer): Promise<Verdict> {
    const fromMs = performance.now();
    const { keys } = issuer;
    const { generation } = keys;
    let result: 'success' | 'failure' = 'failure';
    try {
      const verdict = await this.#accept(token, digest, issuer);
      result = 'success';
      return verdict;
    } catch (error) {
      const reason = `oidc: ${(error as Error).message}`;
      const answer: Authentication = { outcome: 'rejected', reason };
      const verdict = { answer, issuer, generation };
      // Without keys nothing was judged.
      const ttlMs = keys.current === undefined ? 0 : limits.jwtRejectedTtlMs;
      this.#verdicts.keepBad(digest, verdict, ttlMs);
      return verdict;
    } finally {
      this.#parts.onVerified(issuer.hash, result, (performance.now() - fromMs) / 1_000);
    }
  }

  /** @throws Error that says why the token gives no user. */
  async #accept(token: string, digest: string, issuer: JwtIssuer): Promise<Verdict> {
    const { compiled, algorithms, keys } = issuer;
    const { url, audiences } = compiled.configuration.issuer;
    const { clock } = this.#parts;
    const rules = { issuer: url, audiences, algorithms };
    const nowMs = clock.nowMs();
    const { payload, generation } = await verifyToken(token, rules, { keys, nowMs });
    const claims = (await issuer.distributed?.expand(payload)) ?? payload;
    const answer: Authentication = { outcome: 'accepted', user: userOf(compiled, claims) };
    const leftMs = (payload.exp ?? 0) * 1_000 - clock.nowMs();
    const ttlMs = Math.min(leftMs, limits.jwtAcceptedTtlMs);
    const verdict = { answer, issuer, generation };
    this.#verdicts.keepGood(digest, verdict, ttlMs);
    return verdict;
  }
}

/** Three parts, of which the first is a JSON object: `{"` in base64url. */
function looksLikeJwt(token: string): boolean {
  if (token.length > limits.jwtLengthMax || !token.startsWith('ey')) return false;
  const first = token.indexOf('.');
  const second = token.indexOf('.', first + 1);
  return first > 0 && second > first && !token.includes('.', second + 1);
}
