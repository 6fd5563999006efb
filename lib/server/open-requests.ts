// All requests between their first byte and their last, and their deadlines with one timer.
// Held in an array, not in a Set: a Set's outgrown tables keep what left until the next major
// collection, which made every request outlive the minor ones (measured: half of its CPU).
import { limits } from '../base/limits.ts';
import type { Clock } from '../base/clock.ts';

export interface Expiring {
  /** Where it is held; -1: nowhere. Kept by OpenRequests. */
  slot: number;
  /** May be moved while the entry is held. */
  deadlineMs: number;
  /**
   * Called at the deadline, at most `deadlineTickMs` late; and again each time the moved deadline
   * passes.
   */
  expire(nowMs: number): void;
}

const { deadlineTickMs } = limits;

export class OpenRequests<T extends Expiring> implements Iterable<T> {
  readonly #open: T[] = [];
  readonly #clock: Clock;
  #isTicking = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(request: T): void {
    request.slot = this.#open.length;
    this.#open.push(request);
    if (this.#isTicking) return;
    this.#isTicking = true;
    this.#clock.after(deadlineTickMs, this.#tick);
  }

  remove(request: T): void {
    const { slot } = request;
    if (slot < 0) return;
    request.slot = -1;
    const last = this.#open.pop();
    if (last === undefined || last === request) return;
    this.#open[slot] = last;
    last.slot = slot;
  }

  get count(): number {
    return this.#open.length;
  }

  [Symbol.iterator](): Iterator<T> {
    return [...this.#open].values();
  }

  readonly #tick = (): void => {
    const nowMs = this.#clock.monotonicMs();
    for (const request of this) if (request.deadlineMs <= nowMs) request.expire(nowMs);
    this.#isTicking = this.#open.length > 0;
    if (this.#isTicking) this.#clock.after(deadlineTickMs, this.#tick);
  };
}
