// All changes of the replica's prefix in revision order, complete up to a revision. Bounded by age
// and bytes (a share of the memory budget is always the log's); each resource keeps a minimum.
// Nothing is evicted before the watchers that waited for it have taken it.
import { limits } from '../base/limits.ts';
import { invariant } from '../base/invariant.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import type { CachedItem } from './item.ts';
import { WatchIndex } from './watch-index.ts';
import type { Bucket } from './watch-index.ts';
import { LogEntry } from './log-entry.ts';
import type { Evictable, MemoryBudget } from './memory-budget.ts';
import { Sequence } from './sequence.ts';
import { WakeQueue } from './wake-queue.ts';

//   ring:       1 2 3 4 5 6 7 8        every entry that may still be evicted, oldest first
//   pods:       1 2   4 5   7 8        one log a resource; it is complete after its `oldest`
//   nodes:    0     3     6            0 is exempt from eviction: the minimum keeps it
//   handed:     1 2 3 4 5 6            7 and 8 wake watchers at the end of the turn: they stay

const { logExemptBytesMax } = limits;
/** Share of the memory budget that the log may fill although everything else exceeds the rest. */
const ownShare = 1 / 8;
const timelineStepMs = 1_000;

/** The part of the log that belongs to one resource. */
export class ResourceLog {
  readonly watchIndex: WatchIndex;
  readonly minimumCount: number;
  bytes = 0;

  constructor(oldest: Revision, minimumCount: number) {
    this.watchIndex = new WatchIndex(oldest);
    this.minimumCount = minimumCount;
  }

  get entries(): Sequence<LogEntry> {
    return this.watchIndex.all.entries;
  }

  /** Changes after this revision are all here: the oldest revision that a watch may start from. */
  get oldest(): Revision {
    return this.watchIndex.all.coversAfter;
  }

  /** The change that wrote this very item; undefined when it is not kept. */
  entryOf(item: CachedItem): LogEntry | undefined {
    const { entries } = this;
    const first = entries.find(({ revision }) => revision >= item.revision);
    for (let number = first; number < entries.end; number++) {
      const entry = entries.at(number);
      if (entry?.revision !== item.revision) return undefined;
      if (entry.item === item) return entry;
    }
    return undefined;
  }
}

interface RingEntry {
  log: ResourceLog;
  entry: LogEntry;
}
/** The log of ring places whose resource was removed. */
const noLog = new ResourceLog(0, 0);
interface RevisionWaiter {
  readonly revision: Revision;
  readonly resolve: () => void;
}

export class EventLog implements Evictable {
  readonly #budget: MemoryBudget;
  readonly #ageMaxMs: number;
  #revision: Revision = 0;
  #compacted: Revision = 0;
  #bytes = 0;
  readonly #ring = new Sequence<RingEntry>();
  #ringBytes = 0;
  /** Number in the ring before which watchers that waited have taken everything. */
  #handedEnd = 0;
  /** Revision at about every second of the last minutes. */
  readonly #timeline = new Sequence<{ readonly atMs: number; readonly revision: Revision }>();
  #touched = new Set<Bucket>();
  readonly #wakes = new WakeQueue((end) => {
    this.#handedEnd = end;
    this.#budget.settle();
  });
  #waiters: RevisionWaiter[] = [];

  constructor(budget: MemoryBudget, ageMaxMs: number) {
    this.#budget = budget;
    this.#ageMaxMs = ageMaxMs;
  }

  /** Every change up to and including this revision is in the log and the indexes. */
  get revision(): Revision {
    return this.#revision;
  }

  /**
   * The store's history up to this revision is gone: exact reads before it are not answered from
   * memory either.
   */
  get compacted(): Revision {
    return this.#compacted;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get length(): number {
    return this.#ring.length;
  }

  append(log: ResourceLog, entry: LogEntry): void {
    this.#ring.push({ log, entry });
    this.#ringBytes += entry.bytes;
    log.watchIndex.append(entry, this.#touched);
    log.bytes += entry.bytes;
    this.#bytes += entry.bytes;
    this.#trimExempt(log);
  }

  /** The index of the resource has left `item` to the change that wrote it, if that is kept. */
  leave(log: ResourceLog, item: CachedItem): void {
    const entry = log.entryOf(item);
    if (entry === undefined) return;
    const before = entry.bytes;
    entry.holdsItem = true;
    const grown = entry.bytes - before;
    log.bytes += grown;
    this.#bytes += grown;
    if (!entry.isExempt) this.#ringBytes += grown;
  }

  /** Ends a batch: readers and watchers see whole revisions only. */
  advance(revision: Revision, nowMs: number): void {
    invariant(revision >= this.#revision, 'the log does not go back');
    this.#revision = revision;
    this.#note(nowMs);
    const touched = this.#touched;
    if (touched.size > 0) {
      this.#touched = new Set();
      this.#budget.settle();
      this.#wakes.add(touched, this.#ring.end);
    }
    this.#wakeReached();
  }

  /** Resolves once the log has reached the revision; the returned function gives up the wait. */
  reached(revision: Revision): { readonly done: Promise<void>; readonly cancel: () => void } {
    if (this.#revision >= revision) return { done: Promise.resolve(), cancel: () => undefined };
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const waiter = {
      revision,
      resolve: () => {
        resolve(undefined);
      },
    };
    this.#waiters.push(waiter);
    const cancel = (): void => {
      this.#waiters = this.#waiters.filter((other) => other !== waiter);
    };
    return { done: promise, cancel };
  }

  get isAwaited(): boolean {
    return this.#waiters.length > 0;
  }

  /** Was this revision current within the last `windowMs`? */
  isRecent(revision: Revision, windowMs: number, nowMs: number): boolean {
    const number = this.#timeline.find(({ atMs }) => atMs > nowMs - windowMs);
    // The last sample before the window was current when the window began.
    const floor = this.#timeline.at(number - 1) ?? this.#timeline.oldest();
    return floor !== undefined && revision >= floor.revision;
  }

  oldestMs(): number | undefined {
    const isOwn = this.#ringBytes <= this.#budget.limitBytes * ownShare;
    return isOwn ? undefined : this.#oldestHanded()?.atMs;
  }

  evictOldest(): void {
    const oldest = this.#ring.shift();
    if (oldest === undefined) return;
    oldest.entry.isExempt = true;
    this.#ringBytes -= oldest.entry.bytes;
    this.#trimExempt(oldest.log);
  }

  /** Evicts by age; called about once a second. */
  expire(nowMs: number): void {
    this.#note(nowMs);
    const before = nowMs - this.#ageMaxMs;
    while ((this.#oldestHanded()?.atMs ?? Infinity) < before) this.evictOldest();
    while (this.#timeline.length > 1 && (this.#timeline.oldest()?.atMs ?? nowMs) < before) {
      this.#timeline.shift();
    }
  }

  /**
   * etcd was compacted to `revision`: the log drops what is older, but for each resource's
   * minimum.
   */
  compact(revision: Revision): void {
    this.#compacted = Math.max(this.#compacted, revision);
    while ((this.#oldestHanded()?.revision ?? Infinity) <= revision) this.evictOldest();
  }

  /** Drops the log of one resource. Its places in the ring stay, empty, until they are oldest. */
  remove(log: ResourceLog): void {
    const { first, end } = this.#ring;
    for (let number = first; number < end; number++) {
      const place = this.#ring.at(number);
      if (place?.log !== log) continue;
      const { revision, atMs } = place.entry;
      this.#ringBytes -= place.entry.bytes;
      place.log = noLog;
      place.entry = new LogEntry({
        revision,
        path: '',
        item: undefined,
        previous: undefined,
        atMs,
      });
      this.#ringBytes += place.entry.bytes;
    }
    const { entries } = log;
    for (let number = entries.first; number < entries.end; number++) {
      entries.at(number)?.forget(this.#budget);
    }
    this.#bytes -= log.bytes;
  }

  /** Empties the log; it starts over at `revision` with other resource logs. */
  reset(revision: Revision, nowMs: number): void {
    this.#ring.clear();
    this.#ringBytes = 0;
    this.#timeline.clear();
    this.#timeline.push({ atMs: nowMs, revision });
    this.#touched.clear();
    this.#bytes = 0;
    this.#compacted = 0;
    this.#revision = revision;
    this.#wakeReached();
  }

  /** The entry that is evicted next. */
  #oldestHanded(): LogEntry | undefined {
    return this.#ring.first < this.#handedEnd ? this.#ring.oldest()?.entry : undefined;
  }

  #note(nowMs: number): void {
    const last = this.#timeline.at(this.#timeline.end - 1);
    const isDue = last === undefined || nowMs - last.atMs >= timelineStepMs;
    if (isDue && last?.revision !== this.#revision) {
      this.#timeline.push({ atMs: nowMs, revision: this.#revision });
    }
  }

  #trimExempt(log: ResourceLog): void {
    for (;;) {
      const head = log.entries.oldest();
      if (head?.isExempt !== true) return;
      if (log.entries.length <= log.minimumCount && log.bytes <= logExemptBytesMax) return;
      log.watchIndex.drop(head);
      log.bytes -= head.bytes;
      this.#bytes -= head.bytes;
      head.forget(this.#budget);
    }
  }

  #wakeReached(): void {
    if (this.#waiters.length === 0) return;
    const waiting = this.#waiters;
    this.#waiters = waiting.filter(({ revision }) => revision > this.#revision);
    for (const waiter of waiting) {
      if (waiter.revision <= this.#revision) waiter.resolve();
    }
  }
}
