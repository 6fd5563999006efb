// Storage on an etcd cluster: each write is one transaction that compares mod revisions and, when
// it lost, returns what is stored in the same round trip. One that may have happened is repeated
// only where it cannot happen twice (ADR 0066).
import type { Clock } from '../base/clock.ts';
import { systemClock } from '../base/clock.ts';
import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import { requestEntityTooLarge } from '../base/status.ts';
import { EpochEnded, EtcdConnection, linearizableRead, write } from './connection.ts';
import type { ConnectionOptions } from './connection.ts';
import { EtcdError, isLeaseNotFound, isRequestTooLarge, tooLarge } from './etcd-error.ts';
import { toStatusError, wasPerhapsDropped } from './etcd-error.ts';
import type { Fence } from './fence.ts';
import { LeasePool } from './lease.ts';
import { currentRevision, RangeReader, toItem } from './range.ts';
import type { RangeQuery } from './range.ts';
import { compareTarget, rangeMethod, txnMethod } from './rpc.ts';
import type { Identifier, RequestOp, TxnRequest, TxnResponse } from './rpc.ts';
import type { Change, Epoch, Expected, Revision, Storage, StorageHealth } from './storage.ts';
import type { StorageMetrics, StoragePage, StoredItem, Transaction } from './storage.ts';
import type { TransactionResult, WatchBatch, WriteResult } from './storage.ts';
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
   * A watch that is silent for so long asks for progress, and after as long again is given up.
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
    this.#watchSilenceMs = options.watchSilenceMs ?? limits.etcdWatchSilenceMs;
    this.#metrics = options.metrics;
  }

  get health(): StorageHealth {
    return this.connection.health;
  }

  get epoch(): Epoch {
    return this.connection.fence.epoch;
  }

  /** Called when the store was replaced: by another cluster, or by a restored backup. */
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
    options: Expected & { readonly ttlSeconds?: number },
    signal: AbortSignal,
  ): Promise<WriteResult> {
    const { ttlSeconds } = options;
    const lifetime = ttlSeconds === undefined ? {} : { ttlSeconds };
    return this.#write(options, { type: 'put', key, value, ...lifetime }, signal);
  }

  async delete(key: string, expected: Expected, signal: AbortSignal): Promise<WriteResult> {
    return this.#write(expected, { type: 'delete', key }, signal);
  }

  async transact(transaction: Transaction, signal: AbortSignal): Promise<TransactionResult> {
    const response = await this.#commit(transaction, signal);
    if (response.succeeded) return { ok: true, revision: response.header.revision };
    return { ok: false, current: transaction.conditions.map((_, at) => currentOf(response, at)) };
  }

  async *watch(
    prefix: string,
    after: Revision,
    signal: AbortSignal,
    epoch: Epoch = this.epoch,
  ): AsyncGenerator<WatchBatch, void, undefined> {
    const stream = new WatchStream(this.connection, {
      prefix,
      after,
      epoch,
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

  async #write(
    { expected, epoch }: Expected,
    change: Change,
    signal: AbortSignal,
  ): Promise<WriteResult> {
    const conditions = [{ key: change.key, expected }];
    const transaction = { conditions, changes: [change], epoch };
    const response = await this.#commit(transaction, signal);
    if (response.succeeded) return { ok: true, revision: response.header.revision };
    return { ok: false, current: currentOf(response, 0) };
  }

  /** @throws StatusError 413 when it is more than etcd takes, 504 when its outcome is unknown. */
  async #commit(transaction: Transaction, signal: AbortSignal): Promise<TxnResponse> {
    checkSize(transaction, this.#requestBytesMax);
    const leases = new Map<number, Identifier>();
    try {
      await this.#grantLeases(transaction, leases, signal);
      return await this.#send(transaction, leases, signal);
    } catch (error) {
      // A lease may end, or be lost with its store, between its grant and the put: then once more.
      // etcd refused the transaction as a whole, so nothing was written.
      if (leases.size > 0 && isLeaseNotFound(error)) {
        for (const lease of leases.values()) await this.#leases.forget(lease);
        leases.clear();
        await this.#grantLeases(transaction, leases, signal);
        return await this.#send(transaction, leases, signal);
      }
      if (error instanceof EtcdError && isRequestTooLarge(error)) {
        const limit = 'etcd’s --max-request-bytes, lower than this server assumes';
        throw tooLarge(valueBytes(transaction), limit);
      }
      throw explain(error);
    }
  }

  /** Leases for the puts with a time to live, by its seconds. */
  async #grantLeases(
    { changes }: Transaction,
    leases: Map<number, Identifier>,
    signal: AbortSignal,
  ): Promise<void> {
    for (const change of changes) {
      const ttlSeconds = change.type === 'put' ? change.ttlSeconds : undefined;
      if (ttlSeconds === undefined || leases.has(ttlSeconds)) continue;
      leases.set(ttlSeconds, await this.#leases.leaseFor(ttlSeconds, signal));
    }
  }

  async #send(
    { conditions, changes, epoch }: Transaction,
    leases: ReadonlyMap<number, Identifier>,
    signal: AbortSignal,
  ): Promise<TxnResponse> {
    const current = conditions.map(({ key }) => ({ request_range: { key } }));
    const request: TxnRequest = {
      compare: conditions.map(({ key, expected }) => ({
        result: 0,
        target: compareTarget.mod,
        key,
        mod_revision: expected,
      })),
      success: changes.map((change) => operationOf(change, leases)),
      failure: current,
    };
    const sentIn = this.connection.fence.epoch;
    const isRepeatable = canRepeat(conditions, changes);
    const options = { ...write, epoch, isRepeatable };
    try {
      return await this.connection.call(txnMethod, request, options, signal);
    } catch (error) {
      if (isRepeatable && wasPerhapsDropped(error)) {
        return await this.#repeat(request, sentIn, error, signal);
      }
      if (!(error instanceof EpochEnded)) throw error;
      const look: TxnRequest = { compare: [], success: current, failure: [] };
      const seen = await this.connection.call(txnMethod, look, linearizableRead, signal);
      return { ...seen, succeeded: false };
    }
  }

  /**
   * Sends a transaction again that was perhaps dropped. Where it happens now it had not happened
   * before, and never will again: it compares what it has changed. @throws `lost`
   */
  async #repeat(
    request: TxnRequest,
    epoch: Epoch,
    lost: unknown,
    signal: AbortSignal,
  ): Promise<TxnResponse> {
    const again = this.connection.call(txnMethod, request, { ...write, epoch }, signal);
    const answer = await again.catch(() => undefined);
    if (answer?.succeeded !== true) throw lost;
    return answer;
  }
}

/**
 * What compares the version of all that it changes, each of an object that is there. No version
 * comes again, so one of several such transactions at most happens.
 */
function canRepeat(
  conditions: Transaction['conditions'],
  changes: Transaction['changes'],
): boolean {
  const isCompared = ({ key }: Change): boolean =>
    conditions.some((condition) => condition.key === key && condition.expected > 0);
  return changes.every(isCompared);
}

function operationOf(change: Change, leases: ReadonlyMap<number, Identifier>): RequestOp {
  const { key } = change;
  if (change.type === 'delete') return { request_delete_range: { key } };
  const { value, ttlSeconds } = change;
  const lease = ttlSeconds === undefined ? undefined : leases.get(ttlSeconds);
  return { request_put: lease === undefined ? { key, value } : { key, value, lease } };
}

/** @throws StatusError 413. */
function checkSize(transaction: Transaction, requestBytesMax: number): void {
  const { conditions, changes } = transaction;
  const opsMax = limits.etcdTransactionOpsMax;
  if (Math.max(conditions.length, changes.length) > opsMax) {
    throw requestEntityTooLarge(
      `one write changes ${String(changes.length)} objects under ` +
        `${String(conditions.length)} conditions, limit is ${String(opsMax)} of each`,
    );
  }
  const sizeBytes = valueBytes(transaction);
  let keyBytes = 0;
  for (const { key } of conditions) keyBytes += 2 * key.length;
  if (sizeBytes + keyBytes + requestOverheadBytes > requestBytesMax) {
    throw tooLarge(sizeBytes, `${String(requestBytesMax)} bytes for the whole request`);
  }
}

function valueBytes({ changes }: Transaction): number {
  let bytes = 0;
  for (const change of changes) if (change.type === 'put') bytes += change.value.length;
  return bytes;
}

function currentOf(response: TxnResponse, at: number): StoredItem | undefined {
  const range = response.responses[at]?.response_range;
  invariant(range, 'a lost transaction answers with what is stored');
  const kv = range.kvs[0];
  return kv && toItem(kv);
}

function explain(error: unknown): unknown {
  return error instanceof EtcdError ? toStatusError(error) : error;
}
