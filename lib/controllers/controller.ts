// The controller contract, and the work queue behind every controller: one run per key at a time;
// a key that fails or is not finished is tried again with back-off. A key is held once, so the
// objects of the cluster bound the queue.
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';

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

export interface QueueOptions {
  readonly name: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly workers?: number;
}

type Entry = {
  state: 'ready' | 'running' | 'waiting';
  /** Added while it was running: runs once more. */
  isDirty: boolean;
  failureCount: number;
  cancelWait: (() => void) | undefined;
};

export class KeyedQueue {
  readonly #options: QueueOptions;
  readonly #reconcile: Reconcile;
  readonly #entries = new Map<string, Entry>();
  readonly #ready: string[] = [];
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
      const fresh = { state: 'ready' as const, isDirty: false, failureCount: 0 };
      this.#entries.set(key, { ...fresh, cancelWait: undefined });
      this.#ready.push(key);
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
    this.#ready.length = 0;
  }

  #startWork(): void {
    const signal = this.#signal;
    if (signal === undefined) return;
    const workers = this.#options.workers ?? limits.controllerWorkers;
    while (!signal.aborted && this.#running.size < workers) {
      const key = this.#ready.shift();
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

  /** Never rejects. */
  async #work(key: string, entry: Entry, signal: AbortSignal): Promise<void> {
    let outcome: Outcome = 'again';
    let failure: unknown;
    try {
      outcome = await this.#reconcile(key, signal);
    } catch (error) {
      failure = error;
    }
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
    entry.cancelWait = this.#options.clock.after(delayMs, () => {
      this.#makeReady(key, entry);
      this.#startWork();
    });
  }

  #makeReady(key: string, entry: Entry): void {
    entry.cancelWait?.();
    entry.cancelWait = undefined;
    entry.state = 'ready';
    this.#ready.push(key);
  }

  #report(key: string, entry: Entry, error: unknown): void {
    const { log, name } = this.#options;
    const reason = error instanceof Error ? error.message : String(error);
    const fields = { controller: name, object: key, reason, failureCount: entry.failureCount + 1 };
    log.warn('a controller could not finish and tries again', fields);
  }
}
