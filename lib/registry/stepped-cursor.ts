// A cursor whose batches pass an asynchronous step: an event counts as returned only after it, and
// not at all when the cursor ends before.
import type { EventReceiver, WatchCursor, WatchEvent } from '../cacher/resource-view.ts';
import type { Revision } from '../storage-etcd/storage.ts';

/** Gives what is returned in place of a batch. Called again with a batch for which it threw. */
export type CursorStep = (
  events: readonly WatchEvent[],
  signal: AbortSignal,
) => Promise<readonly WatchEvent[]>;

export class SteppedCursor implements WatchCursor {
  readonly #cursor: WatchCursor;
  readonly #step: CursorStep;
  /** Taken from the cursor and not returned. */
  #taken: readonly WatchEvent[] | undefined;
  /** Before what is taken. */
  #position: Revision;

  constructor(cursor: WatchCursor, step: CursorStep) {
    this.#cursor = cursor;
    this.#step = step;
    this.#position = cursor.position;
  }

  async next(signal: AbortSignal): Promise<readonly WatchEvent[] | undefined> {
    for (;;) {
      this.#taken ??= await this.#cursor.next(signal);
      if (this.#taken === undefined) return undefined;
      const events = await this.#stepped(this.#taken, signal);
      if (events === undefined) return this.#cursor.next(signal);
      this.#taken = undefined;
      this.#position = this.#cursor.position;
      if (events.length > 0) return events;
    }
  }

  take(receiver: EventReceiver): undefined {
    this.next(receiver.signal).then(
      (events) => receiver.give(events),
      (error: unknown) => receiver.fail(error as Error),
    );
  }

  get position(): Revision {
    return this.#taken === undefined ? this.#cursor.position : this.#position;
  }

  onEnd(listener: (() => void) | undefined): void {
    this.#cursor.onEnd?.(listener);
  }

  close(): void {
    this.#cursor.close();
  }

  /** undefined: the cursor ended meanwhile, and the step is waited for no longer. */
  async #stepped(
    events: readonly WatchEvent[],
    signal: AbortSignal,
  ): Promise<readonly WatchEvent[] | undefined> {
    const { promise: ended, resolve } = Promise.withResolvers<undefined>();
    this.onEnd(() => resolve(undefined));
    try {
      return await Promise.race([ended, this.#step(events, signal)]);
    } finally {
      this.onEnd(undefined);
    }
  }
}
