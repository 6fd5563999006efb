// Storage on an etcd cluster: each write is one transaction that compares the mod revision and,
// when it lost, returns what is stored in the same round trip. It never repeats a write that may
// have happened.
import type { Clock } from '../base/clock.ts';
import { systemClock } from '../base/clock.ts';
import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import { EtcdConnection, linearizableRead, write } from './connection.ts';
import type { ConnectionOptions } from './connection.ts';
import { EtcdError, isLeaseNotFound, isRequestTooLarge, tooLarge } from './etcd-error.ts';
import { toStatusError } from './etcd-error.ts';
import type { Fence } from './fence.ts';
import { LeasePool } from './lease.ts';
import { currentRevision, RangeReader, toItem } from './range.ts';
import type { RangeQuery } from './range.ts';
import { compareTarget, rangeMethod, txnMethod } from './rpc.ts';
import type { Identifier, RequestOp, TxnResponse } from './rpc.ts';
import type { Revision, Storage, StorageHealth, StorageMetrics } from './storage.ts';
import type { StoragePage, StoredItem, WatchBatch, WriteResult } from './storage.ts';
import { WatchStream } from './watch-stream.ts';

export interface EtcdStorageOptions extends ConnectionOptions {
  /** etcd's `--max-request-bytes`. */
  readonly requestBytesMax?: number;
  readonly pageBytes?: number;
  /**
   * Ask etcd for the value before each event. Off: the cache has it, and etcd would read it again.
   */
  readonly watchPrevious?: boolean;
  /**
   * A watch that hears nothing for so long asks for progress, and after as long again is given up.
   */
  readonly watchSilenceMs?: number;
  readonly clock?: Clock;
}

/** Room for the key twice, revision and framing in the size that etcd compares with its limit. */
const requestOverheadBytes = 512;

export class EtcdStorage implements Storage {
  /** For compaction.ts; everything else goes through this class. */
  readonly connection: EtcdConnection;
  readonly #ranges: RangeReader;
  readonly #leases: LeasePool;
  readonly #watches = new Set<WatchStream>();
  readonly #requestBytesMax: number;
  readonly #watchPrevious: boolean;
  readonly #watchSilenceMs: number;
  readonly #metrics: StorageMetrics | undefined;

  constructor(options: EtcdStorageOptions) {
    this.connection = new EtcdConnection(options);
    this.#ranges = new RangeReader(this.connection, options.pageBytes);
    this.#leases = new LeasePool(this.connection, options.clock ?? systemClock);
    this.#requestBytesMax = options.requestBytesMax ?? limits.etcdRequestBytesMax;
    this.#watchPrevious = options.watchPrevious ?? false;
    this.#watchSilenceMs = options.watchSilenceMs ?? 5_000;
    this.#metrics = options.metrics;
  }

  get health(): StorageHealth {
    return this.connection.health;
  }

  /** Tells when the store was replaced by another one or by its own past. */
  get fence(): Fence {
    return this.connection.fence;
  }

  async get(
    key: string,
    signal: AbortSignal,
  ): Promise<{ item: StoredItem | undefined; revision: Revision }> {
    try {
      const response = await this.connection.call(rangeMethod, { key }, linearizableRead, signal);
      const kv = response.kvs[0];
      return { item: kv && toItem(kv), revision: response.header.revision };
    } catch (error) {
      throw explain(error);
    }
  }

  list(range: RangeQuery, signal: AbortSignal): Promise<StoragePage> {
    return this.#ranges.page(range, signal);
  }

  async put(
    key: string,
    value: Uint8Array,
    options: { readonly expected: Revision; readonly ttlSeconds?: number },
    signal: AbortSignal,
  ): Promise<WriteResult> {
    const sizeBytes = value.length + 2 * key.length;
    if (sizeBytes + requestOverheadBytes > this.#requestBytesMax) {
      throw tooLarge(value.length, `${String(this.#requestBytesMax)} bytes for the whole request`);
    }
    try {
      if (options.ttlSeconds === undefined) {
        return await this.#swap(key, options.expected, { request_put: { key, value } }, signal);
      }
      return await this.#putWithLease(key, value, options.expected, options.ttlSeconds, signal);
    } catch (error) {
      if (error instanceof EtcdError && isRequestTooLarge(error)) {
        throw tooLarge(value.length, 'etcd’s --max-request-bytes, lower than this server assumes');
      }
      throw explain(error);
    }
  }

  async delete(
    key: string,
    options: { readonly expected: Revision },
    signal: AbortSignal,
  ): Promise<WriteResult> {
    try {
      return await this.#swap(key, options.expected, { request_delete_range: { key } }, signal);
    } catch (error) {
      throw explain(error);
    }
  }

  async *watch(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
  ): AsyncGenerator<WatchBatch, void, undefined> {
    const stream = new WatchStream(this.connection, {
      prefix,
      after,
      previousValues: this.#watchPrevious,
      silenceMs: this.#watchSilenceMs,
      metrics: this.#metrics,
    });
    this.#watches.add(stream);
    try {
      yield* stream.batches(signal);
    } finally {
      this.#watches.delete(stream);
    }
  }

  currentRevision(signal: AbortSignal): Promise<Revision> {
    return currentRevision(this.connection, signal);
  }

  requestProgress(): void {
    for (const stream of this.#watches) stream.requestProgress();
  }

  /** Ends every call and watch. */
  close(): void {
    this.connection.close();
  }

  /** A lease may end, or be lost with its store, between its grant and the put: then once more. */
  async #putWithLease(
    key: string,
    value: Uint8Array,
    expected: Revision,
    ttlSeconds: number,
    signal: AbortSignal,
  ): Promise<WriteResult> {
    const put = (lease: Identifier): Promise<WriteResult> =>
      this.#swap(key, expected, { request_put: { key, value, lease } }, signal);
    const lease = await this.#leases.leaseFor(ttlSeconds, signal);
    try {
      return await put(lease);
    } catch (error) {
      // etcd refused the transaction as a whole: nothing was written.
      if (!isLeaseNotFound(error)) throw error;
      await this.#leases.forget(lease);
      return put(await this.#leases.leaseFor(ttlSeconds, signal));
    }
  }

  async #swap(
    key: string,
    expected: Revision,
    change: RequestOp,
    signal: AbortSignal,
  ): Promise<WriteResult> {
    const request = {
      compare: [{ result: 0, target: compareTarget.mod, key, mod_revision: expected }] as const,
      success: [change],
      failure: [{ request_range: { key } }],
    };
    const response = await this.connection.call(txnMethod, request, write, signal);
    if (response.succeeded) return { ok: true, revision: response.header.revision };
    return { ok: false, current: currentOf(response) };
  }
}

function currentOf(response: TxnResponse): StoredItem | undefined {
  const range = response.responses[0]?.response_range;
  invariant(range, 'a lost transaction answers with what is stored');
  const kv = range.kvs[0];
  return kv && toItem(kv);
}

function explain(error: unknown): unknown {
  return error instanceof EtcdError ? toStatusError(error) : error;
}
