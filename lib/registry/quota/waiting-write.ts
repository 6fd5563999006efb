// One write that quotas limit, from when its object is ready until it is answered: once, by whoever
// is first. Who asked and gave up is answered at once; the transaction that it is in goes on.
import type { QuotaWrite } from '../../admission/quota/charges.ts';
import type { Storage, StoredItem } from '../../storage-etcd/storage.ts';
import type { Company, OwnChange, Together } from '../companions.ts';
import type { CurrentState } from './joint-transaction.ts';

export interface WaitingParts {
  /** What quotas are told of it. */
  readonly write: QuotaWrite;
  readonly own: OwnChange;
  readonly company: Omit<Company, 'commit'>;
  readonly storage: Storage;
  readonly signal: AbortSignal;
}

export class WaitingWrite {
  readonly write: QuotaWrite;
  readonly own: OwnChange;
  readonly company: Omit<Company, 'commit'>;
  readonly storage: Storage;
  readonly answer: Promise<Together>;
  readonly #signal: AbortSignal;
  readonly #settle: {
    readonly resolve: (together: Together) => void;
    readonly reject: (error: unknown) => void;
  };
  #isOver = false;
  /** A transaction with others failed: it shares none any more. */
  isSolitary = false;

  constructor({ write, own, company, storage, signal }: WaitingParts) {
    this.write = write;
    this.own = own;
    this.company = company;
    this.storage = storage;
    this.#signal = signal;
    const { promise, resolve, reject } = Promise.withResolvers<Together>();
    this.answer = promise;
    this.#settle = { resolve, reject };
    if (signal.aborted) this.#giveUp();
    else signal.addEventListener('abort', this.#giveUp, { once: true });
  }

  /** It is answered: whatever is left of it to do, nobody waits for that. */
  get isOver(): boolean {
    return this.#isOver;
  }

  end(together: Together): void {
    if (this.#close()) this.#settle.resolve(together);
  }

  fail(error: unknown): void {
    if (this.#close()) this.#settle.reject(error);
  }

  /** Another one was first: at its object, or at what is written beside it. */
  overtaken(current: StoredItem | undefined): void {
    this.end({ ok: false, current, isCompany: false });
  }

  /**
   * Whether it may be tried again after a transaction that did not happen: nothing of its own had
   * changed. `isEpochOver`: of the epoch that the transaction was sent in.
   */
  async survives(found: CurrentState, { isEpochOver }: { isEpochOver: boolean }): Promise<boolean> {
    const { own, company } = this;
    const { key } = own.change;
    const isLost = own.epoch !== undefined && isEpochOver;
    if (isLost || !found.holds({ key, expected: own.expected })) {
      this.overtaken(found.of(key));
      return false;
    }
    if (company.conditions.every((condition) => found.holds(condition))) return !this.#isOver;
    try {
      await company.lost(company.conditions.map((one) => found.of(one.key)));
      this.end({ ok: false, current: found.of(key), isCompany: true });
    } catch (error) {
      this.fail(error);
    }
    return false;
  }

  /**
   * Quotas refuse it. Who finds that another one has written its object is told so instead: of a
   * name that is taken, whatever else holds for it.
   */
  async refuse(error: unknown): Promise<void> {
    const { own } = this;
    await this.#lookUp((current) => {
      if ((current?.modRevision ?? 0) !== own.expected) this.overtaken(current);
      else this.fail(error);
    });
  }

  /** What it started from was read in an epoch that is over. */
  async startOver(): Promise<void> {
    await this.#lookUp((current) => {
      this.overtaken(current);
    });
  }

  async #lookUp(use: (current: StoredItem | undefined) => void): Promise<void> {
    try {
      use((await this.storage.get(this.own.change.key, this.#signal)).item);
    } catch (failure) {
      this.fail(failure);
    }
  }

  readonly #giveUp = (): void => {
    this.fail(this.#signal.reason);
  };

  #close(): boolean {
    if (this.#isOver) return false;
    this.#isOver = true;
    this.#signal.removeEventListener('abort', this.#giveUp);
    return true;
  }
}
