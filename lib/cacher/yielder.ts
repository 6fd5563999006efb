// Yields to the event loop during long work: ask `isDue` often, await `yield` when it is.
import { limits } from '../base/limits.ts';

const { workSliceMs } = limits;
/** Reading the clock costs more than most steps: it is read once in so many. */
const stepCount = 16;

export class Yielder {
  #startedMs = performance.now();
  #steps = 0;

  isDue(): boolean {
    if (++this.#steps < stepCount) return false;
    this.#steps = 0;
    return performance.now() - this.#startedMs > workSliceMs;
  }

  async yield(): Promise<void> {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    this.#startedMs = performance.now();
  }
}
