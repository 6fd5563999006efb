// What parts of the server take that flags say in another form.
import { getHeapStatistics } from 'node:v8';
import { FlagError } from '../../lib/config/flags.ts';
import type { Flags } from '../../lib/config/flags.ts';

/**
 * What a flag's value makes impossible is the user's to mend: the message names the flag and
 * carries no stack.
 */
export function orFlagError<T>(flag: keyof Flags, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new FlagError(`--${flag}: ${(error as Error).message}`, { cause: error });
  }
}

/** Of this process; default: half of the heap limit. Workers share what one process would have. */
export function cacheBudgetBytes(flags: Flags, workerCount = 1): number {
  const megabytes = flags['cache-memory-mb'];
  const bytes =
    megabytes === undefined ? getHeapStatistics().heap_size_limit / 2 : megabytes * 1024 * 1024;
  return bytes / workerCount;
}
