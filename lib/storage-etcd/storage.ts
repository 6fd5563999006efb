// The storage contract: bytes under keys with etcd's revisions. It knows nothing of API objects.
// Keys are full etcd keys made by keys.ts. Byte arrays that come out are shared: never written to.

/** An etcd revision: a safe integer, asserted once at the gRPC edge. */
export type Revision = number;

/**
 * All that is read during one epoch is of one history of the store; what was read in another epoch
 * need not be. An epoch ends with the connection, and when the store was replaced or restored.
 * Compared by identity.
 */
export interface Epoch {
  /** Epochs with the same number are of one history, as far as known. Of this replica alone. */
  readonly history: number;
  /** Revisions up to this one may be of a history that ended. 0: none did. */
  readonly replacedUpTo: Revision;
}

export interface StoredItem {
  readonly key: string;
  /** May be a view into the frame of a whole page or batch: whoever keeps it copies it. */
  readonly value: Uint8Array;
  readonly modRevision: Revision;
  readonly createRevision: Revision;
}

/**
 * `ok: false` means that another writer was first; `current` is what is stored now (same round
 * trip).
 */
export type WriteResult =
  | { readonly ok: true; readonly revision: Revision }
  | { readonly ok: false; readonly current: StoredItem | undefined };

/** What a transaction depends on: the mod revision of a key, 0 when it must not exist. */
export interface Condition {
  readonly key: string;
  readonly expected: Revision;
}

/** Told to who adds conditions to transactions; nothing of it is stored. */
export interface ChangeLabels {
  /** Of the object as it will be, and as it was; absent: not known. */
  readonly labels?: readonly (Readonly<Record<string, string>> | undefined)[];
}

export type Change =
  | (ChangeLabels & {
      readonly type: 'put';
      readonly key: string;
      readonly value: Uint8Array;
      readonly ttlSeconds?: number;
    })
  /** Changes nothing where there is no such key: a condition says that there is one. */
  | (ChangeLabels & { readonly type: 'delete'; readonly key: string });

/** Everything in `changes` happens at one revision, or nothing does. No key is changed twice. */
export interface Transaction {
  readonly conditions: readonly Condition[];
  readonly changes: readonly Change[];
  /** The epoch in which the conditions were read: see `Expected`. */
  readonly epoch?: Epoch | undefined;
}

/**
 * `ok: false` means that a condition did not hold; `current` is what is stored now under the keys
 * of the conditions, in their order (same round trip).
 */
export type TransactionResult =
  | { readonly ok: true; readonly revision: Revision }
  | { readonly ok: false; readonly current: readonly (StoredItem | undefined)[] };

export interface StoragePage {
  readonly items: readonly StoredItem[];
  /** Revision that the page was read at. */
  readonly revision: Revision;
  /** Keys of the range after the last item of the page. */
  readonly remainingCount: number;
}

export type StorageEvent =
  | { readonly type: 'put'; readonly item: StoredItem; readonly previous: StoredItem | undefined }
  | {
      readonly type: 'delete';
      readonly key: string;
      readonly revision: Revision;
      readonly previous: StoredItem | undefined;
    };

/**
 * All events of whole revisions, ascending; a revision is never split over batches. No events:
 * progress.
 */
export interface WatchBatch {
  /** Everything up to and including this revision has been delivered. */
  readonly revision: Revision;
  readonly events: readonly StorageEvent[];
  /** The epoch in which it came: what was delivered before is of the same history. */
  readonly epoch: Epoch;
}

/** What a write compares before it writes. */
export interface Expected {
  /** The key's mod revision; 0: must not exist. */
  readonly expected: Revision;
  /**
   * The epoch in which `expected` was read. When it is over nothing is written, as if another
   * writer had been first: an equal revision may be that of another object. undefined: any epoch.
   */
  readonly epoch?: Epoch | undefined;
}

export interface Storage {
  /** The epoch of everything that is read from now on. */
  readonly epoch: Epoch;
  /** Linearizable read of one key. */
  get(
    key: string,
    signal: AbortSignal,
  ): Promise<{ item: StoredItem | undefined; revision: Revision }>;
  /**
   * One page of the keys that start with `prefix`, ascending, after `afterKey` when given; pinned
   * to `at` when given. `limitCount` 0 means no limit by count (pages are still bounded by bytes).
   * @throws StatusError 410 when `at` was compacted; StatusError 504 (too large) when `at` lies in
   * the future.
   */
  list(
    range: {
      readonly prefix: string;
      readonly afterKey?: string;
      readonly limitCount: number;
      readonly at?: Revision;
    },
    signal: AbortSignal,
  ): Promise<StoragePage>;
  /**
   * One transaction: writes when the key is as expected.
   * @throws StatusError 413 when the value is larger than etcd takes.
   */
  put(
    key: string,
    value: Uint8Array,
    options: Expected & ChangeLabels & { readonly ttlSeconds?: number },
    signal: AbortSignal,
  ): Promise<WriteResult>;
  /**
   * One transaction: deletes when the key is as expected. `revision` is the deletion's.
   */
  delete(key: string, options: Expected & ChangeLabels, signal: AbortSignal): Promise<WriteResult>;
  /**
   * One transaction over several keys. Watchers see its changes in one batch, at one revision, in
   * the order of `changes`.
   * @throws StatusError 413 when the values together, or their number, are more than etcd takes.
   */
  transact(transaction: Transaction, signal: AbortSignal): Promise<TransactionResult>;
  /**
   * Every change below `prefix` after revision `after`, without gaps or repeats; `after` was read
   * in `epoch` (default: the present one). Reconnects by itself. @throws StatusError 410 when the
   * position was compacted, the store was replaced (fence), or a new connection cannot show that
   * its history is still the same.
   */
  watch(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
    epoch?: Epoch,
  ): AsyncIterable<WatchBatch>;
  /**
   * The store's revision by a linearizable read: the proof that a read at this revision is current.
   */
  currentRevision(signal: AbortSignal): Promise<Revision>;
  /**
   * Asks the watch stream to report progress soon. Does nothing where `canRequestProgress` is
   * false.
   */
  requestProgress(): void;
}

/**
 * What the etcd members behind a Storage can do and are; changes on reconnect (etcd-contract 3.1).
 */
export interface StorageHealth {
  /** All members' versions allow manual progress requests; false until checked. */
  readonly canRequestProgress: boolean;
  readonly clusterId: string;
  /** Versions by endpoint, as last seen. */
  readonly versions: Readonly<Record<string, string>>;
}

/**
 * Callbacks by which the telemetry layer learns of calls to etcd. They must be cheap and not throw.
 */
export interface StorageMetrics {
  /** One unary call, with all its tries; `operation` is the gRPC method (`KV/Txn`). */
  call(operation: string, durationSeconds: number, isOk: boolean): void;
  /** One batch handed to a watcher. */
  watchBatch?(eventCount: number): void;
  /** A watch stream ended and is opened again; `reason` is for logs, not for labels. */
  watchRestart?(reason: string): void;
}
