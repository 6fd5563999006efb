// The record of a run: every request and stream event that clients of one namespace saw, with times
// of one clock. Plain JSON, so a history can be kept and checked again. It holds no judgement; that
// is checker.ts.

/** A resourceVersion as a comparable integer (etcd's revision behind it). */
export type Revision = number;

/** Milliseconds of the recording process. No two records of one process share an instant. */
export type Instant = number;

export type Fields = Readonly<Record<string, string>>;

/** An object as one answer showed it. `data.write` names the write that made this version. */
export interface ObjectState {
  readonly name: string;
  readonly uid: string;
  readonly revision: Revision;
  readonly data: Fields;
}

export type ReadAt =
  | { readonly mode: 'latest' }
  | { readonly mode: 'any' }
  | { readonly mode: 'notOlderThan'; readonly revision: Revision }
  | { readonly mode: 'exact'; readonly revision: Revision };

/** `unknown`: the answer was lost, late or a server error, so the write may have been applied. */
export type WriteOutcome =
  | { readonly kind: 'applied'; readonly state?: ObjectState; readonly uid?: string }
  | { readonly kind: 'refused'; readonly why: 'conflict' | 'exists' | 'absent' | 'other' }
  | { readonly kind: 'unknown'; readonly why: string };

export interface WriteRecord {
  readonly verb: 'create' | 'update' | 'patch' | 'delete';
  /** Unique over the run; written into the object as `data.write` (deletes write nothing). */
  readonly id: string;
  readonly client: number;
  readonly server: number;
  readonly name: string;
  /** What the client asked the server to compare with before writing. */
  readonly expected: { readonly revision?: Revision; readonly uid?: string };
  /** The whole data of a create or update, the merged fields of a patch, nothing of a delete. */
  readonly sent: Fields;
  readonly invokedAt: Instant;
  readonly returnedAt: Instant;
  readonly outcome: WriteOutcome;
}

export interface GetRecord {
  readonly client: number;
  readonly server: number;
  readonly name: string;
  readonly at: ReadAt;
  readonly invokedAt: Instant;
  readonly returnedAt: Instant;
  readonly outcome:
    | { readonly kind: 'found'; readonly state: ObjectState }
    | { readonly kind: 'absent' }
    | { readonly kind: 'failed'; readonly why: string };
}

export interface ListPage {
  readonly server: number;
  readonly invokedAt: Instant;
  readonly returnedAt: Instant;
  readonly revision: Revision;
  readonly items: readonly ObjectState[];
}

/** One list, whole (one page) or followed through its continue tokens. */
export interface ListRecord {
  readonly client: number;
  readonly at: ReadAt;
  readonly limit?: number;
  readonly pages: readonly ListPage[];
  readonly ending:
    | { readonly kind: 'complete' }
    | { readonly kind: 'gone'; readonly at: Instant }
    | { readonly kind: 'failed'; readonly why: string };
}

/**
 * `after`: from a revision; `state`: initial ADDED events, then changes; `streamed`:
 * sendInitialEvents.
 */
export type WatchStart =
  | { readonly kind: 'after'; readonly revision: Revision }
  | { readonly kind: 'state'; readonly at: ReadAt }
  | { readonly kind: 'streamed'; readonly at: ReadAt };

export type WatchEvent =
  | {
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
      readonly state: ObjectState;
      readonly at: Instant;
    }
  | {
      readonly type: 'BOOKMARK';
      readonly revision: Revision;
      readonly endsInitialEvents: boolean;
      readonly at: Instant;
    };

/** One stream. A watcher that resumes leaves several records with the same `watcher` number. */
export interface WatchRecord {
  readonly watcher: number;
  readonly server: number;
  readonly start: WatchStart;
  readonly invokedAt: Instant;
  readonly events: readonly WatchEvent[];
  readonly ending: {
    readonly kind: 'cut' | 'closed' | 'gone' | 'failed' | 'stopped';
    readonly why: string;
    readonly at: Instant;
  };
}

export interface History {
  readonly seed: string;
  readonly namespace: string;
  readonly writes: readonly WriteRecord[];
  readonly gets: readonly GetRecord[];
  readonly lists: readonly ListRecord[];
  readonly watches: readonly WatchRecord[];
  /** The last write of the run, which every watcher was given time to see; absent if it failed. */
  readonly lastRevision?: Revision;
}

/** The field of `data` that names the write which made a version. */
export const WRITE_FIELD = 'write';

export type AnomalyKind =
  | 'contradiction' // two answers give one version of an object different contents
  | 'phantom' // a version or deletion that no write can have made
  | 'refused-but-applied' // a write answered as refused was applied all the same
  | 'applied-twice' // one write, two versions
  | 'lost-update' // a write that overlooked the version it replaced
  | 'write-order' // revisions disagree with the order in real time
  | 'stale-read' // a read that shows less than it promised
  | 'unfounded-refusal' // conflict, exists or absent although nothing can have caused it
  | 'torn-list' // a list that is no state of history at its resourceVersion
  | 'list-revision' // a list whose resourceVersion is not the one asked for
  | 'gone' // 410 for a revision that must still be there
  | 'missing-event'
  | 'duplicate-event'
  | 'reordered-event'
  | 'wrong-event' // type or content of an event disagrees with history
  | 'torn-initial-events' // initial events that are no state of history
  | 'late-event'
  | 'stalled-watch'; // a watcher that never saw the end of the run

export interface Anomaly {
  readonly kind: AnomalyKind;
  readonly message: string;
}
