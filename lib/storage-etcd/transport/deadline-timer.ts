// One timer for the deadlines of all calls of a connection: most calls have ended long before
// theirs, so it fires seldom, and then looks at those that have not. No deadline is kept late.

/** Ends what is due by the monotonic clock; returns the next deadline, or Infinity. */
type Expire = (nowMs: number) => number;

/** Of a timer; after it the deadline is looked at again. */
const delayMsMax = 2 ** 31 - 1;

export class DeadlineTimer {
  readonly #expire: Expire;
  #timer: NodeJS.Timeout | undefined;
  /** When it fires. */
  #atMs = Infinity;
  #isStopped = false;

  constructor(expire: Expire) {
    this.#expire = expire;
  }

  note(deadlineMs: number): void {
    if (deadlineMs >= this.#atMs || this.#isStopped) return;
    clearTimeout(this.#timer);
    this.#atMs = deadlineMs;
    const delayMs = Math.min(Math.max(Math.ceil(deadlineMs - performance.now()), 1), delayMsMax);
    this.#timer = setTimeout(this.#fire, delayMs).unref();
  }

  readonly #fire = (): void => {
    this.#atMs = Infinity;
    this.note(this.#expire(performance.now()));
  };

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }
}
