// Pages of a key range, each read at one revision and sized by bytes: the count that is asked for
// follows the size of the items seen below the same prefix. etcd itself can only limit by count.
import { limits } from '../base/limits.ts';
import { expired, tooLargeResourceVersion } from '../base/status.ts';
import type { StatusError } from '../base/status.ts';
import type { EtcdConnection } from './connection.ts';
import { linearizableRead } from './connection.ts';
import { EtcdError, isAnswerTooLarge, isCompacted, isFutureRevision } from './etcd-error.ts';
import { toStatusError } from './etcd-error.ts';
import { keyAfter, prefixEnd } from './keys.ts';
import { rangeMethod } from './rpc.ts';
import type { KeyValue, RangeResponse } from './rpc.ts';
import type { Revision, Storage, StoragePage, StoredItem } from './storage.ts';

const { etcdPageCountFirst, etcdPageCountMax, rememberedPrefixesMax } = limits;
/**
 * A page may be this much longer in count than the one before, so that a run of small items
 * misleads little.
 */
const growthMax = 8;

export interface RangeQuery {
  readonly prefix: string;
  readonly afterKey?: string;
  readonly limitCount: number;
  readonly at?: Revision;
}

export class RangeReader {
  readonly #connection: EtcdConnection;
  readonly #pageBytes: number;
  /** Count of the next page by prefix. */
  readonly #counts = new Map<string, number>();

  constructor(connection: EtcdConnection, pageBytes: number = limits.etcdPageBytesTarget) {
    this.#connection = connection;
    this.#pageBytes = pageBytes;
  }

  /** @throws StatusError 410 (compacted), 504 (revision not reached), 503 */
  async page(query: RangeQuery, signal: AbortSignal): Promise<StoragePage> {
    const wanted = query.limitCount === 0 ? etcdPageCountMax : query.limitCount;
    let count = Math.min(wanted, this.#counts.get(query.prefix) ?? etcdPageCountFirst);
    for (;;) {
      try {
        const response = await this.#range(query, count, signal);
        this.#learn(query.prefix, count, response);
        return toPage(response);
      } catch (error) {
        if (!isAnswerTooLarge(error) || count === 1)
          throw await this.#explain(error, query, signal);
        count = Math.max(1, Math.floor(count / 4));
      }
    }
  }

  #range(query: RangeQuery, limit: number, signal: AbortSignal): Promise<RangeResponse> {
    const request = {
      key: query.afterKey === undefined ? query.prefix : keyAfter(query.afterKey),
      range_end: prefixEnd(query.prefix),
      limit,
      ...(query.at === undefined ? {} : { revision: query.at }),
    };
    return this.#connection.call(rangeMethod, request, linearizableRead, signal);
  }

  #learn(prefix: string, asked: number, response: RangeResponse): void {
    const count = response.kvs.length;
    if (count === 0) return;
    let bytes = 0;
    for (const item of response.kvs) bytes += item.key.length + item.value.length + 32;
    const fitting = Math.floor((this.#pageBytes * count) / bytes);
    const next = Math.max(
      1,
      Math.min(fitting, Math.max(asked, etcdPageCountFirst) * growthMax, etcdPageCountMax),
    );
    if (this.#counts.size >= rememberedPrefixesMax) this.#counts.clear();
    this.#counts.set(prefix, next);
  }

  async #explain(error: unknown, query: RangeQuery, signal: AbortSignal): Promise<unknown> {
    if (!(error instanceof EtcdError)) return error;
    const at = query.at ?? 0;
    if (isCompacted(error)) return expired(`the revision ${String(at)} was compacted`);
    if (isFutureRevision(error)) {
      const current = await currentRevision(this.#connection, signal);
      const isReplaced = at <= this.#connection.fence.epoch.replacedUpTo;
      return isReplaced ? replaced(at) : tooLargeResourceVersion(at, current);
    }
    return toStatusError(error);
  }
}

/** The 410 of a revision that the store has not, or not again: its history is another one. */
export const replaced = (revision: Revision): StatusError =>
  expired(`resource version ${String(revision)} is not of this store: its data was replaced`);

/** The store's revision by a quorum: nothing committed before the call is newer. */
export async function currentRevision(
  connection: EtcdConnection,
  signal: AbortSignal,
): Promise<Revision> {
  const request = { key: '\0', count_only: true, limit: 1 };
  const response = await connection.call(rangeMethod, request, linearizableRead, signal);
  return response.header.revision;
}

/**
 * All pages below `prefix` at the revision of the first. One page is read while the consumer works
 * on the one before, no more.
 * @throws StatusError 410 when the revision is compacted between two pages: start again
 */
export async function* pagesOf(
  storage: Storage,
  { prefix }: { readonly prefix: string },
  signal: AbortSignal,
): AsyncGenerator<StoragePage, void, undefined> {
  let page = await storage.list({ prefix, limitCount: 0 }, signal);
  const at = page.revision;
  for (;;) {
    const afterKey = page.items.at(-1)?.key;
    if (page.remainingCount === 0 || afterKey === undefined) {
      yield page;
      return;
    }
    const next = storage.list({ prefix, afterKey, limitCount: 0, at }, signal);
    next.catch(() => undefined); // Who stops before it wants no word of it.
    yield page;
    page = await next;
  }
}

export function toItem(kv: KeyValue): StoredItem {
  return {
    key: kv.key,
    value: kv.value,
    modRevision: kv.mod_revision,
    createRevision: kv.create_revision,
  };
}

function toPage(response: RangeResponse): StoragePage {
  return {
    items: response.kvs.map(toItem),
    revision: response.header.revision,
    remainingCount: Math.max(0, response.count - response.kvs.length),
  };
}
