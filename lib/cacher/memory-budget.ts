// One hard bound for what the cache may forget: indexes that are made on demand, which go first;
// then event log, memoised encodings and decoded objects, least recently used first. Current state
// counts but is never evicted, nor is what the log keeps for itself: past the bound both are told.
import { LinkedList } from '../base/linked-list.ts';
import type { Linked } from '../base/linked-list.ts';
import { inOwnMemory } from '../base/own-memory.ts';
import type { ApiObject } from '../codec/codec.ts';

/** The item or event that a memo belongs to: the budget clears it there. */
export interface MemoOwner {
  kept: Memo | undefined;
}

/** Bytes, or what holds them; it counts as so many as it was made with. */
export interface Encoded {
  readonly byteLength: number;
}

/** Everything made from one item or event so far. */
export interface Memo extends Linked<Memo> {
  readonly owner: MemoOwner;
  readonly encodings: Map<string, Encoded>;
  object: Readonly<ApiObject> | undefined;
  /** What the object is counted as in `bytes`. */
  objectBytes: number;
  bytes: number;
  usedMs: number;
}

/** What is kept to be faster alone, in one piece: the first to go. */
export interface Droppable {
  /** Counted by the budget: `resize` changes it. */
  bytes: number;
  usedMs: number;
  /** It goes when nobody used it for so long. */
  readonly idleMs: number;
  /** Forgets it; the budget does so already. */
  readonly drop: () => void;
}

/** What the budget needs of the event log. */
export interface Evictable {
  readonly bytes: number;
  /** Time of the oldest entry that may go; undefined when nothing may. */
  oldestMs(): number | undefined;
  evictOldest(): void;
}

export interface MemoryUse {
  readonly limitBytes: number;
  readonly stateBytes: number;
  readonly logBytes: number;
  /** Of indexes that are made on demand. */
  readonly indexBytes: number;
  readonly memoBytes: number;
  /** Current state and what the log must keep are larger than the bound. */
  readonly isOver: boolean;
}

/**
 * A used memo moves to the young end at most this often: hot lists must not pay for the order.
 */
const touchIntervalMs = 1_000;
/** Map entry, views and bookkeeping of one memo. */
const memoOverheadBytes = 200;
/** Heap of a decoded object for a byte of its JSON (measured on Pods: 2.2). */
export const objectBytesPerJsonByte = 2.25;

export class MemoryBudget {
  readonly limitBytes: number;
  /** Coarse time, set by the owner of the clock about once a second. */
  nowMs = 0;
  #stateBytes = 0;
  #memoBytes = 0;
  #indexBytes = 0;
  #isOver = false;
  /** Least recently used first. */
  readonly #memos = new LinkedList<Memo>();
  readonly #droppables = new Set<Droppable>();
  #log: Evictable | undefined;
  readonly #onOver: (use: MemoryUse) => void;

  constructor(limitBytes: number, onOver: (use: MemoryUse) => void) {
    this.limitBytes = limitBytes;
    this.#onOver = onOver;
  }

  attach(log: Evictable): void {
    this.#log = log;
  }

  addState(bytes: number): void {
    this.#stateBytes += bytes;
  }

  /** So many bytes more would be within the bound. */
  hasRoomFor(bytes: number): boolean {
    return this.#total() + bytes <= this.limitBytes;
  }

  /** Counts it, until it is dropped or released. */
  keep(droppable: Droppable): void {
    this.#droppables.add(droppable);
    this.#indexBytes += droppable.bytes;
  }

  /** `grown`: bytes that it takes more, or less. The bound holds again after `settle`. */
  resize(droppable: Droppable, grown: number): void {
    if (!this.#droppables.has(droppable)) return;
    droppable.bytes += grown;
    this.#indexBytes += grown;
  }

  /** It is gone by itself. */
  release(droppable: Droppable): void {
    if (this.#droppables.delete(droppable)) this.#indexBytes -= droppable.bytes;
  }

  /** The encoding `variant` of `owner`, made once while kept. */
  encoding<O extends MemoOwner, T extends Encoded>(
    owner: O,
    variant: string,
    make: (owner: O) => T,
  ): T {
    const known = this.keptEncoding(owner, variant) as T | undefined;
    if (known !== undefined) return known;
    const made = kept(make(owner));
    const memo = this.#memoOf(owner);
    memo.encodings.set(variant, made);
    this.#grow(memo, made.byteLength + memoOverheadBytes);
    return made;
  }

  /** What `encoding` made, while it is kept. */
  keptEncoding(owner: MemoOwner, variant: string): Encoded | undefined {
    const known = owner.kept?.encodings.get(variant);
    if (known !== undefined && owner.kept !== undefined) this.#touch(owner.kept);
    return known;
  }

  /** The decoded object of `owner`, made once while kept. */
  object(owner: MemoOwner, jsonBytes: number, make: () => ApiObject): Readonly<ApiObject> {
    const known = owner.kept?.object;
    if (known !== undefined && owner.kept !== undefined) {
      this.#touch(owner.kept);
      return known;
    }
    const made = make();
    const memo = this.#memoOf(owner);
    memo.object = made;
    memo.objectBytes = Math.ceil(jsonBytes * objectBytesPerJsonByte) + memoOverheadBytes;
    this.#grow(memo, memo.objectBytes);
    return made;
  }

  /** Drops the memos of `owner`, which nobody will ask for again. */
  forget(owner: MemoOwner): void {
    if (owner.kept !== undefined) this.#drop(owner.kept);
  }

  /** Drops the decoded object of `owner`: it is about to be replaced, only its writer needed it. */
  forgetObject(owner: MemoOwner): void {
    const memo = owner.kept;
    if (memo?.object === undefined) return;
    if (memo.encodings.size === 0) {
      this.#drop(memo);
      return;
    }
    memo.object = undefined;
    memo.bytes -= memo.objectBytes;
    this.#memoBytes -= memo.objectBytes;
    memo.objectBytes = 0;
  }

  /** Drops memos that nobody asked for since `sinceMs`, and whatever else was idle too long. */
  expire(sinceMs: number): void {
    for (const droppable of this.#droppables) {
      if (this.nowMs - droppable.usedMs > droppable.idleMs) this.#dropWhole(droppable);
    }
    for (const memo of this.#memos) {
      if (memo.usedMs >= sinceMs) return;
      this.#drop(memo);
    }
  }

  /** Drops all memos. */
  clear(): void {
    for (const memo of this.#memos) this.#drop(memo);
  }

  /**
   * Evicts until the bound holds or nothing more may go; reports when it starts or ends to be
   * exceeded.
   */
  settle(): void {
    while (this.#total() > this.limitBytes && this.#evictOne());
    const isOver = this.#total() > this.limitBytes;
    if (isOver === this.#isOver) return;
    this.#isOver = isOver;
    this.#onOver(this.use());
  }

  use(): MemoryUse {
    return {
      limitBytes: this.limitBytes,
      stateBytes: this.#stateBytes,
      logBytes: this.#log?.bytes ?? 0,
      memoBytes: this.#memoBytes,
      indexBytes: this.#indexBytes,
      isOver: this.#isOver,
    };
  }

  #total(): number {
    return this.#stateBytes + this.#memoBytes + this.#indexBytes + (this.#log?.bytes ?? 0);
  }

  #evictOne(): boolean {
    const [droppable] = this.#droppables;
    if (droppable !== undefined) {
      this.#dropWhole(this.#longestUnused(droppable));
      return true;
    }
    const memo = this.#memos.first;
    const logMs = this.#log?.oldestMs();
    if (memo !== undefined && (logMs === undefined || memo.usedMs <= logMs)) {
      this.#drop(memo);
      return true;
    }
    if (logMs === undefined) return false;
    this.#log?.evictOldest();
    return true;
  }

  /** There are few: order is not kept. */
  #longestUnused(first: Droppable): Droppable {
    let longest = first;
    for (const one of this.#droppables) if (one.usedMs < longest.usedMs) longest = one;
    return longest;
  }

  #dropWhole(droppable: Droppable): void {
    this.release(droppable);
    droppable.drop();
  }

  #memoOf(owner: MemoOwner): Memo {
    if (owner.kept !== undefined) return owner.kept;
    const memo: Memo = {
      before: undefined,
      after: undefined,
      owner,
      encodings: new Map<string, Encoded>(),
      object: undefined,
      objectBytes: 0,
      bytes: 0,
      usedMs: this.nowMs,
    };
    owner.kept = memo;
    this.#memos.add(memo);
    return memo;
  }

  #grow(memo: Memo, bytes: number): void {
    memo.bytes += bytes;
    this.#memoBytes += bytes;
    this.#touch(memo);
    if (this.#total() > this.limitBytes) this.settle();
  }

  #touch(memo: Memo): void {
    if (this.nowMs - memo.usedMs < touchIntervalMs) return;
    memo.usedMs = this.nowMs;
    this.#memos.delete(memo);
    this.#memos.add(memo);
  }

  #drop(memo: Memo): void {
    if (!this.#memos.delete(memo)) return;
    this.#memoBytes -= memo.bytes;
    memo.owner.kept = undefined;
  }
}

/** Bytes cost what they are counted as. */
const kept = <T extends Encoded>(made: T): T =>
  made instanceof Uint8Array ? (inOwnMemory(made) as Uint8Array & T) : made;
