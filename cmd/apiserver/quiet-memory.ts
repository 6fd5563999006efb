// Gives memory back when the server is quiet: V8 keeps the pages of what it has collected until it
// collects to reduce memory, which under Node it never does by itself. Its memory saver mode does,
// at many times the collections, and so is on for moments of quiet only (docs/adr/0026).
import { setFlagsFromString } from 'node:v8';
import type { Clock } from '../../lib/base/clock.ts';

const tickMs = 1_000;
/** Share of its time that a quiet loop is busy. */
const quietMax = 0.1;
/** While V8 reduces memory it is busy itself; above this there is other work, too. */
const reducingMax = 0.5;
/** Quiet for so long, then again while it lasts: memory may have grown slowly. */
const quietTicks = 10;
const againTicks = 300;
/** V8 looks every eight seconds whether to reduce memory, and collects twice. */
const reducingTicks = 30;

/** Decides tick by tick whether memory is to be reduced. */
export class QuietMemory {
  #quietTicks = 0;
  #ticksLeft = 0;

  /** `utilization`: the busy share of the loop's last tick, 0 to 1. */
  tick(utilization: number): boolean {
    if (this.#ticksLeft > 0) {
      this.#ticksLeft = utilization > reducingMax ? 0 : this.#ticksLeft - 1;
    }
    this.#quietTicks = utilization > quietMax ? 0 : this.#quietTicks + 1;
    if (this.#quietTicks % againTicks === quietTicks) this.#ticksLeft = reducingTicks;
    return this.#ticksLeft > 0;
  }
}

/** The returned function ends it. */
export function giveMemoryBackWhenQuiet(clock: Clock): () => void {
  const quiet = new QuietMemory();
  let isReducing = false;
  let last = performance.eventLoopUtilization();
  const tick = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    const reduces = quiet.tick(utilization);
    if (reduces !== isReducing) setMemorySaver(reduces);
    isReducing = reduces;
    cancel = clock.after(tickMs, tick);
  };
  let cancel = clock.after(tickMs, tick);
  return () => cancel();
}

export const memorySaverFlag = '--memory-saver-mode';

/** V8 reads the flag whenever it decides about collections; older releases do not have it. */
function setMemorySaver(isOn: boolean): void {
  if (Number.parseInt(process.versions.v8) < 13) return;
  setFlagsFromString(isOn ? memorySaverFlag : memorySaverFlag.replace('--', '--no-'));
}
