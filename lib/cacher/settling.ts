// Work on all items of one resource after its record was replaced: laps over them, a slice in each
// turn of the event loop. A replacement during a lap lets that one end, so that who waits for it
// never waits for more than two, however often the record changes.
import { limits } from '../base/limits.ts';
import { isLongTurn, nextTurn } from '../base/turn.ts';

const { workSliceMs } = limits;

type Lap = PromiseWithResolvers<undefined>;

//   start      start
//   ├─ lap ────┼──────────┤├─ next ────────────────┤
//              who waits from here is done at its end

export class Settling {
  readonly #visits: () => Iterable<unknown>;
  #lap: Lap | undefined;
  #next: Lap | undefined;

  /** `visits`: does the work of a lap, one item for each value that it gives. */
  constructor(visits: () => Iterable<unknown>) {
    this.#visits = visits;
  }

  /** Resolves when everything was visited since the last start; undefined: it was. */
  get done(): Promise<unknown> | undefined {
    return (this.#next ?? this.#lap)?.promise;
  }

  /** Everything is to be visited from now on; few items are before this returns. */
  start(): void {
    if (this.#lap === undefined) void this.#run(Promise.withResolvers());
    else this.#next ??= Promise.withResolvers();
  }

  /** Nothing is left to visit. */
  stop(): void {
    const laps = [this.#lap, this.#next];
    this.#lap = undefined;
    this.#next = undefined;
    for (const lap of laps) lap?.resolve(undefined);
  }

  async #run(first: Lap): Promise<void> {
    let lap: Lap | undefined = first;
    this.#lap = lap;
    // Several that start in one turn share its slice.
    if (isLongTurn(workSliceMs)) await nextTurn();
    let sliceMs = performance.now();
    while (lap !== undefined) {
      if (this.#lap !== lap) return;
      for (const _visit of this.#visits()) {
        if (performance.now() - sliceMs <= workSliceMs) continue;
        await nextTurn();
        if (this.#lap !== lap) return;
        sliceMs = performance.now();
      }
      this.#lap = this.#next;
      this.#next = undefined;
      lap.resolve(undefined);
      lap = this.#lap;
    }
  }
}
