// A watcher: a position in a bucket of the log plus a predicate. It buffers nothing: a slow one
// falls behind and gets 410 once the log has passed its position. Watchers of one bucket without
// predicate share their batches.
import { limits } from '../base/limits.ts';
import type { StatusError } from '../base/status.ts';
import { tooOldResourceVersion } from '../base/status.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import type { EventLog, ResourceLog } from './event-log.ts';
import type { Bucket, Interest, SharedBatch, Waiter } from './interest.ts';
import type { CachedItem } from './item.ts';
import type { LogEntry } from './log-entry.ts';
import type { ItemOrder, PathRange } from './resource-index.ts';
import type { ResourceCounts } from './resource-counts.ts';
import type { WatchCursor, WatchEvent } from './resource-view.ts';
import type { Predicate } from './select.ts';
import { unreadableChange } from './unreadable.ts';
import { bookmark, stateEvent } from './watch-events.ts';

const { watchBatchCountMax, watchScanCountMax } = limits;

/** The state that a watch begins with. */
export interface InitialState {
  readonly items: ItemOrder;
  readonly range: PathRange;
  readonly predicate: Predicate | undefined;
  readonly hasEndBookmark: boolean;
}

export interface CursorOptions {
  readonly log: EventLog;
  readonly interest: Interest;
  readonly bucket: Bucket;
  /** undefined: everything in the bucket is selected. */
  readonly predicate: Predicate | undefined;
  /** Of objects that cannot be read: may they be selected? */
  readonly mayHold: Predicate;
  /** Their changes are events too; otherwise they end the watch. */
  readonly showsUnreadable: boolean;
  /** Changes after this revision are wanted. */
  readonly after: Revision;
  readonly state: InitialState | undefined;
  /** Milliseconds between bookmarks; 0: none wanted. */
  readonly bookmarkMs: number;
  readonly counts: ResourceCounts;
  readonly onClose: (cursor: LogCursor) => void;
}

interface Pending {
  readonly resolve: (events: readonly WatchEvent[] | undefined) => void;
  readonly reject: (error: Error) => void;
}

export class LogCursor implements WatchCursor, Waiter {
  readonly #options: CursorOptions;
  readonly #bucket: Bucket;
  /** Number in the bucket of the next entry to look at. */
  #next: number;
  /** 0 until the whole state was given: nobody can go on from the middle of it. */
  #position: Revision;
  #state: InitialState | undefined;
  #pending: Pending | undefined;
  #signal: AbortSignal | undefined;
  #failure: StatusError | undefined;
  #isClosed = false;
  #bookmarkDueMs = Infinity;
  #isBookmarkDue = false;
  #isWaiting = false;
  #isAhead: boolean;

  constructor(options: CursorOptions) {
    this.#options = options;
    this.#bucket = options.bucket;
    this.#next = this.#bucket.entries.find(({ revision }) => revision > options.after);
    this.#position = options.state === undefined ? options.after : 0;
    this.#isAhead = options.log.revision < options.after;
    this.#state = options.state;
  }

  isOf(log: ResourceLog): boolean {
    return this.#options.interest === log.interest;
  }

  get position(): Revision {
    // A closed cursor has left its bucket, which need not hold what the log does.
    if (this.#isClosed || this.#state !== undefined) return this.#position;
    if (this.#next >= this.#bucket.entries.end) {
      this.#position = Math.max(this.#position, this.#options.log.revision);
    }
    return this.#position;
  }

  next(signal: AbortSignal): Promise<readonly WatchEvent[] | undefined> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (this.#isClosed) return Promise.resolve(undefined);
    if (signal.aborted) return Promise.reject(signal.reason as Error);
    const ready = this.#take();
    if (ready !== undefined) return Promise.resolve(ready);
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      if (this.#isClosed) this.#rejectPending();
      else {
        this.#listenTo(signal);
        this.#waitOn();
      }
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#end();
    this.#settle()?.resolve(undefined);
  }

  /** Ends the watch: what it was reading is no more. */
  fail(error: StatusError): void {
    if (this.#isClosed) return;
    this.#failure = error;
    this.#end();
    this.#settle()?.reject(error);
  }

  /** The bucket has grown. */
  wake(): void {
    this.#isWaiting = false;
    this.#deliver();
  }

  /**
   * Called about once a second: bookmarks need no timer of their own. `spread` in [0, 1) sets the
   * first one apart.
   */
  tick(nowMs: number, spread: number): void {
    const { bookmarkMs } = this.#options;
    if (bookmarkMs === 0) return;
    if (this.#bookmarkDueMs === Infinity) {
      this.#bookmarkDueMs = nowMs + bookmarkMs * (0.75 + spread * 0.25);
      return;
    }
    if (nowMs < this.#bookmarkDueMs) return;
    this.#bookmarkDueMs = nowMs + bookmarkMs;
    this.#isBookmarkDue = true;
    this.#deliver();
  }

  /** Answers the pending call when there is something to answer. */
  #deliver(): void {
    if (this.#pending === undefined || this.#isClosed) return;
    const ready = this.#take();
    if (ready !== undefined) this.#settle()?.resolve(ready);
    else if (this.#failure !== undefined) this.#rejectPending();
    else this.#waitOn();
  }

  #rejectPending(): void {
    const failure = this.#failure;
    if (failure !== undefined) this.#settle()?.reject(failure);
  }

  #take(): readonly WatchEvent[] | undefined {
    if (this.#state !== undefined) return this.#takeState(this.#state);
    const { entries } = this.#bucket;
    if (this.#isAhead) this.#skipToStart();
    if (this.#next < entries.first) {
      this.#options.counts.passedWatches++;
      this.#failure = tooOldResourceVersion(String(this.#position), this.#bucket.coversAfter);
      this.#end();
      return undefined;
    }
    const { predicate, showsUnreadable } = this.#options;
    const isShared = predicate === undefined && !showsUnreadable;
    const events = isShared ? this.#takeShared() : this.#takeMatching();
    if (events.length > 0) return events;
    const next = entries.at(this.#next);
    if (next !== undefined && this.#cannotTell(next)) {
      this.#failure = unreadableChange(next);
      this.#end();
      return undefined;
    }
    if (!this.#isBookmarkDue || this.#next < entries.end) return undefined;
    this.#isBookmarkDue = false;
    return [bookmark(this.position, false)];
  }

  /**
   * A watch may start at a revision that the log has not reached: changes up to it are not wanted.
   */
  #skipToStart(): void {
    const { entries } = this.#bucket;
    const { after, log } = this.#options;
    // Nothing after the start was evicted: so what is left of the numbers before it may be stepped
    // over.
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
      if (isUnreadable && this.#cannotTell(entry)) break;
      const held = previous !== undefined && this.#selects(previous, predicate);
      const holds = item !== undefined && this.#selects(item, predicate);
      if (!held && !holds) continue;
      const event = entry.eventFor(held, holds);
      if (event !== undefined) events.push(event);
    }
    this.#moveTo(number);
    return events;
  }

  #selects(item: CachedItem, predicate: Predicate | undefined): boolean {
    if (item.problem === undefined) return predicate === undefined || predicate(item);
    return this.#options.showsUnreadable && this.#options.mayHold(item);
  }

  #cannotTell({ isUnreadable, item, previous }: LogEntry): boolean {
    if (!isUnreadable || this.#options.showsUnreadable) return false;
    const either = item ?? previous;
    return either !== undefined && this.#options.mayHold(either);
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

  #takeState(state: InitialState): readonly WatchEvent[] | undefined {
    const events: WatchEvent[] = [];
    let last: CachedItem | undefined;
    let isMore = false;
    state.items.walk(state.range, (item) => {
      if (events.length >= watchBatchCountMax) {
        isMore = true;
        return false;
      }
      last = item;
      if (this.#selects(item, state.predicate)) events.push(stateEvent(item));
      return true;
    });
    if (isMore && last !== undefined) {
      this.#state = { ...state, range: { ...state.range, start: last.path, isAfter: true } };
      return events;
    }
    this.#state = undefined;
    this.#position = this.#options.after;
    if (state.hasEndBookmark) events.push(bookmark(this.#options.after, true));
    return events.length > 0 ? events : this.#take();
  }

  #waitOn(): void {
    if (this.#next < this.#bucket.entries.end) {
      // A scan was cut short: go on after others had their turn.
      setImmediate(() => {
        this.#deliver();
      });
    } else if (!this.#isWaiting) {
      this.#isWaiting = true;
      this.#bucket.wait(this);
    }
  }

  /** Takes the pending call, which its caller answers at once. */
  #settle(): Pending | undefined {
    const pending = this.#pending;
    if (this.#isWaiting) this.#bucket.stopWaiting(this);
    this.#isWaiting = false;
    this.#pending = undefined;
    return pending;
  }

  #end(): void {
    this.#position = this.position;
    this.#isClosed = true;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#signal = undefined;
    this.#state = undefined;
    this.#options.interest.leave(this.#bucket);
    this.#options.onClose(this);
  }

  /** One listener for all calls with the same signal. */
  #listenTo(signal: AbortSignal): void {
    if (this.#signal === signal) return;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => {
    this.#settle()?.reject(this.#signal?.reason as Error);
  };
}

/** Ends before a change that cannot be told. */
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
