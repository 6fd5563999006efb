// Keeps memory equal to the store: lists the whole prefix at one revision, then follows one watch.
// A lost position or a replaced store begins anew; until then nothing old is served. Knows in which
// epoch of the store memory holds, and proves that the stream moves.
import { limits } from '../base/limits.ts';
import { abortable, sleep } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { expired, StatusError } from '../base/status.ts';
import type { Epoch, Revision, Storage, StoredItem } from '../storage-etcd/storage.ts';
import type { WatchBatch } from '../storage-etcd/storage.ts';
import { Breather } from './breather.ts';

/** Who takes what the feed reads. */
export interface FeedSink {
  /** Revision up to which the sink holds everything. */
  revision(): Revision;
  /** The state is lost: readers and watchers must not see it any longer. */
  clear(reason: StatusError): void;
  load(item: StoredItem): void;
  /** Everything loaded is the state at this revision. */
  begin(revision: Revision): void;
  apply(batch: WatchBatch): void;
}

export interface FeedOptions {
  readonly storage: Storage;
  /** etcd prefix that ends with `/`. */
  readonly prefix: string;
  readonly sink: FeedSink;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly canRequestProgress: () => boolean;
  /** Written where progress cannot be requested: its event proves that the stream moves. */
  readonly canaryKey: string;
  /** Silence after which the stream is asked to move. */
  readonly probeIntervalMs: number;
  /** Silence after which the stream counts as dead. */
  readonly livenessTimeoutMs: number;
}

export type FeedState = 'loading' | 'following' | 'stopped';

const { canaryTtlSeconds } = limits;

export class Feed {
  readonly #options: FeedOptions;
  #state: FeedState = 'loading';
  #ready = Promise.withResolvers<undefined>();
  /** In which memory was filled, or the stream last proven. */
  #epoch: Epoch;
  /** Resolves when memory gets another epoch, or is dropped. */
  #turned = Promise.withResolvers<undefined>();
  #movedMs: number;
  #probedMs = 0;
  #loadCount = 0;
  #canaryRevision: Revision = 0;
  #lastError: string | undefined;

  constructor(options: FeedOptions) {
    this.#options = options;
    this.#epoch = options.storage.epoch;
    this.#movedMs = options.clock.monotonicMs();
  }

  get state(): FeedState {
    return this.#state;
  }

  /** Memory is filled, and nothing shows that it is of a history that ended. */
  get isReady(): boolean {
    return (
      this.#state === 'following' && this.#epoch.history === this.#options.storage.epoch.history
    );
  }

  /**
   * What memory holds is of the store as it is read now. False from the loss of the connection
   * until the stream has shown the same history over the next one.
   */
  get isCurrent(): boolean {
    return this.#state === 'following' && this.#epoch === this.#options.storage.epoch;
  }

  /** The epoch that memory is of; undefined when there is nothing in it. */
  get epoch(): Epoch | undefined {
    return this.isReady ? this.#epoch : undefined;
  }

  /** Something has come from the store lately, be it another page of what memory is filled with. */
  get isMoving(): boolean {
    return this.silentMs <= this.#options.livenessTimeoutMs;
  }

  /** The stream has moved lately: what memory holds is not frozen. */
  get isLive(): boolean {
    return this.isReady && this.isMoving;
  }

  get silentMs(): number {
    return this.#options.clock.monotonicMs() - this.#movedMs;
  }

  /** How often the whole prefix was listed. */
  get loadCount(): number {
    return this.#loadCount;
  }

  get lastError(): string | undefined {
    return this.#lastError;
  }

  /** Resolves when memory is filled and followed. */
  ready(signal: AbortSignal): Promise<void> {
    // The stream will say so too, in a later turn.
    if (this.#state === 'following' && !this.isReady) this.#lose(expired('the store was replaced'));
    return abortable(this.#ready.promise, signal);
  }

  /** Resolves when memory is of the store as it is read now. */
  async current(signal: AbortSignal): Promise<void> {
    while (!this.isCurrent) {
      await this.ready(signal);
      if (!this.isCurrent) await abortable(this.#turned.promise, signal);
    }
  }

  /** Until the signal fires. */
  async run(signal: AbortSignal): Promise<void> {
    let delayMs: number = limits.feedRetryFirstMs;
    while (!signal.aborted) {
      try {
        await this.#load(signal);
        delayMs = limits.feedRetryFirstMs;
        await this.#follow(signal);
      } catch (error) {
        if (signal.aborted) break;
        this.#lose(error);
        await sleep(delayMs, signal).catch(() => undefined);
        delayMs = Math.min(delayMs * 2, limits.feedRetryLongestMs);
      }
    }
    this.#state = 'stopped';
  }

  /** Called about once a second: makes a silent stream move. */
  probe(signal: AbortSignal): void {
    const { clock, probeIntervalMs, canRequestProgress, storage } = this.#options;
    const now = clock.monotonicMs();
    if (!this.isReady || now - Math.max(this.#movedMs, this.#probedMs) < probeIntervalMs) return;
    this.#probedMs = now;
    if (canRequestProgress()) storage.requestProgress();
    else void this.#writeCanary(signal);
  }

  async #writeCanary(signal: AbortSignal): Promise<void> {
    const { storage, canaryKey, clock } = this.#options;
    const value = Buffer.from(JSON.stringify({ canary: clock.nowMs() }));
    const limit = AbortSignal.any([signal, AbortSignal.timeout(this.#options.livenessTimeoutMs)]);
    const options = { expected: this.#canaryRevision, ttlSeconds: canaryTtlSeconds };
    try {
      const result = await storage.put(canaryKey, value, options, limit);
      this.#canaryRevision = result.ok ? result.revision : (result.current?.modRevision ?? 0);
    } catch (error) {
      if (!signal.aborted) this.#note('the canary was not written', error);
    }
  }

  async #load(signal: AbortSignal): Promise<void> {
    const { storage, prefix, sink, logger, clock } = this.#options;
    const { epoch } = storage;
    const startedMs = clock.monotonicMs();
    const breather = new Breather();
    let revision: Revision | undefined;
    let afterKey: string | undefined;
    let count = 0;
    for (;;) {
      const page = await storage.list(
        {
          prefix,
          limitCount: 0,
          ...(afterKey === undefined ? {} : { afterKey }),
          ...(revision === undefined ? {} : { at: revision }),
        },
        signal,
      );
      this.#movedMs = clock.monotonicMs();
      revision ??= page.revision;
      for (const item of page.items) {
        sink.load(item);
        if (breather.isDue()) await breather.breathe();
      }
      if (storage.epoch !== epoch) throw expired('the connection to the store was lost');
      count += page.items.length;
      afterKey = page.items.at(-1)?.key;
      if (page.remainingCount === 0 || afterKey === undefined) break;
    }
    sink.begin(revision);
    this.#loadCount++;
    this.#movedMs = clock.monotonicMs();
    this.#state = 'following';
    this.#lastError = undefined;
    this.#turn(epoch);
    this.#ready.resolve(undefined);
    const tookMs = Math.round(clock.monotonicMs() - startedMs);
    logger.info('cache filled', { keyCount: count, revision, tookMs });
  }

  /**
   * Until the position is lost. Other failures of the stream are tried again from where it ended.
   */
  async #follow(signal: AbortSignal): Promise<void> {
    const { storage, prefix, sink } = this.#options;
    let delayMs: number = limits.feedRetryFirstMs;
    for (;;) {
      try {
        for await (const batch of storage.watch(prefix, sink.revision(), signal, this.#epoch)) {
          await this.#take(batch);
          delayMs = limits.feedRetryFirstMs;
        }
        signal.throwIfAborted();
      } catch (error) {
        if (signal.aborted) throw signal.reason as Error;
        if (error instanceof StatusError && error.code === 410) throw error;
        this.#note('the watch of the store failed and is opened again', error);
      }
      await sleep(delayMs, signal);
      delayMs = Math.min(delayMs * 2, limits.feedRetryLongestMs);
    }
  }

  readonly #breather = new Breather();

  async #take(batch: WatchBatch): Promise<void> {
    const { sink, clock } = this.#options;
    if (batch.revision < sink.revision()) throw expired('the store went back in time');
    this.#movedMs = clock.monotonicMs();
    sink.apply(batch);
    if (this.#epoch !== batch.epoch) this.#turn(batch.epoch);
    if (this.#breather.isDue()) await this.#breather.breathe();
  }

  #turn(epoch: Epoch): void {
    this.#epoch = epoch;
    this.#turned.resolve(undefined);
    this.#turned = Promise.withResolvers();
  }

  #lose(error: unknown): void {
    if (this.#state === 'following') this.#ready = Promise.withResolvers();
    this.#state = 'loading';
    this.#turn(this.#epoch);
    const reason = error instanceof StatusError && error.code === 410 ? error.message : 'unknown';
    this.#options.sink.clear(expired(`the cache was dropped and is filled anew: ${reason}`));
    this.#note('the cache is filled anew', error);
  }

  #note(message: string, error: unknown): void {
    this.#lastError = error instanceof Error ? error.message : String(error);
    const cause: unknown = error instanceof Error ? error.cause : undefined;
    this.#options.logger.warn(message, {
      error: this.#lastError,
      ...(cause instanceof Error ? { cause: cause.message } : {}),
    });
  }
}
