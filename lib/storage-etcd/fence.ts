// Notices that the store behind us is not the one we have read from: another cluster id, or a
// revision below one already seen (a restored backup). Tells its subscribers before anything newer
// is returned.
import type { Revision } from './storage.ts';

export interface FenceEvent {
  readonly reason: 'clusterChanged' | 'revisionWentBack' | 'historyDiffers';
  readonly clusterId: string;
  /** Of the store as it is now. */
  readonly revision: Revision;
  /** The highest revision seen of the store as it was. */
  readonly seenRevision: Revision;
}

export class Fence {
  readonly #subscribers = new Set<(event: FenceEvent) => void>();
  #clusterId = '';
  #seenRevision: Revision = 0;

  /** Empty until the first answer. */
  get clusterId(): string {
    return this.#clusterId;
  }

  /** The highest committed revision that any answer has shown. */
  get seenRevision(): Revision {
    return this.#seenRevision;
  }

  /** Calls `run` at each replacement of the store, before the answer that showed it is returned. */
  onFence(run: (event: FenceEvent) => void): () => void {
    this.#subscribers.add(run);
    return () => {
      this.#subscribers.delete(run);
    };
  }

  /**
   * Takes note of a linearizable answer to a request that was sent when `seenAtSend` was the
   * highest revision seen: it cannot be lower. Answers overtake each other, so the value at sending
   * counts.
   */
  observe(clusterId: string, revision: Revision, seenAtSend: Revision): void {
    if (this.#clusterId !== '' && clusterId !== this.#clusterId) {
      this.#trip('clusterChanged', clusterId, revision);
    } else if (revision < seenAtSend && seenAtSend <= this.#seenRevision) {
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

  /** A version that was read before is not there any more, at its own revision. */
  historyDiffers(clusterId: string, revision: Revision): void {
    this.#trip('historyDiffers', clusterId, revision);
  }

  #trip(reason: FenceEvent['reason'], clusterId: string, revision: Revision): void {
    const event: FenceEvent = { reason, clusterId, revision, seenRevision: this.#seenRevision };
    this.#clusterId = clusterId;
    this.#seenRevision = revision;
    for (const run of this.#subscribers) run(event);
  }
}
