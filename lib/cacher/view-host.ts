// What a view knows of the cache that it belongs to.
import type { Clock } from '../base/clock.ts';
import type { Epoch, Storage } from '../storage-etcd/storage.ts';
import type { EventLog } from './event-log.ts';
import type { ReadGate } from './read-at.ts';
import type { OnRead } from './resource-view.ts';
import type { LogCursor } from './watch-cursor.ts';

/** What views share with the cache that they belong to. */
export interface ViewHost {
  readonly storage: Storage;
  readonly log: EventLog;
  readonly gate: ReadGate;
  readonly clock: Clock;
  readonly cursors: Set<LogCursor>;
  readonly isReady: () => boolean;
  /** Memory is of the epoch that reads of the store have now. */
  readonly isCurrent: () => boolean;
  /** The epoch that memory is of; undefined while it is filled. */
  readonly epoch: () => Epoch | undefined;
  /** Resolves when the log follows the store; rejects when the signal fires. */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** Resolves when `isCurrent`; rejects when the signal fires. */
  readonly current: (signal: AbortSignal) => Promise<void>;
  readonly snapshotRetentionMs: number;
  /** Exact reads of recent revisions are answered from memory (gate ListFromCacheSnapshot). */
  readonly listFromSnapshot: boolean;
  readonly bookmarkIntervalMs: number;
  readonly onRead?: OnRead;
  readonly onWait?: (resource: string, seconds: number) => void;
}
