// Turns at one object: writers that lost a race for it write one after the other, in the order in
// which they came, each from what the one before it stored. A courtesy between the requests of this
// replica: what is right is decided by the store's transaction alone.
import { abortable } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import { tooManyRequests } from '../base/status.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { Epoch } from '../storage-etcd/storage.ts';

/** A stored object that a write may be based on. */
export interface Found {
  readonly item: Item;
  /** Began before it was read or written. */
  readonly epoch: Epoch;
}

export interface WriteTurn {
  /** What the writer before stored; undefined: nothing is known. */
  readonly newest: Found | undefined;
  /** Must be called once. `written`: the object as it is stored now, when the writer stored it. */
  end(written: Found | undefined): void;
}

interface Line {
  /** Resolves when everybody who is in the line now has left it. */
  end: Promise<unknown>;
  length: number;
  newest: Found | undefined;
}

export class WriteTurns {
  readonly #clock: Clock;
  /** By etcd key; only those with somebody in them. */
  readonly #lines = new Map<string, Line>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether others have a turn at the object, or wait for one. */
  isAwaited(etcdKey: string): boolean {
    return this.#lines.has(etcdKey);
  }

  /**
   * Waits for everybody who came before, but not longer than `limits.writeTurnWaitMs`: one slow
   * writer does not hold the others. @throws StatusError 429 when too many wait already.
   */
  async take(etcdKey: string, signal: AbortSignal): Promise<WriteTurn> {
    const line = this.#lines.get(etcdKey) ?? {
      end: Promise.resolve(),
      length: 0,
      newest: undefined,
    };
    if (line.length >= limits.writersInLineMax) {
      throw tooManyRequests('too many requests write this object at once', 1);
    }
    this.#lines.set(etcdKey, line);
    const before = line.end;
    const left = Promise.withResolvers<undefined>();
    line.end = before.then(() => left.promise);
    line.length++;
    const leave = (): void => {
      if (--line.length === 0) this.#lines.delete(etcdKey);
      left.resolve(undefined);
    };
    try {
      await this.#waitFor(before, signal);
    } catch (error) {
      leave();
      throw error;
    }
    return {
      newest: line.newest,
      end: (written) => {
        line.newest = written ?? line.newest;
        leave();
      },
    };
  }

  async #waitFor(before: Promise<unknown>, signal: AbortSignal): Promise<void> {
    const patience = Promise.withResolvers<undefined>();
    const stop = this.#clock.after(limits.writeTurnWaitMs, () => {
      patience.resolve(undefined);
    });
    await abortable(Promise.race([before, patience.promise]), signal).finally(stop);
  }
}
