// What every reader of cluster state sees: one read-only view per resource over the replica's
// ordered event log.
import type { LabelRequirement } from '../api/selector.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import type { WaitEnd } from '../base/abort.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { EncodedStored } from '../codec/stored-form.ts';
import type { Encoded } from './memory-budget.ts';
import type { Epoch, Revision, StoredItem } from '../storage-etcd/storage.ts';

/** Specification 1, Meaning of the read modes. */
export type ReadAt =
  | { readonly mode: 'any' }
  | { readonly mode: 'latest' }
  | { readonly mode: 'notOlderThan'; readonly revision: Revision }
  /** `history`: of the list that this one goes on with, where that is known. */
  | { readonly mode: 'exact'; readonly revision: Revision; readonly history?: number };

/** What reads: a watch does for the state that it begins with. */
export type ReadVerb = 'get' | 'list' | 'watch';
/** Who answers it. */
export type OnRead = (
  resource: string,
  read: ReadVerb,
  at: ReadAt['mode'],
  answerer: 'memory' | 'snapshot' | 'storage',
) => void;

export interface ItemKey {
  /** Empty for cluster-scoped resources. */
  readonly namespace: string;
  readonly name: string;
}

/** One version of one object: bytes first, the rest on demand. Shared and immutable. */
export interface Item extends ItemKey {
  /** The version that it is in: not always that of the view (`CachedResource.versions`). */
  readonly resource: ResourceInfo;
  readonly revision: Revision;
  readonly labels: Readonly<Record<string, string>>;
  /**
   * Value of a selectable field (`spec.nodeName`, …) as it is compared (`comparedText`); `''` when
   * unset. `metadata.name`/`namespace` included.
   */
  field(path: string): string;
  /**
   * Decoded at most once while kept; frozen under test; never written to. @throws StatusError 500
   * when corrupted.
   */
  object(): Readonly<ApiObject>;
  /** The same for who looks at it once: nothing is kept of what was not kept before. */
  objectOnce(): Readonly<ApiObject>;
  /** Its decoded object is kept no longer: nobody will look at it but who has it already. */
  forgetObject(): void;
  /** The object as it is stored, of an item that shows another version of it. */
  readonly stored?: (() => Readonly<ApiObject>) | undefined;
  /**
   * JSON of the object with kind, apiVersion and resourceVersion, ready to send.
   * @throws StatusError 500 that names the key when the stored bytes cannot be read.
   */
  json(): Uint8Array;
  /**
   * The same without kind and apiVersion, as an entry of a typed list (`json()` minus its first
   * members).
   */
  listJson(): Uint8Array;
  /**
   * `listJson()` without its opening brace, as a view: no copy. Framing writes the brace with the
   * separator (`,{`), so lists concatenate what is in memory.
   */
  listTail(): Uint8Array;
  /**
   * Its length, and a copy of it to `at` of a buffer with room for it: without a view. Absent where
   * it is made when it is asked for. @throws StatusError 500 as `json()`.
   */
  readonly listTailBytes?: number;
  copyListTail?(target: Buffer, at: number): void;
  /**
   * Another representation, made by `make` at most once while kept; `variant` names it (`table`,
   * `pom`, …), and nothing of another type.
   */
  encoded<T extends Encoded>(variant: string, make: (item: Item) => T): T;
  /** Bytes that `encoded` made and still keeps. */
  keptEncoding(variant: string): Uint8Array | undefined;
  /** The stored bytes cannot be decoded; `object()` and `json()` throw. */
  readonly corrupted: boolean;
}

/** What a list or watch selects. */
export interface Selection {
  /** undefined: all namespaces. */
  readonly namespace?: string;
  /** Exactly one object (single-object watches, `metadata.name=`). */
  readonly name?: string;
  /** Label selector; undefined selects everything. */
  readonly labels?: (labels: Readonly<Record<string, string>>) => boolean;
  /** Requirements that `labels` checks, as far as known: indexes narrow a search by them. */
  readonly labelTerms?: readonly LabelRequirement[];
  /**
   * Field requirements that must all hold. An `=` requirement on an indexed field is served from
   * its index.
   */
  readonly fields?: readonly FieldRequirement[];
  /**
   * Objects that cannot be read are items like others, with `corrupted` set. Without it a read that
   * may select one fails.
   */
  readonly showsUnreadable?: boolean;
}
export interface FieldRequirement {
  readonly path: string;
  readonly operator: '=' | '!=';
  /** As `Item.field` returns it. */
  readonly value: string;
}

export interface ListPage {
  /** 0: no limit. */
  readonly limitCount: number;
  /** Continue after this key (exclusive). */
  readonly after?: ItemKey;
}

export interface ListResult {
  readonly items: readonly Item[];
  readonly revision: Revision;
  /** The history of the store that the revision belongs to. */
  readonly history: number;
  /** Set when more items follow; the number is known only without selectors. */
  readonly more: boolean;
  readonly remainingCount: number | undefined;
}

/** A change of one object, of which each watcher sees what its selection makes of it. */
export interface Change {
  readonly revision: Revision;
  /** undefined: it was made. */
  readonly previous: Item | undefined;
  /** undefined: it was deleted. */
  readonly item: Item | undefined;
  /**
   * The event of a watcher whose selection matched the version before (`held`) and matches the one
   * after (`holds`); undefined: none.
   */
  eventFor(held: boolean, holds: boolean): WatchEvent | undefined;
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK';
  /**
   * The revision of the change; for DELETED the deletion's (or the leaving write's), which `item`
   * shows too.
   */
  readonly revision: Revision;
  /** undefined for BOOKMARK. For DELETED: the last selected state carrying the event's revision. */
  readonly item: Item | undefined;
  /** undefined for BOOKMARK, and for an object of the state that the watch begins with. */
  readonly change?: Change;
  /** BOOKMARK only: marks the end of the initial events of a streaming list. */
  readonly initialEventsEnd?: boolean;
  /**
   * Bytes made from this event (a watch frame), shared by every watcher that gets it; made at most
   * once while kept.
   */
  memo(variant: string, make: (event: WatchEvent) => Uint8Array): Uint8Array;
}

export type WatchStart =
  /** Only changes after this revision. */
  | { readonly from: 'revision'; readonly revision: Revision }
  /**
   * Synthetic ADDED events for the state at `at`, then changes; `bookmark`: mark the end of the
   * state.
   */
  | { readonly from: 'state'; readonly at: ReadAt; readonly bookmark: boolean };

export interface WatchOptions {
  /** Ordinary bookmarks about once a minute and when asked through `finalBookmark`. */
  readonly bookmarks: boolean;
  /** Events come at the end of the turn that they arrive in, under load too. */
  readonly isPrompt?: boolean;
}

/**
 * What follows a watch that was closed: one from its position, or, because that would not tell of
 * objects that can be read now and could not before, one that begins with the state.
 */
export type Replaced = 'goOn' | 'startOver';

/** What is told of the events that `WatchCursor.take` did not have at once. Nothing may throw. */
export interface EventReceiver {
  /** Once it fires nothing is given: `fail` is called with its reason. */
  readonly signal: AbortSignal;
  /** undefined: the cursor was closed. */
  give(events: readonly WatchEvent[] | undefined): void;
  fail(error: Error): void;
}

/** A watcher: a position in the log plus a predicate. */
export interface WatchCursor {
  /**
   * As `next`, for who writes to many: the events that are there now. undefined: the receiver is
   * told once, now or in the turn that wakes watchers, and no promise is made for it.
   */
  take(receiver: EventReceiver): readonly WatchEvent[] | undefined;
  /**
   * The next events of the selection, in order; waits for at least one. May coalesce many. Resolves
   * `undefined` when the cursor was closed.
   * @throws StatusError 410 once the log has passed the position, and at a change of an object that
   * may be selected and cannot be read, before or after the change.
   */
  next(signal: AbortSignal): Promise<readonly WatchEvent[] | undefined>;
  /**
   * Everything of the selection up to this revision has been returned by `next`; 0 while the state
   * that the watch begins with is still being returned.
   */
  readonly position: Revision;
  /**
   * It was closed because another record of the resource took the place of the one that it was
   * opened with.
   */
  readonly replaced?: Replaced | undefined;
  /**
   * Has `listener` called once, when the cursor ends, now if it has: for who does something else
   * between two calls of `next`. It takes the place of the one before; undefined: nobody is told.
   */
  onEnd?(listener: (() => void) | undefined): void;
  close(): void;
}

export interface ResourceView {
  /** `group/resource` for messages and metrics. */
  readonly name: string;
  /** The epoch of the store that `peek` shows; undefined when it shows nothing. */
  readonly epoch: Epoch | undefined;
  /** What `peek` shows is whole up to this revision of the epoch. */
  readonly shownRevision: Revision;
  get(key: ItemKey, at: ReadAt, end: WaitEnd): Promise<Item | undefined>;
  /**
   * @throws StatusError 410 (exact version gone), 504 (version not reached in time), 500 (an object
   * that may be selected cannot be read).
   */
  list(select: Selection, at: ReadAt, page: ListPage, signal: AbortSignal): Promise<ListResult>;
  /**
   * Resolves once the start position is valid. @throws StatusError 410 when it lies before the log,
   * 500 when an object of the state that it begins with cannot be read.
   */
  watch(
    select: Selection,
    start: WatchStart,
    options: WatchOptions,
    signal: AbortSignal,
  ): Promise<WatchCursor>;
  /** What memory holds now, without waiting: for policy code and controllers. */
  peek(key: ItemKey): Item | undefined;
  /**
   * All that memory holds now of a namespace, or of all, in the order of keys and without waiting;
   * of all: the same array until something changes. @throws StatusError 429 until memory is filled.
   */
  all(namespace?: string): readonly Item[];
  /**
   * The item of a value of this resource that was just read or written, as this view shows it.
   * `encoded`: what a written value was made from, which is then not parsed.
   */
  itemOf(stored: StoredItem, encoded?: EncodedStored): Item;
}
