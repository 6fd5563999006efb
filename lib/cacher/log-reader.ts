// A position in a bucket of the log: gives the events after it and moves on. It buffers nothing;
// readers of one bucket without a predicate share their batches.
import { limits } from '../base/limits.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import type { EventLog } from './event-log.ts';
import type { Bucket, SharedBatch } from './watch-index.ts';
import type { LogEntry } from './log-entry.ts';
import type { WatchEvent } from './resource-view.ts';
import { isUndecidable, selects } from './watch-selection.ts';
import type { WatchSelection } from './watch-selection.ts';

const { watchBatchCountMax, watchScanCountMax } = limits;

export interface LogReaderOptions extends WatchSelection {
  readonly log: EventLog;
  readonly bucket: Bucket;
  /** Changes after this revision are wanted. */
  readonly after: Revision;
}

export class LogReader {
  readonly #options: LogReaderOptions;
  readonly #bucket: Bucket;
  /** Number in the bucket of the next entry to look at. */
  #next: number;
  #position: Revision;
  /** The log had not reached `after` when it was last read. */
  #isAhead: boolean;

  constructor(options: LogReaderOptions) {
    this.#options = options;
    this.#bucket = options.bucket;
    this.#next = this.#bucket.entries.find(({ revision }) => revision > options.after);
    this.#position = options.after;
    this.#isAhead = options.log.revision < options.after;
  }

  /** Revision up to which all events were taken. Only while the bucket is joined. */
  get position(): Revision {
    if (this.isAtEnd) this.#position = Math.max(this.#position, this.#options.log.revision);
    return this.#position;
  }

  /** Every entry of the bucket was looked at. */
  get isAtEnd(): boolean {
    return this.#next >= this.#bucket.entries.end;
  }

  /** The log has evicted entries that were not looked at yet. */
  get isPassed(): boolean {
    if (this.#isAhead) this.#skipToStart();
    return this.#next < this.#bucket.entries.first;
  }

  /** The next entry, when nobody can tell whether it is an event: reading ends before it. */
  get undecidable(): LogEntry | undefined {
    const next = this.#bucket.entries.at(this.#next);
    return next !== undefined && isUndecidable(this.#options, next) ? next : undefined;
  }

  /** The next events; none: there are none yet, or the scan was long and goes on. */
  take(): readonly WatchEvent[] {
    const { predicate, showsUnreadable } = this.#options;
    const isShared = predicate === undefined && !showsUnreadable;
    return isShared ? this.#takeShared() : this.#takeMatching();
  }

  /**
   * A watch may start at a revision that the log has not reached: changes up to it are not wanted.
   */
  #skipToStart(): void {
    const { entries } = this.#bucket;
    const { after, log } = this.#options;
    // Where nothing after the start was evicted, all numbers before the first entry that is wanted
    // may be stepped over.
    const isComplete = this.#bucket.coversAfter <= after;
    const wanted = entries.find(({ revision }) => revision > after);
    if (isComplete) this.#next = Math.max(this.#next, wanted);
    this.#isAhead = log.revision < after;
  }

  #takeShared(): readonly WatchEvent[] {
    const { entries } = this.#bucket;
    const known = this.#bucket.shared;
    const isKnown =
      known?.from === this.#next && (known.to === entries.end || known.to < entries.end);
    const batch = isKnown ? known : makeBatch(this.#bucket, this.#next);
    if (!isKnown && batch.events.length > 0) this.#bucket.shared = batch;
    this.#moveTo(batch.to);
    return batch.events;
  }

  #takeMatching(): readonly WatchEvent[] {
    const { entries } = this.#bucket;
    const { predicate } = this.#options;
    const events: WatchEvent[] = [];
    const stop = Math.min(entries.end, this.#next + watchScanCountMax);
    let number = this.#next;
    for (; number < stop && events.length < watchBatchCountMax; number++) {
      const entry = entries.at(number);
      if (entry === undefined) continue;
      const { previous, item, isUnreadable } = entry;
      if (isUnreadable && isUndecidable(this.#options, entry)) break;
      const held = previous !== undefined && selects(this.#options, previous, predicate);
      const holds = item !== undefined && selects(this.#options, item, predicate);
      if (!held && !holds) continue;
      const event = entry.eventFor(held, holds);
      if (event !== undefined) events.push(event);
    }
    this.#moveTo(number);
    return events;
  }

  #moveTo(number: number): void {
    const { entries } = this.#bucket;
    this.#next = number;
    const last =
      number < entries.end ? entries.at(number - 1)?.revision : this.#options.log.revision;
    // The rest of a revision that was cut in two is still to come.
    const isCut = number < entries.end && entries.at(number)?.revision === last;
    const reached = last === undefined || isCut ? this.#position : last;
    this.#position = Math.max(this.#position, reached);
  }
}

/** Ends before a change of an unreadable object. */
function makeBatch(bucket: Bucket, from: number): SharedBatch {
  const { entries } = bucket;
  const events: WatchEvent[] = [];
  let to = from;
  for (; to < entries.end && to - from < watchBatchCountMax; to++) {
    const entry = entries.at(to);
    if (entry?.isUnreadable === true) break;
    const event = entry?.eventFor(entry.previous !== undefined, entry.item !== undefined);
    if (event !== undefined) events.push(event);
  }
  return { from, to, events };
}
