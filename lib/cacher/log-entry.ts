// One change in the log, and the events that watchers make of it: one per outcome, shared by all of
// them.
import type { Revision } from '../storage-etcd/storage.ts';
import type { CachedItem } from './item.ts';
import type { MemoryBudget } from './memory-budget.ts';
import type { Change } from './resource-view.ts';
import { LoggedEvent } from './watch-events.ts';

/** Heap of an entry beside the bytes of the versions that only it holds. */
const entryOverheadBytes = 220;

export class LogEntry implements Change {
  readonly revision: Revision;
  readonly path: string;
  /** What was written; undefined for a deletion. */
  readonly item: CachedItem | undefined;
  /** What was there before. */
  readonly previous: CachedItem | undefined;
  readonly atMs: number;
  /** One of the two versions cannot be read: nobody can tell what changed. */
  readonly isUnreadable: boolean;
  /**
   * Evicted from the ring, but kept by its resource's log: a quiet resource keeps a minimum.
   */
  isExempt = false;
  /** `item` is no longer in the index, nor the `previous` of another entry. */
  holdsItem = false;
  #added: LoggedEvent | undefined;
  #modified: LoggedEvent | undefined;
  #deleted: LoggedEvent | undefined;

  constructor(change: {
    readonly revision: Revision;
    readonly path: string;
    readonly item: CachedItem | undefined;
    readonly previous: CachedItem | undefined;
    readonly atMs: number;
  }) {
    this.revision = change.revision;
    this.path = change.path;
    this.item = change.item;
    this.previous = change.previous;
    this.atMs = change.atMs;
    this.isUnreadable = change.item?.corrupted === true || change.previous?.corrupted === true;
  }

  get bytes(): number {
    const itemBytes = this.holdsItem ? (this.item?.bytes ?? 0) : 0;
    return entryOverheadBytes + (this.previous?.bytes ?? 0) + itemBytes;
  }

  eventFor(held: boolean, holds: boolean): LoggedEvent | undefined {
    if (holds && this.item !== undefined) {
      if (held) return (this.#modified ??= new LoggedEvent('MODIFIED', this, this.item));
      return (this.#added ??= new LoggedEvent('ADDED', this, this.item));
    }
    if (!held || this.previous === undefined) return undefined;
    if (this.#deleted !== undefined) return this.#deleted;
    const item = this.previous.atRevision(this.revision);
    return (this.#deleted = new LoggedEvent('DELETED', this, item));
  }

  /** Drops what was made from the entry and from the versions that only it held. */
  forget(budget: MemoryBudget): void {
    for (const event of [this.#added, this.#modified, this.#deleted]) {
      if (event !== undefined) budget.forget(event);
    }
    if (this.previous !== undefined) budget.forget(this.previous);
    if (this.holdsItem && this.item !== undefined) budget.forget(this.item);
  }
}
