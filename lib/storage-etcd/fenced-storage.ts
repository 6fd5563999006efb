// The same storage for one term of a leader: each write states in its own transaction that no later
// term has begun. A process that slept through the end of its term can write nothing.
import type { Condition, Storage, Transaction, TransactionResult } from './storage.ts';
import { storageThrough } from './storage-through.ts';

/** From when a leader put the fence key until another one does. */
export interface Term {
  /** The fence key as this leader has put it. */
  readonly fence: Condition;
  /** The history of the store in which it has (`Epoch.history`). */
  readonly history: number;
  /** Told by a write that found the term over; the write fails after that. May be told again. */
  ended(): void;
}

/** A write of a leader whose term is over: nothing was written, and nothing ever will be by it. */
export class TermEnded extends Error {
  override readonly name = 'TermEnded';

  constructor() {
    super('the term of this leader is over: another one writes now');
  }
}

/** A condition of the caller that does not hold is answered as ever. @throws TermEnded. */
export function fencedStorage(storage: Storage, term: Term): Storage {
  const end = (): never => {
    term.ended();
    throw new TermEnded();
  };
  const transact = async (
    transaction: Transaction,
    signal: AbortSignal,
  ): Promise<TransactionResult> => {
    // In another history the revision of the fence may be that of somebody else's.
    if (storage.epoch.history !== term.history) end();
    const conditions = [...transaction.conditions, term.fence];
    const result = await storage.transact({ ...transaction, conditions }, signal);
    if (result.ok) return result;
    const fence = result.current.at(-1);
    if ((fence?.modRevision ?? 0) !== term.fence.expected) end();
    return { ok: false, current: result.current.slice(0, -1) };
  };
  return storageThrough(storage, transact);
}
