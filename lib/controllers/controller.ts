// The controller contract, and the work queue behind every controller: one run per key at a time;
// a key that fails or is not finished is tried again with back-off. A key is held once, so the
// objects of the cluster bound the queue.
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import { isLongTurn, ownTurn } from '../base/turn.ts';

export interface Controller {
  readonly name: string;
  /** Works until the signal fires; resolves when nothing of it runs any more. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * `done`: nothing to do before the key is added again. `again`: run again after the back-off.
 */
export type Outcome = 'done' | 'again';
export type Reconcile = (key: string, signal: AbortSignal) => Promise<Outcome>;

/**
 * Told of the work of every queue, by its name. Must be cheap and not throw.
 */
export interface QueueObserver {
  /** A key waits for a worker. */
  onReady(queue: string): void;
  /** A worker takes a key that is ready; the returned function is called when it is done. */
  onRun(queue: string, waitedSeconds: number): () => void;
  /** A key will be tried again after its back-off. */
  onRetry(queue: string): void;
  /** The queue ends; so many keys were still ready. */
  onEnd(queue: string, readyCount: number): void;
}

export interface QueueOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly workers?: number;
  readonly observer?: QueueObserver | undefined;
}

type Entry = {
  state: 'ready' | 'running' | 'waiting';
  readyAtMs: number;
  /** Added while it was running: runs once more. */
  isDirty: boolean;
  failureCount: number;
  cancelWait: (() => void) | undefined;
};

export class KeyedQueue {
  readonly #options: QueueOptions;
  readonly #reconcile: Reconcile;
  readonly #entries = new Map<string, Entry>();
  /** From `#readyHead` on: what was taken before is cut off from time to time. */
  #ready: string[] = [];
  #readyHead = 0;
  readonly #running = new Set<Promise<void>>();
  #signal: AbortSignal | undefined;

  constructor(options: QueueOptions, reconcile: Reconcile) {
    this.#options = options;
    this.#reconcile = reconcile;
  }

  /** Keys that are ready, running or waiting for their next try. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * Something about the key changed: it runs as soon as a worker is free, without waiting out its
   * back-off.
   */
  add(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      const fresh = { readyAtMs: 0, isDirty: false, failureCount: 0, cancelWait: undefined };
      const created: Entry = { state: 'ready', ...fresh };
      this.#entries.set(key, created);
      this.#makeReady(key, created);
    } else if (entry.state === 'running') {
      entry.isDirty = true;
    } else if (entry.state === 'waiting') {
      this.#makeReady(key, entry);
    }
    this.#startWork();
  }

  /** Works until the signal fires, then waits for what is running. */
  async run(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#signal = signal;
    this.#startWork();
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    for (const entry of this.#entries.values()) entry.cancelWait?.();
    await Promise.all(this.#running);
    this.#signal = undefined;
    this.#entries.clear();
    this.#options.observer?.onEnd(this.#options.name, this.#ready.length - this.#readyHead);
    this.#ready = [];
    this.#readyHead = 0;
  }

  #startWork(): void {
    const signal = this.#signal;
    if (signal === undefined) return;
    const workers = this.#options.workers ?? limits.controllerWorkers;
    while (!signal.aborted && this.#running.size < workers) {
      const key = this.#takeReady();
      const entry = key === undefined ? undefined : this.#entries.get(key);
      if (key === undefined || entry === undefined) return;
      entry.state = 'running';
      entry.isDirty = false;
      const work = this.#work(key, entry, signal).finally(() => {
        this.#running.delete(work);
        this.#startWork();
      });
      this.#running.add(work);
    }
  }

  /** A shift would move all the others, where there are many. */
  #takeReady(): string | undefined {
    const key = this.#ready[this.#readyHead];
    if (key === undefined) return undefined;
    this.#readyHead++;
    if (this.#readyHead * 2 > this.#ready.length) {
      this.#ready = this.#ready.slice(this.#readyHead);
      this.#readyHead = 0;
    }
    return key;
  }

  /** Never rejects. */
  async #work(key: string, entry: Entry, signal: AbortSignal): Promise<void> {
    const { clock, name, observer } = this.#options;
    // Thousands of keys at once, of many queues, are found to need nothing within a turn.
    if (isLongTurn(limits.workSliceMs)) await ownTurn();
    if (signal.aborted) return;
    const waitedSeconds = (clock.monotonicMs() - entry.readyAtMs) / 1000;
    const finished = observer?.onRun(name, waitedSeconds);
    let outcome: Outcome = 'again';
    let failure: unknown;
    try {
      outcome = await this.#reconcile(key, signal);
    } catch (error) {
      failure = error;
    }
    finished?.();
    if (signal.aborted) return;
    if (failure !== undefined) this.#report(key, entry, failure);
    if (failure === undefined && entry.isDirty) {
      if (outcome === 'done') entry.failureCount = 0;
      this.#makeReady(key, entry);
    } else if (outcome === 'done') {
      this.#entries.delete(key);
    } else {
      this.#wait(key, entry);
    }
  }

  /** A key that failed waits even when it was added meanwhile: the change may be its own. */
  #wait(key: string, entry: Entry): void {
    const { controllerRetryFirstMs: first, controllerRetryLongestMs: longest } = limits;
    const delayMs = Math.min(first * 2 ** Math.min(entry.failureCount++, 20), longest);
    entry.state = 'waiting';
    this.#options.observer?.onRetry(this.#options.name);
    entry.cancelWait = this.#options.clock.after(delayMs, () => {
      this.#makeReady(key, entry);
      this.#startWork();
    });
  }

  #makeReady(key: string, entry: Entry): void {
    entry.cancelWait?.();
    entry.cancelWait = undefined;
    entry.state = 'ready';
    entry.readyAtMs = this.#options.clock.monotonicMs();
    this.#ready.push(key);
    this.#options.observer?.onReady(this.#options.name);
  }

  #report(key: string, entry: Entry, error: unknown): void {
    const { log, name } = this.#options;
    const reason = error instanceof Error ? error.message : String(error);
    const fields = { controller: name, object: key, reason, failureCount: entry.failureCount + 1 };
    log.warn('a controller could not finish and tries again', fields);
  }
}
