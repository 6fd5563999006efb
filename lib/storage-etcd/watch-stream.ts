// A watch of a whole prefix over one gRPC stream at a time. Delivers whole revisions in order,
// resumes from the last event or progress, and throws 410 rather than leave a gap. Not shared by
// consumers.
import { limits } from '../base/limits.ts';
import { sleep } from '../base/abort.ts';
import { expired } from '../base/status.ts';
import type { EtcdConnection } from './connection.ts';
import { linearizableRead } from './connection.ts';
import { EtcdError, isCompacted, toStatusError } from './etcd-error.ts';
import type { FenceEvent } from './fence.ts';
import { currentRevision } from './range.ts';
import { rangeMethod } from './rpc.ts';
import type { Revision, StorageMetrics, WatchBatch } from './storage.ts';
import { WatchSession } from './watch-session.ts';

export interface WatchStreamOptions {
  readonly prefix: string;
  readonly after: Revision;
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
  #fenced: FenceEvent | undefined;
  /** Everything up to here has been delivered: max of the last event and the last progress. */
  #position: Revision;
  /** A version that was delivered: still found at its revision if the store is the same. */
  #witness: { readonly key: string; readonly revision: Revision } | undefined;

  constructor(connection: EtcdConnection, options: WatchStreamOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#position = options.after;
  }

  /** May be called before the stream is open, or while it is being opened again. */
  requestProgress(): void {
    if (!this.#connection.canRequestProgress) return;
    if (this.#session === undefined) this.#isProgressWanted = true;
    else this.#session.requestProgress();
  }

  /** @throws StatusError 410; `signal.reason` */
  async *batches(signal: AbortSignal): AsyncGenerator<WatchBatch, void, undefined> {
    const unsubscribe = this.#connection.fence.onFence((event) => {
      this.#fenced = event;
      this.#session?.end('the store was replaced');
    });
    try {
      let delayMs: number = limits.etcdRetryFirstMs;
      for (;;) {
        const before = this.#position;
        yield* this.#oneSession(signal);
        delayMs = this.#position > before ? limits.etcdRetryFirstMs : delayMs * 2;
        await sleep(Math.min(delayMs, limits.etcdRetryLongestMs), signal);
      }
    } finally {
      unsubscribe();
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
        this.#throwIfFenced();
        if (batch === undefined) break;
        this.#note(batch);
        yield batch;
        // The consumer may have been away for long: what was replaced meanwhile is not delivered.
        this.#throwIfFenced();
      }
      this.#options.metrics?.watchRestart?.(session.endReason);
    } finally {
      this.#session = undefined;
      session.close();
    }
  }

  #note(batch: WatchBatch): void {
    this.#position = batch.revision;
    this.#connection.fence.observeCommitted(batch.revision);
    for (let index = batch.events.length - 1; index >= 0; index--) {
      const event = batch.events[index];
      if (event?.type !== 'put') continue;
      this.#witness = { key: event.item.key, revision: event.item.modRevision };
      break;
    }
    if (batch.events.length > 0) this.#options.metrics?.watchBatch?.(batch.events.length);
  }

  /** undefined: no member now, try again. */
  async #open(signal: AbortSignal): Promise<WatchSession | undefined> {
    try {
      await this.#verifyStore(signal);
      const endpoint = await this.#connection.endpoint(Date.now() + etcdFindMemberMs, signal);
      return new WatchSession(this.#connection, endpoint, {
        prefix: this.#options.prefix,
        after: this.#position,
        previousValues: this.#options.previousValues,
        silenceMs: this.#options.silenceMs,
      });
    } catch (error) {
      this.#throwIfFenced();
      if (signal.aborted) throw signal.reason as Error;
      if (error instanceof EtcdError) throw toStatusError(error);
      if (!isUnavailable(error) || this.#connection.isClosed) throw error;
      this.#options.metrics?.watchRestart?.(String(error));
      return undefined;
    }
  }

  /**
   * etcd would take a position from its future and stay silent; so the store is looked at first.
   */
  async #verifyStore(signal: AbortSignal): Promise<void> {
    const revision = await currentRevision(this.#connection, signal);
    this.#throwIfFenced();
    if (revision < this.#position) {
      throw expired(
        `watch position ${String(this.#position)} is ahead of the store (${String(revision)})`,
      );
    }
    const witness = this.#witness;
    if (witness === undefined) return;
    try {
      const request = { key: witness.key, revision: witness.revision, keys_only: true };
      const response = await this.#connection.call(rangeMethod, request, linearizableRead, signal);
      if (response.kvs[0]?.mod_revision !== witness.revision) {
        const { cluster_id: clusterId } = response.header;
        this.#connection.fence.historyDiffers(clusterId.toString(), response.header.revision);
      }
    } catch (error) {
      // The witness is older than what etcd kept; the watch itself will tell whether its position
      // is.
      if (!isCompacted(error)) throw error;
    }
    this.#throwIfFenced();
  }

  #throwIfFenced(): void {
    const fenced = this.#fenced;
    if (fenced === undefined) return;
    throw expired(
      `the store was replaced (${fenced.reason}): revision ${String(fenced.revision)}, ` +
        `was ${String(fenced.seenRevision)}`,
    );
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 503;
}
