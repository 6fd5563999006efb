// Detects that the store was replaced (another cluster, a restored backup) and begins a new epoch
// before anything of the new history is returned. It compares cluster id and revisions of answers
// and watches; watch-tail.ts compares the events of a watch.
import { randomInt } from 'node:crypto';
import type { Epoch, Revision } from './storage.ts';

export interface FenceEvent {
  readonly reason: 'clusterChanged' | 'revisionWentBack' | 'historyDiffers';
  readonly clusterId: string;
  /** The revision of the store as it is now. */
  readonly revision: Revision;
  /** The highest revision that was seen of the store before. */
  readonly seenRevision: Revision;
}

/** What was known of the store when a request was sent. */
export interface Sent {
  readonly epoch: Epoch;
  readonly seenRevision: Revision;
}

/** Called when an epoch begins: `fenced` tells that and why the history is another one. */
type Listener = (fenced: FenceEvent | undefined) => void;

const historyMax = 2 ** 47;

export class Fence {
  readonly #listeners = new Set<Listener>();
  #epoch: Epoch = { history: randomInt(historyMax), replacedUpTo: 0 };
  #lastFence: FenceEvent | undefined;
  #clusterId = '';
  #seenRevision: Revision = 0;

  get epoch(): Epoch {
    return this.#epoch;
  }

  /** Why the present history began; undefined for the first. */
  get lastFence(): FenceEvent | undefined {
    return this.#lastFence;
  }

  /** Empty until the first answer. */
  get clusterId(): string {
    return this.#clusterId;
  }

  /** The highest committed revision that any answer has shown. */
  get seenRevision(): Revision {
    return this.#seenRevision;
  }

  /** Calls `run` at each new epoch, before an answer of it is returned. */
  onEpoch(run: Listener): () => void {
    this.#listeners.add(run);
    return () => {
      this.#listeners.delete(run);
    };
  }

  /** The connection is gone: whether the next one shows the same history is to be seen. */
  disconnected(): void {
    this.#begin({ ...this.#epoch }, undefined);
  }

  /**
   * Takes note of a linearizable answer: it cannot be lower than what was seen when the request was
   * sent. Answers overtake each other, so that counts; one that was sent before the history ended
   * tells nothing of the next.
   */
  observe(clusterId: string, revision: Revision, sent: Sent): void {
    if (sent.epoch.history !== this.#epoch.history) return;
    if (this.#clusterId !== '' && clusterId !== this.#clusterId) {
      this.#trip('clusterChanged', clusterId, revision);
    } else if (revision < sent.seenRevision) {
      this.#trip('revisionWentBack', clusterId, revision);
    } else {
      this.#clusterId = clusterId;
      this.#seenRevision = Math.max(this.#seenRevision, revision);
    }
  }

  /** Takes note of a committed revision shown by an event or by progress. */
  observeCommitted(revision: Revision): void {
    this.#seenRevision = Math.max(this.#seenRevision, revision);
  }

  /** What the store has at `revision` is not what was read there before. */
  historyDiffers(revision: Revision): void {
    this.#trip('historyDiffers', this.#clusterId, revision);
  }

  #trip(reason: FenceEvent['reason'], clusterId: string, revision: Revision): void {
    const event: FenceEvent = { reason, clusterId, revision, seenRevision: this.#seenRevision };
    // What is below the store's revision was shown to nobody as part of the new history.
    const replacedUpTo = Math.max(this.#epoch.replacedUpTo, this.#seenRevision, revision - 1);
    this.#clusterId = clusterId;
    this.#seenRevision = revision;
    this.#lastFence = event;
    this.#begin({ history: randomInt(historyMax), replacedUpTo }, event);
  }

  #begin(epoch: Epoch, fenced: FenceEvent | undefined): void {
    this.#epoch = epoch;
    for (const run of this.#listeners) run(fenced);
  }
}
