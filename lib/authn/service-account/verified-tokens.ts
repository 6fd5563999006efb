// Which tokens are ours: signatures are verified off the event loop, once; what was found is kept
// by the token's hash, for a time. Only tokens that name an issuer of ours cost a verification.
import { compactVerify, decodeJwt, decodeProtectedHeader } from 'jose';
import type { JWTPayload } from 'jose';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { Credentials } from '../authenticator.ts';
import { tokenDigest } from '../token-digest.ts';
import { TokenVerdicts } from '../token-verdicts.ts';
import type { TokenKey } from './keys.ts';

/** Why a token is none of ours. */
export interface Refused {
  readonly refused: string;
}

export interface VerifiedTokensOptions<T extends object> {
  /** Whose tokens are looked at; a token that names another one costs no verification. */
  readonly issuers: ReadonlySet<string>;
  readonly keys: readonly TokenKey[];
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** What is kept of a token whose signature is good, or why it is refused all the same. */
  readonly read: (payload: JWTPayload) => T | Refused;
}

const notOurs: Refused = { refused: 'not a service-account token of this server' };

export class VerifiedTokens<T extends object> {
  readonly #options: VerifiedTokensOptions<T>;
  readonly #verdicts: TokenVerdicts<T | Refused>;
  readonly #keys: ReadonlyMap<string, TokenKey>;

  constructor(options: VerifiedTokensOptions<T>) {
    this.#options = options;
    this.#verdicts = new TokenVerdicts({
      goodCountMax: limits.verifiedTokensMax,
      badCountMax: limits.refusedTokensMax,
      nowMs: () => options.clock.monotonicMs(),
    });
    this.#keys = new Map(options.keys.map((key) => [key.id, key]));
  }

  /** Nothing is said of times and audiences. Never rejects. */
  of(token: string, credentials: Credentials): MaybePromise<T | Refused> {
    if (!isCompact(token)) return notOurs;
    const digest = tokenDigest(credentials, token);
    const known = this.#verdicts.get(digest);
    if (known !== undefined) return known;
    const stated = this.#statedBy(token);
    if (stated === undefined) {
      this.#verdicts.keepBad(digest, notOurs, limits.refusedTokenMs);
      return notOurs;
    }
    return this.#verdicts.judged(digest, () => this.#verify(digest, token, stated));
  }

  async #verify(digest: string, token: string, stated: Stated): Promise<T | Refused> {
    const isGood = await this.#isSigned(token, stated);
    const found = isGood ? this.#options.read(stated.payload) : unsigned;
    if ('refused' in found) this.#verdicts.keepBad(digest, found, limits.refusedTokenMs);
    else this.#verdicts.keepGood(digest, found, limits.verifiedTokenMs);
    return found;
  }

  async #isSigned(token: string, stated: Stated): Promise<boolean> {
    for (const { key, algorithm } of this.#candidates(stated)) {
      try {
        await compactVerify(token, key, { algorithms: [algorithm] });
        return true;
      } catch {
        continue; // signed by another key, or by none
      }
    }
    return false;
  }

  /** The key that the header names; all of them, where it names none that is known. */
  #candidates({ kid }: Stated): readonly TokenKey[] {
    const named = kid === undefined ? undefined : this.#keys.get(kid);
    return named === undefined ? this.#options.keys : [named];
  }

  /** undefined: no issuer of ours. */
  #statedBy(token: string): Stated | undefined {
    try {
      const payload = decodeJwt(token);
      if (!this.#options.issuers.has(payload.iss ?? '')) return undefined;
      return { payload, kid: decodeProtectedHeader(token).kid };
    } catch {
      return undefined; // not a JWT
    }
  }
}

/** What nothing has proved yet. */
interface Stated {
  readonly payload: JWTPayload;
  readonly kid: string | undefined;
}

const unsigned: Refused = { refused: 'no key of this server has signed the token' };

/** Three parts: tokens of other sorts are told apart without work. */
function isCompact(token: string): boolean {
  const first = token.indexOf('.');
  const second = first < 0 ? first : token.indexOf('.', first + 1);
  return second > 0 && !token.includes('.', second + 1);
}
