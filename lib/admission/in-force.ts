// Rules that are objects of the API hold for every write that is committed after they were: each
// change of what they say moves one key in its own transaction, and every other write states in
// its own that the key is where it was when the write began to be judged (docs/adr/0050).
import { BeginAnew } from '../base/begin-anew.ts';
import type { Revision, Storage, Transaction, TransactionResult } from '../storage-etcd/storage.ts';
import type { Reached } from '../storage-etcd/settled-storage.ts';
import { storageThrough } from '../storage-etcd/storage-through.ts';
import { concerningRules, paramKindText, paramKindsOf } from './concerning-rules.ts';
import type { Place, RuleSnapshot, StoredPlace } from './concerning-rules.ts';
import type { Labels } from './match/selector.ts';

export interface RulesInForceOptions {
  /** Of the key that moves, in full. */
  readonly key: string;
  /** When memory saw it move; it sees the rules of that revision together with it. 0: never. */
  readonly revisionOf: (key: string) => Revision;
  /** Resolves once memory has everything that was stored at the call. */
  readonly proven: (signal: AbortSignal) => Promise<void>;
  /** Resolves once memory has the revision; it may give up, which nobody is told. */
  readonly reached: Reached;
  /** The rules that memory has. @throws StatusError 429 while memory is filled. */
  readonly rules: () => RuleSnapshot;
  /** Where a key lies; undefined: at no place that rules are for. */
  readonly placeOf: (key: string) => StoredPlace | undefined;
  /** Of a namespace, as memory has it. */
  readonly labelsOf: (namespace: string) => Labels;
  /** A request is judged anew, since the rules have changed. */
  readonly onChanged?: () => void;
}

/** The rules by which requests that begin now are judged. */
interface Moment {
  readonly revision: Revision;
  readonly rules: RuleSnapshot;
  /** What they take as parameters, as `paramKindsOf` has it. */
  readonly paramKinds: ReadonlySet<string>;
}

interface Guarded extends Moment {
  readonly history: number;
  readonly storage: Storage;
}

export class RulesInForce {
  readonly #options: RulesInForceOptions;
  readonly #guarded = new WeakMap<Storage, Guarded>();
  #last: Moment | undefined;

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
   * The same one until what rules say is changed.
   * @throws StatusError 429 while memory is filled
   */
  moment(): Moment {
    const { revision } = this;
    if (this.#last?.revision === revision) return this.#last;
    const rules = this.#options.rules();
    return (this.#last = { revision, rules, paramKinds: paramKindsOf(rules) });
  }

  /** Whether other rules may concern one of the places now. */
  haveChanged({ revision, rules }: Moment, places: readonly Place[]): boolean {
    if (revision === this.revision) return false;
    const now = this.#options.rules();
    return places.some((place) => {
      const labels = this.#options.labelsOf(place.namespace);
      return concerningRules(rules, place, labels) !== concerningRules(now, place, labels);
    });
  }

  /**
   * The storage for who begins to judge now: its writes reject with BeginAnew once other rules
   * that may concern them are in force than those that memory has at this moment. Who writes what
   * rules take as parameters is answered when memory has it.
   */
  guarded(storage: Storage): Storage {
    const { history } = storage.epoch;
    const known = this.#guarded.get(storage);
    if (known?.revision === this.revision && known.history === history) return known.storage;
    const moment = this.moment();
    const guarded = storageThrough(storage, (transaction, signal) =>
      this.#transact(storage, { ...moment, history }, transaction, signal),
    );
    this.#guarded.set(storage, { ...moment, history, storage: guarded });
    return guarded;
  }

  async #transact(
    storage: Storage,
    judged: Moment & { readonly history: number },
    transaction: Transaction,
    signal: AbortSignal,
  ): Promise<TransactionResult> {
    const { key, placeOf } = this.#options;
    for (let now: Moment = judged; ; now = this.moment()) {
      const expected = now.revision;
      // In another history the revision of the key may be that of other rules.
      if (storage.epoch.history !== judged.history) throw this.changed();
      const conditions = [...transaction.conditions, { key, expected }];
      const result = await storage.transact({ ...transaction, conditions }, signal);
      if (result.ok) {
        if (this.#hasParams(now, transaction)) await this.#reached(result.revision, signal);
        return result;
      }
      if ((result.current.at(-1)?.modRevision ?? 0) === expected) {
        return { ok: false, current: result.current.slice(0, -1) };
      }
      await this.proven(signal);
      const places = transaction.changes.map(({ key: changed, labels }) => {
        const place = placeOf(changed);
        return place && { ...place, labels };
      });
      if (
        this.haveChanged(
          judged,
          places.filter((place) => place !== undefined),
        )
      ) {
        throw this.changed();
      }
    }
  }

  /** Whether what is written may be parameters of the rules. */
  #hasParams({ paramKinds }: Moment, { changes }: Transaction): boolean {
    if (paramKinds.size === 0) return false;
    return changes.some(({ key }) =>
      this.#options.placeOf(key)?.resources.some(({ kind }) => paramKinds.has(paramKindText(kind))),
    );
  }

  /** It is written: that memory is late is no failure of the write. */
  #reached(revision: Revision, signal: AbortSignal): Promise<void> {
    return this.#options.reached(revision, signal).catch(() => undefined);
  }

  /** For a request that was judged by rules which are no longer in force. */
  changed(): BeginAnew {
    this.#options.onChanged?.();
    return new BeginAnew('the rules of admission changed during the request: try again', (signal) =>
      this.proven(signal),
    );
  }
}
