// Collects the records of a run and gives out instants, each one later than the one before.
// Reads the few members of API objects that a history keeps.

import type {
  GetRecord,
  History,
  Instant,
  ListRecord,
  ObjectState,
  Revision,
  WatchRecord,
  WriteRecord,
} from './history.ts';

/** Objects of the run have names that start so; whatever else lives in the namespace is ignored. */
export const NAME_PREFIX = 'h-';

export class Recorder {
  readonly writes: WriteRecord[] = [];
  readonly gets: GetRecord[] = [];
  readonly lists: ListRecord[] = [];
  readonly watches: WatchRecord[] = [];
  #last: Instant = 0;
  /** The highest revision any client has seen, to ask for "not older than". */
  highest: Revision = 0;

  /** Real time in milliseconds; two calls never return the same, so all records are ordered. */
  now(): Instant {
    this.#last = Math.max(performance.now(), this.#last + 1e-6);
    return this.#last;
  }

  saw(revision: Revision): void {
    if (revision > this.highest) this.highest = revision;
  }

  history(run: { seed: string; namespace: string; lastRevision: Revision }): History {
    const { writes, gets, lists, watches } = this;
    return { ...run, writes, gets, lists, watches };
  }
}

interface ApiObject {
  readonly metadata?: {
    readonly name?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly continue?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly data?: Readonly<Record<string, string>>;
  readonly items?: readonly ApiObject[];
  readonly details?: { readonly uid?: string };
  readonly reason?: string;
  readonly code?: number;
}

/** Bodies of servers are read with care: every member may be missing. */
export function asObject(body: unknown): ApiObject {
  return typeof body === 'object' && body !== null ? body : {};
}

export function revisionIn(object: ApiObject): Revision {
  const revision = Number(object.metadata?.resourceVersion);
  if (Number.isSafeInteger(revision)) return revision;
  throw new Error(`not a comparable resourceVersion: ${object.metadata?.resourceVersion}`);
}

export function stateIn(object: ApiObject): ObjectState {
  const { name = '', uid = '', annotations = {} } = object.metadata ?? {};
  return { name, uid, revision: revisionIn(object), data: object.data ?? annotations };
}

export function isOfRun(object: ApiObject): boolean {
  return object.metadata?.name?.startsWith(NAME_PREFIX) ?? false;
}
