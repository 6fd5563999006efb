// Keeps memory equal to the store (client-go's reflector): lists the whole prefix at one revision,
// then watches it. After 410, or when the store was replaced, it lists again, and nothing is served
// until then. Knows the epoch of the store that memory is of, and probes a silent stream.
import { limits } from '../base/limits.ts';
import { abortable, sleep } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { invariant } from '../base/invariant.ts';
import type { Logger } from '../base/log.ts';
import { expired, StatusError } from '../base/status.ts';
import { pagesOf } from '../storage-etcd/range.ts';
import type { Epoch, Revision, Storage, StoredItem } from '../storage-etcd/storage.ts';
import type { WatchBatch } from '../storage-etcd/storage.ts';
import { isLongTurn, nextTurn } from '../base/turn.ts';
import { Yielder } from '../base/yielder.ts';

/** Batches between two looks at the clock. */
const batchesPerQuestion = 16;

/** What the reflector fills: the state in memory. */
export interface ReflectorSink {
  /** Revision up to which the sink holds everything. */
  revision(): Revision;
  /** The state is lost: readers and watchers must not see it any longer. */
  clear(reason: StatusError): void;
  load(item: StoredItem): void;
  /** Everything loaded is the state at this revision. */
  begin(revision: Revision): void;
  apply(batch: WatchBatch): void;
}

export interface ReflectorOptions {
  readonly storage: Storage;
  /** etcd prefix that ends with `/`. */
  readonly prefix: string;
  readonly sink: ReflectorSink;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly canRequestProgress: () => boolean;
  /** Written on an etcd that cannot be asked for progress: its event proves the stream alive. */
  readonly canaryKey: string;
  /** Silence of the watch stream after which progress is requested. */
  readonly probeIntervalMs: number;
  /** Silence after which the stream counts as dead. */
  readonly livenessTimeoutMs: number;
}

export type ReflectorState = 'loading' | 'following' | 'stopped';

const { canaryTtlSeconds } = limits;

export class Reflector {
  readonly #options: ReflectorOptions;
  #state: ReflectorState = 'loading';
  #ready = Promise.withResolvers<undefined>();
  /** The epoch in which memory was filled, or over which the stream last proved its history. */
  #epoch: Epoch;
  /** Resolves when `#epoch` changes, or memory is dropped. */
  #turned = Promise.withResolvers<undefined>();
  #movedMs: number;
  #probedMs = 0;
  #loadCount = 0;
  #canaryRevision: Revision = 0;
  #lastError: string | undefined;

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#epoch = options.storage.epoch;
    this.#movedMs = options.clock.monotonicMs();
  }

  get state(): ReflectorState {
    return this.#state;
  }

  /** Memory is filled, and as far as known the store still has that history. */
  get isReady(): boolean {
    return (
      this.#state === 'following' && this.#epoch.history === this.#options.storage.epoch.history
    );
  }

  /**
   * Memory is of the epoch that reads of the store have now. False from the loss of the connection
   * until the watch stream has shown the same history over the next one.
   */
  get isCurrent(): boolean {
    return this.#state === 'following' && this.#epoch === this.#options.storage.epoch;
  }

  /** The epoch that memory is of; undefined while it is empty. */
  get epoch(): Epoch | undefined {
    return this.isReady ? this.#epoch : undefined;
  }

  /** A page of the list or a batch of the watch has come from the store lately. */
  get isMoving(): boolean {
    return this.silentMs <= this.#options.livenessTimeoutMs;
  }

  /** The watch stream has delivered events or progress lately. */
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

  /** Resolves when memory is filled. */
  ready(signal: AbortSignal): Promise<void> {
    // The watch stream reports the same, in a later turn of the event loop.
    if (this.#state === 'following' && !this.isReady) this.#lose(expired('the store was replaced'));
    return abortable(this.#ready.promise, signal);
  }

  /** Resolves when `isCurrent`. */
  async current(signal: AbortSignal): Promise<void> {
    while (!this.isCurrent) {
      await this.ready(signal);
      if (!this.isCurrent) await abortable(this.#turned.promise, signal);
    }
  }

  /** Until the signal fires. */
  async run(signal: AbortSignal): Promise<void> {
    let delayMs: number = limits.reflectorRetryFirstMs;
    while (!signal.aborted) {
      try {
        await this.#load(signal);
        delayMs = limits.reflectorRetryFirstMs;
        await this.#follow(signal);
      } catch (error) {
        if (signal.aborted) break;
        this.#lose(error);
        await sleep(delayMs, signal).catch(() => undefined);
        delayMs = Math.min(delayMs * 2, limits.reflectorRetryLongestMs);
      }
    }
    this.#state = 'stopped';
  }

  /** Called about once a second: asks a silent stream for progress. */
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
    const yielder = new Yielder();
    let revision: Revision | undefined;
    let count = 0;
    for await (const page of pagesOf(storage, { prefix }, signal)) {
      this.#movedMs = clock.monotonicMs();
      revision ??= page.revision;
      for (const item of page.items) {
        sink.load(item);
        if (yielder.isDue()) await yielder.yield();
      }
      if (storage.epoch !== epoch) throw expired('the connection to the store was lost');
      count += page.items.length;
    }
    invariant(revision !== undefined, 'a range has a first page');
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
   * Watches until 410. After any other failure the watch resumes from where it ended.
   */
  async #follow(signal: AbortSignal): Promise<void> {
    const { storage, prefix, sink } = this.#options;
    let delayMs: number = limits.reflectorRetryFirstMs;
    for (;;) {
      try {
        for await (const batch of storage.watch(prefix, sink.revision(), signal, this.#epoch)) {
          await this.#take(batch);
          delayMs = limits.reflectorRetryFirstMs;
        }
        signal.throwIfAborted();
      } catch (error) {
        if (signal.aborted) throw signal.reason as Error;
        if (error instanceof StatusError && error.code === 410) throw error;
        this.#note('the watch of the store failed and is opened again', error);
      }
      await sleep(delayMs, signal);
      delayMs = Math.min(delayMs * 2, limits.reflectorRetryLongestMs);
    }
  }

  #batchCount = 0;

  async #take(batch: WatchBatch): Promise<void> {
    const { sink, clock } = this.#options;
    if (batch.revision < sink.revision()) throw expired('the store went back in time');
    this.#movedMs = clock.monotonicMs();
    sink.apply(batch);
    if (this.#epoch !== batch.epoch) this.#turn(batch.epoch);
    // Reads wait for events: they keep no place in the queue of long work.
    const isAsked = ++this.#batchCount % batchesPerQuestion === 0;
    if (isAsked && isLongTurn(limits.workSliceMs)) await nextTurn();
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
    this.#options.sink.clear(expired(`the cache was dropped and is filled again: ${reason}`));
    this.#note('the cache is filled again', error);
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
