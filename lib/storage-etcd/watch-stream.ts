// A watch of a whole prefix over one gRPC stream at a time. Delivers whole revisions in order,
// resumes where the last stream ended once the next has shown the same history there, and throws
// 410 rather than leave a gap. Not shared by consumers.
import { limits } from '../base/limits.ts';
import { sleep } from '../base/abort.ts';
import { expired } from '../base/status.ts';
import type { EtcdConnection } from './connection.ts';
import { effectOf, EtcdError, toStatusError } from './etcd-error.ts';
import { currentRevision } from './range.ts';
import type { Epoch, Revision, StorageMetrics, WatchBatch } from './storage.ts';
import { WatchSession } from './watch-session.ts';
import { WatchTail } from './watch-tail.ts';

export interface WatchStreamOptions {
  readonly prefix: string;
  readonly after: Revision;
  /** The epoch in which `after` was read. */
  readonly epoch: Epoch;
  readonly previousValues: boolean;
  readonly silenceMs: number;
  readonly metrics: StorageMetrics | undefined;
}

const { etcdFindMemberMs } = limits;

export class WatchStream {
  readonly #connection: EtcdConnection;
  readonly #options: WatchStreamOptions;
  #session: WatchSession | undefined;
  #isProgressWanted = false;
  /** Everything up to here has been delivered: max of the last event and the last progress. */
  #position: Revision;
  /** The epoch in which the position was read, or last proven to be of the same history. */
  #epoch: Epoch;
  readonly #tail = new WatchTail();

  constructor(connection: EtcdConnection, options: WatchStreamOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#position = options.after;
    this.#epoch = options.epoch;
  }

  /** May be called before the stream is open, or while it is being opened again. */
  requestProgress(): void {
    if (!this.#connection.canRequestProgress) return;
    if (this.#session === undefined) this.#isProgressWanted = true;
    else this.#session.requestProgress();
  }

  /** @throws StatusError 410; `signal.reason` */
  async *batches(signal: AbortSignal): AsyncGenerator<WatchBatch, void, undefined> {
    let delayMs: number = limits.etcdRetryFirstMs;
    for (;;) {
      const before = this.#position;
      yield* this.#oneSession(signal);
      delayMs = this.#position > before ? limits.etcdRetryFirstMs : delayMs * 2;
      await sleep(Math.min(delayMs, limits.etcdRetryLongestMs), signal);
    }
  }

  async *#oneSession(signal: AbortSignal): AsyncGenerator<WatchBatch, void, undefined> {
    const session = await this.#open(signal);
    if (session === undefined) return;
    this.#session = session;
    if (this.#isProgressWanted) session.requestProgress();
    this.#isProgressWanted = false;
    try {
      for (;;) {
        const batch = await session.next(signal);
        this.#requireHistory();
        if (batch === undefined) break;
        this.#note(batch);
        yield batch;
        // The consumer may have taken long: of a store that was replaced nothing is delivered.
        this.#requireHistory();
      }
      this.#options.metrics?.watchRestart?.(session.endReason);
    } finally {
      this.#session = undefined;
      session.close();
    }
  }

  #note(batch: WatchBatch): void {
    this.#position = batch.revision;
    this.#epoch = batch.epoch;
    this.#connection.fence.observeCommitted(batch.revision);
    if (batch.events.length > 0) this.#options.metrics?.watchBatch?.(batch.events.length);
  }

  /** undefined: no member now, try again. */
  async #open(signal: AbortSignal): Promise<WatchSession | undefined> {
    const { fence } = this.#connection;
    const { epoch } = fence;
    try {
      this.#requireHistory();
      if (epoch !== this.#epoch && this.#tail.isEmpty) {
        const position = String(this.#position);
        throw expired(`nothing shows that watch position ${position} is of the same history`);
      }
      await this.#requireReached(signal);
      const endpoint = await this.#connection.endpoint(Date.now() + etcdFindMemberMs, signal);
      // The stream is of the store whose revision was read.
      if (fence.epoch !== epoch) return undefined;
      return new WatchSession(this.#connection, endpoint, {
        prefix: this.#options.prefix,
        after: this.#position,
        epoch,
        tail: this.#tail,
        previousValues: this.#options.previousValues,
        silenceMs: this.#options.silenceMs,
      });
    } catch (error) {
      this.#requireHistory();
      if (signal.aborted) throw signal.reason as Error;
      const isRefusal = error instanceof EtcdError && effectOf(error) === 'final';
      if (isRefusal) throw toStatusError(error);
      if (!isUnavailable(error) || this.#connection.isClosed) throw error;
      this.#options.metrics?.watchRestart?.(String(error));
      return undefined;
    }
  }

  /**
   * etcd would accept a position in its future and stay silent: so its revision is read first.
   */
  async #requireReached(signal: AbortSignal): Promise<void> {
    const revision = await currentRevision(this.#connection, signal);
    if (revision >= this.#position) return;
    this.#requireHistory();
    throw expired(
      `watch position ${String(this.#position)} is ahead of the store (${String(revision)})`,
    );
  }

  /** @throws StatusError 410 */
  #requireHistory(): void {
    const { epoch, lastFence } = this.#connection.fence;
    if (epoch.history === this.#epoch.history) return;
    throw expired(
      `the store was replaced (${lastFence?.reason ?? ''}): ` +
        `revision ${String(lastFence?.revision)}, was ${String(lastFence?.seenRevision)}`,
    );
  }
}

function isUnavailable(error: unknown): boolean {
  if (error instanceof EtcdError) return true;
  return error instanceof Error && 'code' in error && error.code === 503;
}
