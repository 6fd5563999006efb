// Bounds the memory that large answers take together: each may be held up to some size, and only so
// many at a time grow beyond it. The others are not read on until one of those has ended.
import { limits } from '../base/limits.ts';

export class AnswerSlots {
  readonly #countMax: number;
  #takenCount = 0;
  /** The longest waiting one first. */
  readonly #waiting = new Set<() => void>();

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  /** Whether an answer of so many bytes needs a slot to grow. */
  isLarge(byteCount: number): boolean {
    return byteCount > limits.clientSmallAnswerBytes;
  }

  /**
   * Calls `go`, now or later, once there is a slot.
   * @returns a function that gives the slot back, or stops waiting for one
   */
  take(go: () => void): () => void {
    let hasSlot = false;
    const start = (): void => {
      this.#takenCount++;
      hasSlot = true;
      go();
    };
    if (this.#takenCount < this.#countMax) start();
    else this.#waiting.add(start);
    return () => {
      this.#waiting.delete(start);
      if (!hasSlot) return;
      hasSlot = false;
      this.#takenCount--;
      const [next] = this.#waiting;
      if (next === undefined) return;
      this.#waiting.delete(next);
      next();
    };
  }
}
