// What is known of tokens that are dear to judge, for a time: by digest and never by token; good
// and bad ones apart, so that a flood of bad ones pushes out no good one. Many requests with one
// new token wait for one verdict.
import { ExpiringMap } from '../base/expiring-map.ts';

export class TokenVerdicts<V> {
  readonly #good: ExpiringMap<V>;
  readonly #bad: ExpiringMap<V>;
  readonly #underWay = new Map<string, Promise<V>>();

  constructor(options: {
    readonly goodCountMax: number;
    readonly badCountMax: number;
    readonly nowMs: () => number;
  }) {
    const { goodCountMax, badCountMax, nowMs } = options;
    this.#good = new ExpiringMap({ countMax: goodCountMax, nowMs });
    this.#bad = new ExpiringMap({ countMax: badCountMax, nowMs });
  }

  /** undefined: not known, or no more. */
  get(digest: string): V | undefined {
    return this.#good.get(digest) ?? this.#bad.get(digest);
  }

  keepGood(digest: string, verdict: V, ttlMs: number): void {
    this.#good.set(digest, verdict, ttlMs);
  }

  keepBad(digest: string, verdict: V, ttlMs: number): void {
    this.#bad.set(digest, verdict, ttlMs);
  }

  /** The one verdict that is being made; `judge` makes it where none is. */
  judged(digest: string, judge: () => Promise<V>): Promise<V> {
    let judging = this.#underWay.get(digest);
    if (judging === undefined) {
      judging = judge().finally(() => this.#underWay.delete(digest));
      this.#underWay.set(digest, judging);
    }
    return judging;
  }
}
