// Waits until memory is filled: not for ever, since whoever asks may go to another replica.
import { limits } from '../base/limits.ts';
import { tooManyRequests } from '../base/status.ts';
import type { StatusError } from '../base/status.ts';

const { cacheReadyWaitMs } = limits;

export const notFilled = (): StatusError => tooManyRequests('storage is (re)initializing', 1);

/** @throws StatusError 429 when it takes too long, or what `wait` rejects with */
export async function limitedWait(
  wait: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await wait(AbortSignal.any([signal, AbortSignal.timeout(cacheReadyWaitMs)]));
  } catch (error) {
    if (signal.aborted) throw error;
    throw notFilled();
  }
}
