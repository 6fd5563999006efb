// What stays in memory after something was done: for tests of what caches hold on to.
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** Collects all garbage now; buffers are freed some time after. */
export const collect = runInNewContext('gc') as () => void;

/**
 * Bytes on the heap and beside it that `run` leaves behind. Use what may hold them afterwards, too:
 * what nobody uses any longer is collected with all that it holds.
 */
export async function heldBytes(run: () => void | Promise<void>): Promise<number> {
  const before = await reachableBytes();
  await run();
  return (await reachableBytes()) - before;
}

/** Collections that freed less are the last. */
const settledBytes = 64 * 1024;

/** Buffers, and what weak references held, are freed some time after the collection. */
async function reachableBytes(): Promise<number> {
  let last = Infinity;
  for (;;) {
    for (let round = 0; round < 3; round++) {
      collect();
      await setImmediate();
    }
    const { heapUsed, external } = process.memoryUsage();
    const bytes = heapUsed + external;
    if (last - bytes < settledBytes) return bytes;
    last = bytes;
  }
}

export const mega = 1024 * 1024;

/** Sixteen digits cut out of a text of 1 MiB, as a parser cuts values out of a body. */
export const cutOut = (index: number): string =>
  `${'x'.repeat(mega)}1${String(index).padStart(15, '0')}`.slice(mega);
