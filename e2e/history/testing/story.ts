// A small language for hand-written histories: each call adds one record, and time moves on by
// itself. Records overlap only where a test says so with `during`.

import type {
  Fields,
  GetRecord,
  History,
  Instant,
  ListRecord,
  ObjectState,
  ReadAt,
  Revision,
  WatchEvent,
  WatchRecord,
  WatchStart,
  WriteOutcome,
  WriteRecord,
} from '../history.ts';

interface When {
  readonly invokedAt?: Instant;
  readonly returnedAt?: Instant;
}

type Shown = readonly ObjectState[];

export class Story {
  readonly #writes: WriteRecord[] = [];
  readonly #gets: GetRecord[] = [];
  readonly #lists: ListRecord[] = [];
  readonly #watches: WatchRecord[] = [];
  #now = 0;
  #lastRevision: Revision | undefined;

  get now(): Instant {
    return (this.#now += 1);
  }

  /** A state as answers show it; `write` is both the write's id and what it left in the object. */
  state(
    name: string,
    revision: Revision,
    write: string,
    more: Fields & { uid?: string } = {},
  ): ObjectState {
    const { uid = `uid-${name}`, ...fields } = more;
    return { name, uid, revision, data: { write, ...fields } };
  }

  #write(
    record: Pick<WriteRecord, 'verb' | 'id' | 'name' | 'outcome'> & Partial<WriteRecord>,
  ): void {
    const invokedAt = record.invokedAt ?? this.now;
    const returnedAt = record.returnedAt ?? this.now;
    const rest = { client: 0, server: 0, expected: {}, sent: {} };
    this.#writes.push({ ...rest, ...record, invokedAt, returnedAt });
  }

  create(state: ObjectState, when: When = {}): this {
    return this.applied('create', state, { sent: state.data, ...when });
  }

  update(state: ObjectState, over: Revision, when: When = {}): this {
    return this.applied('update', state, {
      sent: state.data,
      expected: { revision: over },
      ...when,
    });
  }

  applied(
    verb: 'create' | 'update' | 'patch',
    state: ObjectState,
    more: Partial<WriteRecord> = {},
  ): this {
    const id = state.data['write'] ?? '';
    this.#write({ verb, id, name: state.name, outcome: { kind: 'applied', state }, ...more });
    return this;
  }

  delete(
    state: Pick<ObjectState, 'name' | 'uid'>,
    id: string,
    when: Partial<WriteRecord> = {},
  ): this {
    const outcome = { kind: 'applied', uid: state.uid } as const;
    this.#write({ verb: 'delete', id, name: state.name, outcome, ...when });
    return this;
  }

  failed(
    verb: WriteRecord['verb'],
    name: string,
    id: string,
    outcome: WriteOutcome,
    more: Partial<WriteRecord> = {},
  ): this {
    this.#write({ verb, name, id, outcome, sent: { write: id }, ...more });
    return this;
  }

  get(
    name: string,
    shown: ObjectState | 'absent',
    at: ReadAt = { mode: 'latest' },
    when: When = {},
  ): this {
    const outcome =
      shown === 'absent'
        ? ({ kind: 'absent' } as const)
        : ({ kind: 'found', state: shown } as const);
    const invokedAt = when.invokedAt ?? this.now;
    const returnedAt = when.returnedAt ?? this.now;
    this.#gets.push({ client: 0, server: 0, name, at, outcome, invokedAt, returnedAt });
    return this;
  }

  /** One array of items for each page. */
  list(
    revision: Revision,
    pages: readonly Shown[],
    at: ReadAt = { mode: 'latest' },
    ending: ListRecord['ending'] = { kind: 'complete' },
  ): this {
    const listed = pages.map((items) => {
      const invokedAt = this.now;
      return { server: 0, invokedAt, returnedAt: this.now, revision, items };
    });
    this.#lists.push({ client: 0, at, pages: listed, ending });
    return this;
  }

  watch(
    start: WatchStart,
    events: readonly (readonly [
      type: WatchEvent['type'],
      shown: ObjectState | Revision,
      at?: Instant,
    ])[],
    more: Partial<WatchRecord> = {},
  ): this {
    const invokedAt = this.now;
    const seen = events.map(([type, shown, at = this.now]): WatchEvent => {
      if (typeof shown === 'number') {
        const endsInitialEvents = start.kind === 'streamed';
        return { type: 'BOOKMARK', revision: shown, endsInitialEvents, at };
      }
      if (type === 'BOOKMARK') throw new Error('a bookmark is told by its revision');
      return { type, state: shown, at };
    });
    const ending = { kind: 'cut', why: 'the test', at: this.now } as const;
    this.#watches.push({ watcher: 0, server: 0, start, invokedAt, ending, ...more, events: seen });
    return this;
  }

  endsAt(revision: Revision): this {
    this.#lastRevision = revision;
    return this;
  }

  get history(): History {
    return {
      seed: 'hand-written',
      namespace: 'test',
      writes: this.#writes,
      gets: this.#gets,
      lists: this.#lists,
      watches: this.#watches,
      ...(this.#lastRevision === undefined ? {} : { lastRevision: this.#lastRevision }),
    };
  }
}
