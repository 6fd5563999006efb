// When a watch owes its client a bookmark. It has no timer of its own: the cache's tick tells it
// the time.
export class BookmarkTimer {
  readonly #intervalMs: number;
  #dueMs = Infinity;
  #isDue = false;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** A bookmark is owed, and no event has told the position since. */
  get isDue(): boolean {
    return this.#isDue;
  }

  /**
   * Called about once a second. `spread` in [0, 1) sets the first bookmarks of watches apart.
   * @returns whether a bookmark became due.
   */
  tick(nowMs: number, spread: number): boolean {
    if (this.#dueMs === Infinity) {
      this.#dueMs = nowMs + this.#intervalMs * (0.75 + spread * 0.25);
      return false;
    }
    if (nowMs < this.#dueMs) return false;
    this.#dueMs = nowMs + this.#intervalMs;
    this.#isDue = true;
    return true;
  }

  /** The bookmark is sent. */
  clear(): void {
    this.#isDue = false;
  }
}
