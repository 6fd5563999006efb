// Which tokens are ours: signatures are verified off the event loop, once; what was found is kept
// by the token's hash, for a time. Only tokens that name an issuer of ours cost a verification.
import { hash } from 'node:crypto';
import { compactVerify, decodeJwt, decodeProtectedHeader } from 'jose';
import type { JWTPayload } from 'jose';
import type { Clock } from '../../base/clock.ts';
import { ExpiringMap } from '../../base/expiring-map.ts';
import { limits } from '../../base/limits.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
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
  readonly #known: ExpiringMap<T>;
  /** Apart from the good ones, which no number of bad ones displaces. */
  readonly #refused: ExpiringMap<Refused>;
  /** Many requests with one new token wait for one verification. */
  readonly #running = new Map<string, Promise<T | Refused>>();
  readonly #keys: ReadonlyMap<string, TokenKey>;

  constructor(options: VerifiedTokensOptions<T>) {
    this.#options = options;
    const nowMs = (): number => options.clock.monotonicMs();
    this.#known = new ExpiringMap({ countMax: limits.verifiedTokensMax, nowMs });
    this.#refused = new ExpiringMap({ countMax: limits.refusedTokensMax, nowMs });
    this.#keys = new Map(options.keys.map((key) => [key.id, key]));
  }

  /** Nothing is said of times and audiences. Never rejects. */
  of(token: string): MaybePromise<T | Refused> {
    if (!isCompact(token)) return notOurs;
    const key = hash('sha256', token, 'base64');
    const known = this.#known.get(key) ?? this.#refused.get(key) ?? this.#running.get(key);
    if (known !== undefined) return known;
    const stated = this.#statedBy(token);
    if (stated === undefined) return notOurs;
    const verifying = this.#verify(key, token, stated).finally(() => this.#running.delete(key));
    this.#running.set(key, verifying);
    return verifying;
  }

  async #verify(key: string, token: string, stated: Stated): Promise<T | Refused> {
    const isGood = await this.#isSigned(token, stated);
    const found = isGood ? this.#options.read(stated.payload) : unsigned;
    if ('refused' in found) this.#refused.set(key, found, limits.refusedTokenMs);
    else this.#known.set(key, found, limits.verifiedTokenMs);
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
