// Storage whose reads and watches go through the cacher: the storage suite then tests the cacher
// with the same claims. Values of any bytes become items of one made-up kind; writes go to the
// store below.
import type { ResourceInfo } from '../../api/type-info.ts';
import { createLogger } from '../../base/log.ts';
import { expired } from '../../base/status.ts';
import { widgetResource } from '../../codec/testing/sample-types.ts';
import type { OpenedStored } from '../../codec/stored-form.ts';
import type { EtcdStorage } from '../../storage-etcd/etcd-storage.ts';
import type { Epoch, Expected, Revision, Storage } from '../../storage-etcd/storage.ts';
import type { StorageEvent, StoragePage, StoredItem } from '../../storage-etcd/storage.ts';
import type { Transaction, TransactionResult } from '../../storage-etcd/storage.ts';
import type { WatchBatch, WriteResult } from '../../storage-etcd/storage.ts';
import { createCache } from '../cache.ts';
import type { Cache } from '../cache.ts';
import type { Item, ResourceView, WatchEvent } from '../resource-view.ts';
import type { Transcoder } from '../transcoder.ts';

const root = '/registry/';
/**
 * Paths of cluster-scoped items have no slash; this character sorts where the slash does among the
 * suite's keys.
 */
const slash = '!';

const opened = (text: string): OpenedStored => {
  const payload = Buffer.from(text);
  const bodyAt = text.indexOf('"metadata"');
  const versionAt = text.indexOf('"last"');
  const header = { media: 'json', schema: 'raw', size: payload.length, versionAt, bodyAt } as const;
  return { header, payload };
};

const open = (value: Uint8Array): OpenedStored | undefined => {
  const text = Buffer.from(value).toString();
  return text.startsWith('{"kind":"Raw"') ? opened(text) : undefined;
};

const transcoder: Transcoder = {
  open,
  close: ({ payload }) => payload,
  schemaOf: () => 'raw',
  decodeForeign: (value) => {
    const data = Buffer.from(value).toString('base64');
    const meta = '"apiVersion":"v1","metadata":{"last":0}';
    return opened(`{"kind":"Raw",${meta},"data":"${data}"}`);
  },
  asSent: (opened) => opened,
  decode: (json) => JSON.parse(Buffer.from(json).toString()) as { data: string },
};

export class ViewStorage implements Storage {
  readonly cache: Cache;
  readonly #below: EtcdStorage;
  readonly #created = new Map<string, Revision>();
  readonly #views = new Map<string, ResourceView>();

  constructor(below: EtcdStorage, compactedRevision: () => Revision) {
    this.#below = below;
    this.cache = createCache({
      storage: below,
      health: () => below.health,
      prefix: root,
      resources: [],
      transcoder,
      budgetBytes: 256 * 1024 * 1024,
      canaryKey: `${root}canary/suite`,
      logger: createLogger('error'),
      compactedRevision,
      times: { futureRevisionWaitMs: 300, tickMs: 10 },
    });
  }

  get epoch(): Epoch {
    return this.#below.epoch;
  }

  async put(
    key: string,
    value: Uint8Array,
    options: Expected & { readonly ttlSeconds?: number },
    signal: AbortSignal,
  ): Promise<WriteResult> {
    this.#view(key);
    const result = await this.#below.put(this.#inner(key), value, options, signal);
    if (result.ok && options.expected === 0) this.#created.set(key, result.revision);
    return result;
  }

  delete(key: string, options: Expected, signal: AbortSignal): Promise<WriteResult> {
    return this.#below.delete(this.#inner(key), options, signal);
  }

  async transact(transaction: Transaction, signal: AbortSignal): Promise<TransactionResult> {
    const { conditions, changes, epoch } = transaction;
    for (const { key } of changes) this.#view(key);
    const result = await this.#below.transact(
      {
        conditions: conditions.map((one) => ({ ...one, key: this.#inner(one.key) })),
        changes: changes.map((one) => ({ ...one, key: this.#inner(one.key) })),
        epoch,
      },
      signal,
    );
    if (!result.ok) return result;
    for (const { key, expected } of conditions) {
      if (expected === 0) this.#created.set(key, result.revision);
    }
    return result;
  }

  async get(
    key: string,
    signal: AbortSignal,
  ): Promise<{ item: StoredItem | undefined; revision: Revision }> {
    const select = { name: this.#name(key) };
    const page = { limitCount: 0 };
    const result = await this.#view(key).list(select, { mode: 'latest' }, page, signal);
    const [item] = result.items;
    return {
      item: item === undefined ? undefined : this.#stored(key, item),
      revision: result.revision,
    };
  }

  async list(range: Parameters<Storage['list']>[0], signal: AbortSignal): Promise<StoragePage> {
    const { prefix, afterKey, limitCount, at } = range;
    const result = await this.#view(prefix).list(
      {},
      at === undefined ? { mode: 'latest' } : { mode: 'exact', revision: at },
      {
        limitCount,
        ...(afterKey === undefined ? {} : { after: { namespace: '', name: this.#name(afterKey) } }),
      },
      signal,
    );
    const place = this.#place(prefix);
    const items = result.items.map((item) => this.#stored(place + outer(item.name), item));
    return {
      items: items.filter(({ key }) => key.startsWith(prefix)),
      revision: result.revision,
      remainingCount: result.remainingCount ?? 0,
    };
  }

  async *watch(prefix: string, after: Revision, signal: AbortSignal): AsyncGenerator<WatchBatch> {
    // The view waits for a revision that is still to come; the storage contract does not.
    if (after > (await this.#below.currentRevision(signal))) throw expired('not reached yet');
    const start = { from: 'revision', revision: after } as const;
    const view = this.#view(prefix);
    const cursor = await view.watch({}, start, { bookmarks: false }, signal);
    try {
      for (;;) {
        const events = await cursor.next(signal);
        if (events === undefined) return;
        const place = this.#place(prefix);
        const changes = events.map((event) => this.#change(place, event));
        const seen = changes.filter((change) => keyOf(change).startsWith(prefix));
        yield { revision: cursor.position, events: seen, epoch: this.epoch };
      }
    } finally {
      cursor.close();
    }
  }

  currentRevision(signal: AbortSignal): Promise<Revision> {
    return this.#below.currentRevision(signal);
  }

  requestProgress(): void {
    this.#below.requestProgress();
  }

  #change(place: string, { type, item, revision }: WatchEvent): StorageEvent {
    if (item === undefined) throw new Error('no bookmarks were asked for');
    const key = place + outer(item.name);
    if (type === 'DELETED') return { type: 'delete', key, revision, previous: undefined };
    return { type: 'put', item: this.#stored(key, item), previous: undefined };
  }

  #stored(key: string, item: Item): StoredItem {
    const { data } = item.object() as { data: string };
    const createRevision = this.#created.get(key) ?? 0;
    return { key, value: Buffer.from(data, 'base64'), modRevision: item.revision, createRevision };
  }

  /** `/registry/suite-1/` of any key of that suite. */
  #place(key: string): string {
    return key.slice(0, key.indexOf('/', root.length) + 1);
  }

  #name(key: string): string {
    return key.slice(this.#place(key).length).replaceAll('/', slash);
  }

  #inner(key: string): string {
    return this.#place(key) + this.#name(key);
  }

  #view(key: string): ResourceView {
    const place = this.#place(key);
    const known = this.#views.get(place);
    if (known !== undefined) return known;
    const storagePrefix = place.slice(root.length, -1);
    const resource: ResourceInfo = { ...widgetResource, namespaced: false, storagePrefix };
    const view = this.cache.add({ resource, historyCountMin: 0 });
    this.#views.set(place, view);
    return view;
  }
}

const outer = (name: string): string => name.replaceAll(slash, '/');
const keyOf = (event: StorageEvent): string => (event.type === 'put' ? event.item.key : event.key);
