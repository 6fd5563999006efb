// A storage whose writers are answered when this replica's memory has what they have written: what
// follows the answer is decided by it, at this replica.
import type { Revision, Storage } from './storage.ts';
import { storageThrough } from './storage-through.ts';

export type Reached = (revision: Revision, signal: AbortSignal) => Promise<void>;

/** @param reached resolves once memory has the revision; it may give up, which nobody is told */
export const settledStorage = (storage: Storage, reached: Reached): Storage =>
  storageThrough(storage, async (transaction, signal) => {
    const result = await storage.transact(transaction, signal);
    // It is written: that memory is late is no failure of the write.
    if (result.ok) await reached(result.revision, signal).catch(() => undefined);
    return result;
  });
