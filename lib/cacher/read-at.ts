// Consistent reads from memory: one linearizable read of etcd (the proof) tells the revision that
// the log must reach, and is shared by all reads that came before it was sent. Where progress
// cannot be requested and the log lags, reads go to etcd instead.
import { limits } from '../base/limits.ts';
import { abortable } from '../base/abort.ts';
import type { WaitEnd } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { requestTimeout, tooLargeResourceVersion } from '../base/status.ts';
import { nextTurn } from '../base/turn.ts';
import { replaced } from '../storage-etcd/range.ts';
import type { Revision, Storage } from '../storage-etcd/storage.ts';
import type { EventLog } from './event-log.ts';
import type { ReadAt } from './resource-view.ts';

/** What may answer a read. */
export type Answerer = 'memory' | 'storage';

export interface ReadGateOptions {
  readonly storage: Storage;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly canRequestProgress: () => boolean;
  /** The log follows the store: false while it is filled. */
  readonly isReady: () => boolean;
  /** The log is of the epoch that reads of the store have now. */
  readonly isCurrent: () => boolean;
  /** Resolves when `isCurrent`. */
  readonly current: (signal: AbortSignal) => Promise<void>;
  readonly futureRevisionWaitMs: number;
  /** Count of proofs asked of the store, for metrics. */
  readonly onProof?: (readerCount: number) => void;
}

const { proofTimeoutMs } = limits;
const ignore = (): void => undefined;

interface Proof {
  readerCount: number;
  readonly answer: Promise<Answerer>;
}

export class ReadGate {
  readonly #options: ReadGateOptions;
  /** The proof that is not sent yet: readers join it. */
  #next: Proof | undefined;
  #sent: Promise<unknown> = Promise.resolve();
  #stopAsking: () => void = ignore;

  constructor(options: ReadGateOptions) {
    this.#options = options;
  }

  /** A consistent read: memory answers once it has everything that was written before the call. */
  latest(end: WaitEnd): Promise<Answerer> {
    if (!this.#options.isReady()) return Promise.resolve('storage');
    this.#next ??= this.#schedule();
    this.#next.readerCount++;
    return abortable(this.#next.answer, end);
  }

  /** @throws StatusError 504 when the revision does not come in time, 410 when it never will. */
  async notOlderThan(revision: Revision, signal: AbortSignal): Promise<Answerer> {
    const { log, futureRevisionWaitMs, isReady, canRequestProgress } = this.#options;
    if (!isReady()) return 'storage';
    if (log.revision >= revision) return 'memory';
    this.requireReachable(revision);
    const asksProgress = canRequestProgress();
    const quickMs = asksProgress ? futureRevisionWaitMs : limits.logLagWaitUnaskedMs;
    if (await this.#reached(revision, quickMs, signal)) return 'memory';
    if (!asksProgress) {
      const proven = await abortable(this.#currentRevision(), signal);
      if (proven >= revision) return 'storage';
      if (await this.#reached(revision, futureRevisionWaitMs, signal)) return 'memory';
    }
    throw tooLargeResourceVersion(revision, log.revision);
  }

  /** @throws StatusError 410 when the revision is of a history that ended before it came again. */
  requireReachable(revision: Revision): void {
    const { log, storage } = this.#options;
    if (revision > log.revision && revision <= storage.epoch.replacedUpTo) throw replaced(revision);
  }

  /**
   * What etcd answered while memory could not must be as new as asked for, and of the history that
   * was asked for.
   * @throws StatusError 504, 410
   */
  requireAsked(at: ReadAt, revision: Revision): void {
    if (at.mode === 'exact') this.requireSameHistory(at);
    if (at.mode !== 'notOlderThan' || revision >= at.revision) return;
    if (at.revision <= this.#options.storage.epoch.replacedUpTo) throw replaced(at.revision);
    throw tooLargeResourceVersion(at.revision, revision);
  }

  /** @throws StatusError 410 when the exact state asked for may be one of a history that ended. */
  requireSameHistory({ revision, history }: ReadAt & { readonly mode: 'exact' }): void {
    const { epoch } = this.#options.storage;
    if (revision <= epoch.replacedUpTo && history !== epoch.history) throw replaced(revision);
  }

  /**
   * One proof at a time: readers that come while it is on its way share the next one. So do those
   * that the last one answered and that ask again: else readers would form two groups that wait by
   * turns, with twice as many proofs.
   */
  #schedule(): Proof {
    const before = this.#sent;
    const answer = before.then(afterTurns).then(() => {
      const proof = this.#next;
      this.#next = undefined;
      this.#options.onProof?.(proof?.readerCount ?? 0);
      const revision = this.#currentRevision();
      this.#sent = revision.then(ignore, ignore);
      return this.#answerAt(revision);
    });
    answer.catch(ignore);
    return { readerCount: 0, answer };
  }

  async #answerAt(proven: Promise<Revision>): Promise<Answerer> {
    const { isCurrent, canRequestProgress } = this.#options;
    const revision = await proven;
    const waitMs = canRequestProgress() ? limits.logLagWaitMs : limits.logLagWaitUnaskedMs;
    if (!isCurrent() && !(await this.#untilCurrent(waitMs))) return 'storage';
    const isReached = await this.#reached(revision, waitMs, new AbortController().signal);
    return isReached ? 'memory' : 'storage';
  }

  #currentRevision(): Promise<Revision> {
    const { storage } = this.#options;
    return this.#limited(proofTimeoutMs, (signal) => storage.currentRevision(signal));
  }

  /** Waits until the log is current after a new connection; false when the time is over. */
  #untilCurrent(waitMs: number): Promise<boolean> {
    return this.#limited(waitMs, this.#options.current).then(
      () => true,
      () => false,
    );
  }

  /** @throws StatusError 504 when the time is over. */
  #limited<T>(limitMs: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const limit = new AbortController();
    const stop = this.#options.clock.after(limitMs, () => {
      limit.abort(requestTimeout('etcd did not answer in time'));
    });
    return run(limit.signal).finally(stop);
  }

  /** Waits for the log, asking for progress where that is possible; false when the time is over. */
  async #reached(revision: Revision, waitMs: number, signal: AbortSignal): Promise<boolean> {
    const { log, clock } = this.#options;
    if (log.revision >= revision) return true;
    const { done, cancel } = log.reached(revision);
    const timeout = Promise.withResolvers<false>();
    const stop = clock.after(waitMs, () => {
      timeout.resolve(false);
    });
    this.#askProgress(limits.progressRetryFirstMs);
    try {
      const reached = done.then(() => true);
      return await abortable(Promise.race([reached, timeout.promise]), signal);
    } finally {
      stop();
      cancel();
    }
  }

  /**
   * Asks for each new wait at once; repeats while somebody waits, in case that an answer was
   * dropped.
   */
  #askProgress(retryMs: number): void {
    const { storage, log, clock, canRequestProgress } = this.#options;
    this.#stopAsking();
    if (!canRequestProgress() || !log.isAwaited) return;
    storage.requestProgress();
    this.#stopAsking = clock.after(retryMs, () => {
      this.#askProgress(Math.min(retryMs * 2, limits.progressRetryLongestMs));
    });
  }
}

/**
 * Turns of the loop between the answers of one proof and the next proof: what clients ask as soon
 * as they were answered is read in them (measured; without requests such a turn takes no time).
 */
const turnsBeforeProof = 3;

async function afterTurns(): Promise<void> {
  for (let turn = 0; turn < turnsBeforeProof; turn++) await nextTurn();
}
