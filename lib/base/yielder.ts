// Yields to the event loop during long work: ask `isDue` often, await `yield` when it is. The turn
// is what is measured: work of several requests that goes on in one turn shares its slice.
import { limits } from './limits.ts';
import { isLongTurn, ownTurn, turnMs } from './turn.ts';

/** Reading the clock costs more than most steps: it is read once in so many. */
const stepCount = 16;

export class Yielder {
  readonly #sliceMs: number;
  #steps = 0;

  /** `sliceMs`: work between two turns of the event loop. */
  constructor(sliceMs: number = limits.workSliceMs) {
    this.#sliceMs = sliceMs;
    turnMs();
  }

  /** `steps`: what was done since the last question, in steps of a microsecond or so. */
  isDue(steps = 1): boolean {
    this.#steps += steps;
    if (this.#steps < stepCount) return false;
    this.#steps = 0;
    return isLongTurn(this.#sliceMs);
  }

  async yield(): Promise<void> {
    await ownTurn();
  }
}
