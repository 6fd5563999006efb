// An authenticator over somebody who is dear to ask about tokens: answers are kept for a time, and
// who asks about the same token at once waits for one answer.
import { randomBytes } from 'node:crypto';
import { abortable } from '../../base/abort.ts';
import type { WaitEnd } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import type { MaybePromise } from '../../base/maybe-promise.ts';
import type { User } from '../../base/user.ts';
import type { Authentication, Authenticator, Credentials } from '../authenticator.ts';
import { digestOf } from '../token-digest.ts';
import { TokenVerdicts } from '../token-verdicts.ts';

export type TokenVerdict =
  | { readonly user: User; readonly audiences: readonly string[] }
  /** `isLasting`: it is the token's fault, and will be the next time. */
  | { readonly refusal: string; readonly isLasting: boolean };

/** @param audiences whom the token must be meant for, one of them */
export type JudgeToken = (
  token: string,
  audiences: readonly string[],
  signal: AbortSignal,
) => Promise<TokenVerdict>;

export interface TokenCacheObserver {
  /** `fromMs` is of `performance.now()`. */
  looked(status: 'hit' | 'miss', fromMs: number): void;
  /** One more, or less, that waits for an answer; the first of them has it fetched. */
  waiting(change: 1 | -1): void;
  fetching(change: 1 | -1): void;
  fetched(status: 'ok' | 'error'): void;
}

export interface CachedTokensOptions {
  readonly name: string;
  readonly judge: JudgeToken;
  /** For tokens of requests. */
  readonly ownAudiences: readonly string[];
  readonly goodTtlMs: number;
  readonly badTtlMs: number;
  readonly clock: Clock;
  readonly observer: TokenCacheObserver;
}

/** What a token's verdict means for a request, and for who names audiences. */
interface Kept {
  readonly own: Authentication;
  readonly asked: Authentication;
}

export class CachedTokens implements Authenticator {
  readonly name: string;
  readonly #options: CachedTokensOptions;
  readonly #verdicts: TokenVerdicts<Kept>;
  /** Keys say nothing about tokens outside of this process. */
  readonly #salt = randomBytes(32).toString('base64');

  constructor(options: CachedTokensOptions) {
    this.name = options.name;
    this.#options = options;
    this.#verdicts = new TokenVerdicts({
      goodCountMax: limits.goodTokensKeptMax,
      badCountMax: limits.badTokensKeptMax,
      nowMs: () => options.clock.monotonicMs(),
    });
  }

  authenticate({ token, audiences }: Credentials, end: WaitEnd): MaybePromise<Authentication> {
    if (token === undefined) return { outcome: 'absent' };
    const { observer, ownAudiences } = this.#options;
    const fromMs = performance.now();
    const isOwn = audiences.length === 0;
    const wanted = isOwn ? ownAudiences : audiences;
    const key = this.#keyOf(token, wanted);
    const kept = this.#verdicts.get(key);
    if (kept === undefined) return this.#wait(key, { token, wanted, isOwn, fromMs }, end);
    observer.looked('hit', fromMs);
    return isOwn ? kept.own : kept.asked;
  }

  async #wait(
    key: string,
    asked: {
      readonly token: string;
      readonly wanted: readonly string[];
      readonly isOwn: boolean;
      readonly fromMs: number;
    },
    end: WaitEnd,
  ): Promise<Authentication> {
    const { observer } = this.#options;
    observer.waiting(1);
    try {
      const fetch = (): Promise<Kept> => this.#fetch(key, asked.token, asked.wanted);
      const kept = await abortable(this.#verdicts.judged(key, fetch), end);
      return asked.isOwn ? kept.own : kept.asked;
    } finally {
      observer.waiting(-1);
      observer.looked('miss', asked.fromMs);
    }
  }

  /** It outlives who asked for it: others wait along. */
  async #fetch(key: string, token: string, wanted: readonly string[]): Promise<Kept> {
    const { judge, clock, observer, goodTtlMs, badTtlMs } = this.#options;
    const ending = new AbortController();
    const cancel = clock.after(limits.tokenReviewTimeoutMs, () => ending.abort(tooLate));
    observer.fetching(1);
    try {
      const verdict = await judge(token, wanted, ending.signal);
      const kept = keptOf(verdict);
      const isGood = 'user' in verdict;
      observer.fetched(isGood || verdict.isLasting ? 'ok' : 'error');
      if (isGood) this.#verdicts.keepGood(key, kept, goodTtlMs);
      else if (verdict.isLasting) this.#verdicts.keepBad(key, kept, badTtlMs);
      return kept;
    } catch (error) {
      observer.fetched('error');
      if (error !== tooLate) throw error;
      return keptOf({ refusal: tooLate.message, isLasting: false });
    } finally {
      cancel();
      observer.fetching(-1);
    }
  }

  /** Audiences are set apart by their lengths. */
  #keyOf(token: string, audiences: readonly string[]): string {
    let text = this.#salt;
    for (const one of audiences) text += `${String(one.length)}:${one}`;
    return digestOf(`${text}|${token}`);
  }
}

function keptOf(verdict: TokenVerdict): Kept {
  if ('refusal' in verdict) {
    const rejected: Authentication = { outcome: 'rejected', reason: verdict.refusal };
    return { own: rejected, asked: rejected };
  }
  const own: Authentication = { outcome: 'accepted', user: verdict.user };
  return { own, asked: { ...own, audiences: verdict.audiences } };
}

const tooLate = new Error('nobody said in time whose token it is');
