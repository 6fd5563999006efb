// Compacts etcd's history from one replica at a time, by kube-apiserver's protocol: the version of
// a shared key is a clock, and the replica that advances it compacts to the revision of one
// interval before.
import { sleep } from '../base/abort.ts';
import type { EtcdConnection } from './connection.ts';
import { linearizableRead, unorderedWrite, write } from './connection.ts';
import { isCompacted } from './etcd-error.ts';
import { compactMethod, compareTarget, rangeMethod, txnMethod } from './rpc.ts';
import type { Revision } from './storage.ts';

/**
 * Outside every prefix: history belongs to the whole cluster. The value is the compacted revision.
 */
const compactKey = 'compact_rev_key';

export interface CompactorOptions {
  readonly intervalMs: number;
  /** What became of each round of `run`. */
  readonly onRound?: (result: CompactionRound) => void;
  /** Failures are reported here, and the next round tries again. */
  readonly onError?: (error: unknown) => void;
}

/**
 * `started`: nothing is an interval old yet; `learned`: another replica has advanced the clock.
 */
type CompactionRound = 'compacted' | 'started' | 'learned';

export class Compactor {
  readonly #connection: EtcdConnection;
  readonly #options: CompactorOptions;
  /** The key's version as last seen: the shared clock. */
  #time = 0;
  /** The store's revision at that time: what the next round may compact to. */
  #revision: Revision = 0;
  #compactedRevision: Revision = 0;

  constructor(connection: EtcdConnection, options: CompactorOptions) {
    this.#connection = connection;
    this.#options = options;
    connection.fence.onEpoch((fenced) => {
      if (fenced === undefined) return;
      this.#time = 0;
      this.#revision = 0;
      this.#compactedRevision = 0;
    });
  }

  /** History up to here is gone, as far as this replica knows. */
  get compactedRevision(): Revision {
    return this.#compactedRevision;
  }

  /** One round an interval until the signal fires; then resolves. An interval of 0 means never. */
  async run(signal: AbortSignal): Promise<void> {
    if (this.#options.intervalMs === 0) return;
    while (!signal.aborted) {
      try {
        const result = await this.runOnce(signal);
        this.#options.onRound?.(result);
      } catch (error) {
        if (!signal.aborted) this.#options.onError?.(error);
      }
      await sleep(this.#options.intervalMs, signal).catch(() => undefined);
    }
  }

  /** One round: advances the clock and compacts, or learns that another replica has. */
  async runOnce(signal: AbortSignal): Promise<CompactionRound> {
    const target = this.#revision;
    const swap = {
      compare: [
        { result: 0, target: compareTarget.version, key: compactKey, version: this.#time },
      ] as const,
      success: [{ request_put: { key: compactKey, value: Buffer.from(String(target)) } }],
      failure: [{ request_range: { key: compactKey } }],
    };
    const response = await this.#connection.call(txnMethod, swap, write, signal);
    this.#revision = response.header.revision;
    if (!response.succeeded) {
      const current = response.responses[0]?.response_range?.kvs[0];
      this.#time = current?.version ?? 0;
      this.#learn(current?.value);
      return 'learned';
    }
    this.#time++;
    if (target === 0) return 'started';
    await this.#compact(target, signal);
    return 'compacted';
  }

  /** Reads the revision that the cluster was compacted to, and compacts nothing. */
  async refresh(signal: AbortSignal): Promise<Revision> {
    const request = { key: compactKey };
    const response = await this.#connection.call(rangeMethod, request, linearizableRead, signal);
    this.#learn(response.kvs[0]?.value);
    return this.#compactedRevision;
  }

  async #compact(revision: Revision, signal: AbortSignal): Promise<void> {
    try {
      await this.#connection.call(compactMethod, { revision }, unorderedWrite, signal);
    } catch (error) {
      // Compacted further by hand: nothing is left to do.
      if (!isCompacted(error)) throw error;
    }
    this.#compactedRevision = Math.max(this.#compactedRevision, revision);
  }

  #learn(value: Uint8Array | undefined): void {
    const revision = Number(Buffer.from(value ?? []).toString('latin1'));
    if (Number.isSafeInteger(revision)) {
      this.#compactedRevision = Math.max(this.#compactedRevision, revision);
    }
  }
}
