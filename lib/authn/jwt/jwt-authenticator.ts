// Tokens of several issuers. What a token says of its issuer chooses, before anything is verified,
// who looks at it; all else counts once its signature is verified. Verdicts are kept for a short
// time, by digest.
import { createHash, hash } from 'node:crypto';
import { abortable } from '../../base/abort.ts';
import type { WaitEnd } from '../../base/abort.ts';
import { ExpiringMap } from '../../base/expiring-map.ts';
import { limits } from '../../base/limits.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { Authentication, Authenticator, Credentials } from '../authenticator.ts';
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
  readonly #accepted: ExpiringMap<Verdict>;
  /** Apart, so that a flood of bad tokens pushes out no good one. */
  readonly #rejected: ExpiringMap<Verdict>;
  readonly #verifying = new Map<string, Promise<Authentication>>();

  constructor(issuers: readonly JwtIssuer[], parts: JwtParts) {
    this.issuers = issuers;
    this.#byUrl = new Map(issuers.map((one) => [one.compiled.configuration.issuer.url, one]));
    this.#parts = parts;
    const nowMs = (): number => parts.clock.nowMs();
    this.#accepted = new ExpiringMap({ countMax: limits.jwtAcceptedMax, nowMs });
    this.#rejected = new ExpiringMap({ countMax: limits.jwtRejectedMax, nowMs });
  }

  authenticate({ token }: Credentials, end: WaitEnd): MaybePromise<Authentication> {
    if (token === undefined || this.issuers.length === 0 || !looksLikeJwt(token)) return absent;
    const key = hash('sha256', token, 'base64');
    const known = this.#accepted.get(key) ?? this.#rejected.get(key);
    if (known !== undefined && known.generation === known.issuer.keys.generation) {
      return known.answer;
    }
    const issuer = this.#byUrl.get(claimedIssuer(token) ?? '');
    if (issuer === undefined) return absent;
    let verifying = this.#verifying.get(key);
    if (verifying === undefined) {
      verifying = this.#verify(token, key, issuer).finally(() => this.#verifying.delete(key));
      this.#verifying.set(key, verifying);
    }
    return abortable(verifying, end);
  }

  async #verify(token: string, key: string, issuer: JwtIssuer): Promise<Authentication> {
    const fromMs = performance.now();
    const { keys } = issuer;
    const { generation } = keys;
    let result: 'success' | 'failure' = 'failure';
    try {
      const answer = await this.#accept(token, key, issuer);
      result = 'success';
      return answer;
    } catch (error) {
      const reason = `oidc: ${(error as Error).message}`;
      const answer: Authentication = { outcome: 'rejected', reason };
      // Without keys nothing was judged.
      const ttlMs = keys.current === undefined ? 0 : limits.jwtRejectedTtlMs;
      this.#rejected.set(key, { answer, issuer, generation }, ttlMs);
      return answer;
    } finally {
      this.#parts.onVerified(issuer.hash, result, (performance.now() - fromMs) / 1_000);
    }
  }

  /** @throws Error that says why the token gives no user. */
  async #accept(token: string, key: string, issuer: JwtIssuer): Promise<Authentication> {
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
    this.#accepted.set(key, { answer, issuer, generation }, ttlMs);
    return answer;
  }
}

/** Three parts, of which the first is a JSON object: `{"` in base64url. */
function looksLikeJwt(token: string): boolean {
  if (token.length > limits.jwtLengthMax || !token.startsWith('ey')) return false;
  const first = token.indexOf('.');
  const second = token.indexOf('.', first + 1);
  return first > 0 && second > first && !token.includes('.', second + 1);
}
