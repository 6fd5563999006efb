// A watcher: first the state it asked for, then a position in a bucket of the log, and bookmarks.
// It buffers nothing: a slow one falls behind and gets 410 once the log has passed its position.
import type { StatusError } from '../base/status.ts';
import { tooOldResourceVersion } from '../base/status.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import { BookmarkTimer } from './bookmark-timer.ts';
import type { ResourceLog } from './event-log.ts';
import type { WatchIndex, Waiter } from './watch-index.ts';
import { LogReader } from './log-reader.ts';
import type { LogReaderOptions } from './log-reader.ts';
import type { ResourceCounts } from './resource-counts.ts';
import type { EventReceiver, Replaced, WatchCursor, WatchEvent } from './resource-view.ts';
import { StateReader } from './state-reader.ts';
import type { InitialState } from './state-reader.ts';
import { unreadableChange } from './unreadable.ts';
import { bookmark, endOfState } from './watch-events.ts';

export interface CursorOptions extends LogReaderOptions {
  readonly watchIndex: WatchIndex;
  readonly state: InitialState | undefined;
  /** Milliseconds between bookmarks; 0: none wanted. */
  readonly bookmarkMs: number;
  readonly isPrompt?: boolean;
  readonly counts: ResourceCounts;
  readonly onClose: (cursor: LogCursor) => void;
}

/**
 *     idle ⇄ called ⇄ waiting      any ─→ ended
 *
 * called: a receiver's call scans the log, a part in each turn. waiting: it has seen all of the
 * log, and the bucket wakes it. ended: for good, with or without a failure.
 */
type CursorState = 'idle' | 'called' | 'waiting' | 'ended';

export class LogCursor implements WatchCursor, Waiter {
  readonly #options: CursorOptions;
  readonly #log: LogReader;
  readonly #bookmarks: BookmarkTimer | undefined;
  /** undefined: the whole state was given. */
  #initial: StateReader | undefined;
  #state: CursorState = 'idle';
  /** Waits for events. */
  #call: EventReceiver | undefined;
  /** The signal that is listened to: of the last call that had to wait. */
  #signal: AbortSignal | undefined;
  #failure: StatusError | undefined;
  #endPosition: Revision = 0;
  #replaced: Replaced | undefined;
  #onEnd: (() => void) | undefined;

  readonly isPrompt: boolean;
  before: Waiter | undefined;
  after: Waiter | undefined;

  constructor(options: CursorOptions) {
    const { state, bookmarkMs } = options;
    this.isPrompt = options.isPrompt === true;
    this.#options = options;
    this.#log = new LogReader(options);
    this.#initial = state === undefined ? undefined : new StateReader(state, options);
    this.#bookmarks = bookmarkMs === 0 ? undefined : new BookmarkTimer(bookmarkMs);
  }

  isOf(log: ResourceLog): boolean {
    return this.#options.watchIndex === log.watchIndex;
  }

  get position(): Revision {
    // One that ended has left its bucket, which need not hold what the log does.
    if (this.#state === 'ended') return this.#endPosition;
    // Nobody can go on from the middle of the state.
    return this.#initial === undefined ? this.#log.position : 0;
  }

  next(signal: AbortSignal): Promise<readonly WatchEvent[] | undefined> {
    return new Promise((give, fail) => {
      const ready = this.take({ signal, give, fail });
      if (ready !== undefined) give(ready);
    });
  }

  take(receiver: EventReceiver): readonly WatchEvent[] | undefined {
    const { signal } = receiver;
    if (this.#isEnded(receiver)) return undefined;
    if (signal.aborted) {
      receiver.fail(signal.reason as Error);
      return undefined;
    }
    const ready = this.#take();
    if (ready !== undefined || this.#isEnded(receiver)) return ready;
    this.#call = receiver;
    this.#state = 'called';
    this.#listenTo(signal);
    this.#waitOn();
    return undefined;
  }

  close(): void {
    if (this.#state !== 'ended') this.#end()?.give(undefined);
  }

  /** The same, since the record of the resource was replaced. */
  closeReplaced(how: Replaced): void {
    if (this.#state === 'ended') return;
    this.#replaced = how;
    this.close();
  }

  get replaced(): Replaced | undefined {
    return this.#replaced;
  }

  onEnd(listener: (() => void) | undefined): void {
    this.#onEnd = listener;
    if (this.#state === 'ended') this.#tellEnd();
  }

  /** Ends the watch: what it was reading is no more. */
  fail(error: StatusError): void {
    if (this.#state === 'ended') return;
    this.#failure = error;
    this.#end()?.fail(error);
  }

  /** The bucket has grown. It may have called before the wait was given up: then nobody waits. */
  wake(): void {
    if (this.#state !== 'waiting') return;
    this.#state = 'called';
    this.#deliver();
  }

  /** Called about once a second; `spread` in [0, 1) sets the first bookmarks apart. */
  tick(nowMs: number, spread: number): void {
    if (this.#bookmarks?.tick(nowMs, spread) === true) this.#deliver();
  }

  /** Tells the receiver how it ended, if it has. */
  #isEnded(receiver: EventReceiver): boolean {
    if (this.#state !== 'ended') return false;
    if (this.#failure === undefined) receiver.give(undefined);
    else receiver.fail(this.#failure);
    return true;
  }

  /** Answers the call when there is something to answer. */
  #deliver(): void {
    if (this.#call === undefined) return;
    const ready = this.#take();
    if (ready !== undefined) this.#settle()?.give(ready);
    else this.#waitOn();
  }

  /** The next batch; undefined: there is none yet, or reading failed. */
  #take(): readonly WatchEvent[] | undefined {
    return this.#initial === undefined ? this.#takeLog() : this.#takeState(this.#initial);
  }

  #takeState(initial: StateReader): readonly WatchEvent[] | undefined {
    const events = initial.take();
    if (!initial.isDone) return events;
    this.#initial = undefined;
    if (initial.hasEndBookmark) events.push(endOfState(this.#options.after));
    return events.length > 0 ? events : this.#takeLog();
  }

  #takeLog(): readonly WatchEvent[] | undefined {
    const log = this.#log;
    if (log.isPassed) {
      this.#options.counts.passedWatches++;
      const { coversAfter } = this.#options.bucket;
      this.fail(tooOldResourceVersion(String(log.position), coversAfter));
      return undefined;
    }
    const events = log.take();
    if (events.length > 0) return events;
    const { undecidable } = log;
    if (undecidable !== undefined) {
      this.fail(unreadableChange(undecidable));
      return undefined;
    }
    if (this.#bookmarks?.isDue !== true || !log.isAtEnd) return undefined;
    this.#bookmarks.clear();
    return [bookmark(this.position)];
  }

  #waitOn(): void {
    if (this.#state !== 'called') return;
    if (this.#log.isAtEnd) {
      this.#state = 'waiting';
      this.#options.bucket.wait(this);
      return;
    }
    // A scan was cut short: it goes on after others had their turn.
    setImmediate(() => {
      this.#deliver();
    });
  }

  /** Takes the call, which its caller answers at once. */
  #settle(): EventReceiver | undefined {
    const call = this.#call;
    if (this.#state === 'waiting') this.#options.bucket.stopWaiting(this);
    this.#state = 'idle';
    this.#call = undefined;
    return call;
  }

  /** @returns the call that is to be answered with the outcome. */
  #end(): EventReceiver | undefined {
    const { watchIndex, bucket, onClose } = this.#options;
    this.#endPosition = this.position;
    const call = this.#settle();
    bucket.stopWaiting(this);
    this.#state = 'ended';
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#signal = undefined;
    this.#initial = undefined;
    watchIndex.leave(bucket);
    onClose(this);
    this.#tellEnd();
    return call;
  }

  #tellEnd(): void {
    const listener = this.#onEnd;
    this.#onEnd = undefined;
    listener?.();
  }

  /** One listener for all calls with the same signal. */
  #listenTo(signal: AbortSignal): void {
    if (this.#signal === signal) return;
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort);
  }

  readonly #onAbort = (): void => {
    this.#settle()?.fail(this.#signal?.reason as Error);
  };
}
