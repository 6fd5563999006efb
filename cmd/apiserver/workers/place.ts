// How many workers a start has, and how a process knows that it is one of them.
import { availableParallelism } from 'node:os';
import { limits } from '../../../lib/base/limits.ts';
import type { Flags } from '../../../lib/config/flags.ts';

/** Where a worker is among all: in its environment, as JSON. */
export interface WorkerPlace {
  readonly index: number;
  readonly count: number;
}

export const placeVariable = 'APISERVER_WORKER';

/** One a core that this process may use, where the flag says so. */
export const workerCount = ({ workers }: Pick<Flags, 'workers'>): number =>
  workers === 'auto' ? Math.min(availableParallelism(), limits.workersMax) : workers;
