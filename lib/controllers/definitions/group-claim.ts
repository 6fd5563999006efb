// The claim of a group: a key beside the resources that every acceptance of names in the group
// compares and rewrites in its own transaction, so that no two of them are decided side by side.
import type { Revision, Storage } from '../../storage-etcd/storage.ts';
import type { Transaction, TransactionResult } from '../../storage-etcd/storage.ts';
import { storageThrough } from '../../storage-etcd/storage-through.ts';

/** Another replica has accepted names since: what was decided has to be decided again. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';

  constructor() {
    super('names were accepted by another replica');
  }
}

/** As this replica last saw it. A wrong guess costs one transaction, which tells the right one. */
export class GroupClaim {
  readonly #storage: Storage;
  readonly #key: string;
  readonly #value: Uint8Array;
  /** What the next write expects; 0: that there is none. */
  #revision: Revision = 0;
  #history: number;
  /** At the latest of those that were not this replica's own. */
  #foreignRevision: Revision = 0;

  /** `group`: told to who looks into the store. */
  constructor(storage: Storage, key: string, group: string) {
    this.#storage = storage;
    this.#key = key;
    this.#value = Buffer.from(group);
    this.#history = storage.epoch.history;
  }

  /**
   * Who has seen everything up to it, and remembers what it wrote itself, knows of every acceptance
   * that a write which holds comes after.
   */
  get foreignRevision(): Revision {
    return this.#foreignRevision;
  }

  /** What this replica wrote itself is remembered no more. */
  forgetOwn(): void {
    this.#foreignRevision = this.#revision;
  }

  /** The storage with the claim in each of its writes. @throws ClaimLost. */
  storage(): Storage {
    const put = { type: 'put', key: this.#key, value: this.#value } as const;
    return storageThrough(this.#storage, async (transaction, signal) => {
      const changes = [...transaction.changes, put];
      const result = await this.#transact({ ...transaction, changes }, signal);
      if (result.ok) this.#revision = result.revision;
      return result;
    });
  }

  /** For a group without definitions. @throws ClaimLost. */
  async remove(signal: AbortSignal): Promise<void> {
    const changes = [{ type: 'delete', key: this.#key }] as const;
    await this.#transact({ conditions: [], changes }, signal);
    this.#revision = 0;
  }

  async #transact(transaction: Transaction, signal: AbortSignal): Promise<TransactionResult> {
    const { history } = this.#storage.epoch;
    // A revision of another history says nothing.
    if (history !== this.#history) this.#revision = 0;
    this.#history = history;
    const conditions = [...transaction.conditions, { key: this.#key, expected: this.#revision }];
    const result = await this.#storage.transact({ ...transaction, conditions }, signal);
    if (result.ok) return result;
    const current = result.current.at(-1)?.modRevision ?? 0;
    if (current !== this.#revision) {
      this.#revision = current;
      this.#foreignRevision = current;
      throw new ClaimLost();
    }
    return { ok: false, current: result.current.slice(0, -1) };
  }
}
