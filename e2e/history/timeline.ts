// When each revision can have been committed: bounds in real time, over the one order that
// revisions give. Adding bounds is cheap; the sweep that proves them consistent is O(n log n) and
// exact.

import type { AnomalyKind, Instant, Revision } from './history.ts';

/*
 * Revisions order all writes, so linearizability needs no search. Let T(r) be the unknown instant
 * at which revision r took effect; T grows with r. Every observation is a bound on one T:
 *
 *   a write answered with r              invoked <= T(r) <= returned
 *   any answer that shows r              T(r) <= returned         (it is not from the future)
 *   a consistent read that shows r       invoked <= T(next of r)  (r was current when asked)
 *
 * A read fits a schedule when [invoked, returned] meets [T(r), T(next of r)); intervals on a line
 * meet when they meet pairwise, which is just the two bounds above. A growing T within all bounds
 * exists if and only if no revision has a lower bound that is later than an upper bound of an equal
 * or higher revision: that is the whole check.
 *
 *   revision   ....5........7........9....
 *   not before      40 ms                 40 > 30: the read that was asked at 40 ms and
 *   not after                30 ms        still saw the predecessor of 5 was stale.
 */
export interface Bound {
  readonly revision: Revision;
  readonly at: Instant;
  readonly describe: () => string;
}

export interface LowerBound extends Bound {
  /** What it means when this bound cannot hold. */
  readonly kind: AnomalyKind;
}

/** A claim that cannot be true: `lower` says later than `upper` allows. */
export interface Violation {
  readonly lower: LowerBound;
  readonly upper: Bound;
}

export class Timeline {
  #lowers: LowerBound[] = [];
  #uppers: Bound[] = [];
  #isSorted = true;
  /** latestLower[i]: the latest of lowers[0..i]; earliestUpper[i]: the earliest of uppers[i..]. */
  #latestLower: LowerBound[] = [];
  #earliestUpper: Bound[] = [];

  notBefore(bound: LowerBound): void {
    this.#lowers.push(bound);
    this.#isSorted = false;
  }

  notAfter(bound: Bound): void {
    this.#uppers.push(bound);
    this.#isSorted = false;
  }

  /** The revision cannot have been committed earlier. */
  earliest(revision: Revision): Instant {
    this.#sort();
    return this.#latestLower[countBelow(this.#lowers, revision + 1) - 1]?.at ?? -Infinity;
  }

  /** The revision was committed by then. */
  latest(revision: Revision): Instant {
    return this.#upperFor(revision)?.at ?? Infinity;
  }

  /**
   * Every lower bound that no schedule can satisfy, with the observation that contradicts it most.
   */
  violations(): Violation[] {
    this.#sort();
    const found: Violation[] = [];
    for (const lower of this.#lowers) {
      const upper = this.#upperFor(lower.revision);
      if (upper !== undefined && upper.at < lower.at) found.push({ lower, upper });
    }
    return found;
  }

  #upperFor(revision: Revision): Bound | undefined {
    this.#sort();
    return this.#earliestUpper[countBelow(this.#uppers, revision)];
  }

  #sort(): void {
    if (this.#isSorted) return;
    this.#isSorted = true;
    this.#lowers.sort((a, b) => a.revision - b.revision);
    this.#uppers.sort((a, b) => a.revision - b.revision);
    this.#latestLower = runningBest(this.#lowers, (a, b) => a.at > b.at);
    const reversed = this.#uppers.toReversed();
    this.#earliestUpper = runningBest(reversed, (a, b) => a.at < b.at).reverse();
  }
}

function runningBest<T>(items: readonly T[], isBetter: (a: T, b: T) => boolean): T[] {
  let best: T | undefined;
  return items.map((item) => {
    if (best === undefined || isBetter(item, best)) best = item;
    return best;
  });
}

/** How many of the bounds, sorted by revision, lie below the revision. */
function countBelow(bounds: readonly Bound[], revision: Revision): number {
  let low = 0;
  let high = bounds.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((bounds[middle]?.revision ?? Infinity) < revision) low = middle + 1;
    else high = middle;
  }
  return low;
}
