// Deadlines of all open requests with one timer: a request costs a set entry, no timer of its own.
import type { Clock } from '../base/clock.ts';

/** Something that ends at a time; `expire` is called once, at most `tickMs` late. */
export interface Expiring {
  deadlineMs: number;
  expire(): void;
}

const tickMs = 250;

export class Deadlines {
  readonly #open = new Set<Expiring>();
  readonly #clock: Clock;
  #cancelTick: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(entry: Expiring): void {
    this.#open.add(entry);
    this.#cancelTick ??= this.#clock.after(tickMs, this.#tick);
  }

  remove(entry: Expiring): void {
    this.#open.delete(entry);
  }

  get openCount(): number {
    return this.#open.size;
  }

  readonly #tick = (): void => {
    this.#cancelTick = undefined;
    const now = this.#clock.monotonicMs();
    for (const entry of this.#open) {
      if (entry.deadlineMs > now) continue;
      this.#open.delete(entry);
      entry.expire();
    }
    if (this.#open.size > 0) this.#cancelTick = this.#clock.after(tickMs, this.#tick);
  };
}
