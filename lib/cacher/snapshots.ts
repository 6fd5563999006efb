// One resource as it was at an older revision: the current order with the log's changes undone,
// newest first. Possible while the log holds every change since then; so a snapshot pins nothing
// that the log does not hold.
import { limits } from '../base/limits.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import { Yielder } from '../base/yielder.ts';
import type { ResourceLog } from './event-log.ts';
import type { LogEntry } from './log-entry.ts';
import type { ItemOrder, ResourceIndex } from './resource-index.ts';

const { snapshotsKeptMax } = limits;

export class Snapshots {
  readonly #kept = new Map<Revision, Promise<ItemOrder>>();

  /**
   * The order at `revision`, which must lie in the log. Later calls for the same revision share it.
   */
  at(revision: Revision, index: ResourceIndex, log: ResourceLog): Promise<ItemOrder> {
    const known = this.#kept.get(revision);
    const order = known ?? undo(index.fork(), changesAfter(log, revision));
    this.#kept.delete(revision);
    this.#kept.set(revision, order);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > snapshotsKeptMax && oldest !== undefined) this.#kept.delete(oldest);
    return order;
  }

  /** Drops snapshots of revisions that the log has passed. */
  trim(oldest: Revision): void {
    for (const revision of this.#kept.keys()) {
      if (revision < oldest) this.#kept.delete(revision);
    }
  }

  clear(): void {
    this.#kept.clear();
  }
}

/** Newest first. Captured at once, so that eviction during the undoing does no harm. */
function changesAfter(log: ResourceLog, revision: Revision): LogEntry[] {
  const { entries } = log;
  const changes: LogEntry[] = [];
  for (let number = entries.end - 1; number >= entries.first; number--) {
    const entry = entries.at(number);
    if (entry === undefined || entry.revision <= revision) break;
    changes.push(entry);
  }
  return changes;
}

async function undo(index: ResourceIndex, changes: readonly LogEntry[]): Promise<ItemOrder> {
  const yielder = new Yielder();
  for (const { path, previous } of changes) {
    if (previous === undefined) index.delete(path);
    else index.set(previous);
    if (yielder.isDue()) await yielder.yield();
  }
  return index;
}
