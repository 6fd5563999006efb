// Rules that are objects of the API hold for every write that is committed after they were: each
// change of what they say moves one key in its own transaction, and every other write states in
// its own that the key is where it was when the write began to be judged (docs/adr/0050).
import { BeginAnew } from '../base/begin-anew.ts';
import { fencedStorage } from '../storage-etcd/fenced-storage.ts';
import type { Revision, Storage } from '../storage-etcd/storage.ts';

export interface RulesInForceOptions {
  /** Of the key that moves, in full. */
  readonly key: string;
  /** When memory saw it move; it sees the rules of that revision together with it. 0: never. */
  readonly revisionOf: (key: string) => Revision;
  /** Resolves once memory has everything that was stored at the call. */
  readonly proven: (signal: AbortSignal) => Promise<void>;
  /** A request is judged anew, since the rules have changed. */
  readonly onChanged?: () => void;
}

interface Guarded {
  readonly revision: Revision;
  readonly history: number;
  readonly storage: Storage;
}

export class RulesInForce {
  readonly #options: RulesInForceOptions;
  readonly #guarded = new WeakMap<Storage, Guarded>();

  constructor(options: RulesInForceOptions) {
    this.#options = options;
  }

  get key(): string {
    return this.#options.key;
  }

  /** Of the rules that memory has. */
  get revision(): Revision {
    return this.#options.revisionOf(this.#options.key);
  }

  proven(signal: AbortSignal): Promise<void> {
    return this.#options.proven(signal);
  }

  /**
   * The storage for who begins to judge now: its writes reject with BeginAnew once other rules are
   * in force than those that memory has at this moment.
   */
  guarded(storage: Storage): Storage {
    const { key, revision } = this;
    const { history } = storage.epoch;
    const known = this.#guarded.get(storage);
    if (known?.revision === revision && known.history === history) return known.storage;
    const fence = { key, expected: revision };
    const ended = (): never => {
      throw this.changed();
    };
    const made = fencedStorage(storage, { fence, history, ended });
    this.#guarded.set(storage, { revision, history, storage: made });
    return made;
  }

  /** For a request that was judged by rules which are no longer in force. */
  changed(): BeginAnew {
    this.#options.onChanged?.();
    return new BeginAnew('the rules of admission changed during the request: try again', (signal) =>
      this.proven(signal),
    );
  }
}
