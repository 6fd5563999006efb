// Lets the event loop turn during long work: ask `isDue` often, await `breathe` when it is.
import { limits } from '../base/limits.ts';

const { workSliceMs } = limits;
/** Reading the clock costs more than most steps: it is read once in so many. */
const stepCount = 16;

export class Breather {
  #startedMs = performance.now();
  #steps = 0;

  isDue(): boolean {
    if (++this.#steps < stepCount) return false;
    this.#steps = 0;
    return performance.now() - this.#startedMs > workSliceMs;
  }

  async breathe(): Promise<void> {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    this.#startedMs = performance.now();
  }
}
