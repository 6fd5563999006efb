// A cache over a real etcd for tests: two small resources, short times, and hands to write and
// break objects.
import type { ResourceInfo } from '../../api/type-info.ts';
import { createLogger } from '../../base/log.ts';
import type { ApiObject } from '../../codec/codec.ts';
import { encodeStored } from '../../codec/stored-form.ts';
import { createStoredMedia } from '../../codec/stored-media.ts';
import { namingProfile } from '../../api/vendor.ts';
import { widgetResource } from '../../codec/testing/sample-types.ts';
import { EtcdStorage } from '../../storage-etcd/etcd-storage.ts';
import type { Revision, Storage, WriteResult } from '../../storage-etcd/storage.ts';
import type { EtcdCluster } from '../../storage-etcd/testing/etcd-process.ts';
import { createCache } from '../cache.ts';
import type { Cache, CacheOptions } from '../cache.ts';
import type { Item, ResourceView, WatchCursor, WatchEvent } from '../resource-view.ts';
import { createTranscoder } from '../transcoder.ts';
import type { Transcoder } from '../transcoder.ts';

export const widgets: ResourceInfo = widgetResource;
/** Cluster-scoped, and below two segments. */
export const gadgets: ResourceInfo = {
  ...widgetResource,
  resource: 'gadgets',
  namespaced: false,
  storagePrefix: 'example.com/gadgets',
};

export const widgetTranscoder: Transcoder = createTranscoder({
  media: createStoredMedia('json', namingProfile('svc')),
  typeOf: (_of, resource) => resource.type,
  complete: (object) => object,
});

export interface WidgetOptions {
  readonly labels?: Record<string, string>;
  readonly nodeName?: string;
  readonly size?: number;
}

export function widget(path: string, options: WidgetOptions = {}): ApiObject {
  const [first = '', second] = path.split('/');
  const place = second === undefined ? { name: first } : { name: second, namespace: first };
  const { labels, nodeName, size } = options;
  return {
    kind: 'Widget',
    apiVersion: 'example.com/v1',
    metadata: {
      ...place,
      uid: `uid-${path}`,
      creationTimestamp: '2024-01-01T00:00:00Z',
      ...(labels === undefined ? {} : { labels }),
    },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      ...(size === undefined ? {} : { size }),
    },
  };
}

let prefixCount = 0;

export class CacheFixture {
  readonly storage: EtcdStorage;
  readonly prefix: string;
  readonly logs: string[] = [];
  readonly #revisions = new Map<string, Revision>();
  readonly #caches: Cache[] = [];
  readonly signal = new AbortController().signal;

  /** `prefix`: where another fixture writes; else a place of its own. */
  constructor(cluster: Pick<EtcdCluster, 'connection'>, prefix?: string) {
    this.storage = new EtcdStorage(cluster.connection);
    this.prefix = prefix ?? `/test-${String(process.pid)}-${String(++prefixCount)}/`;
  }

  async close(): Promise<void> {
    for (const cache of this.#caches) await cache.stop();
    this.storage.close();
  }

  /** Not started yet. */
  cache(options: Partial<CacheOptions> = {}): Cache {
    const cache = createCache({
      storage: this.storage,
      health: () => this.storage.health,
      prefix: this.prefix,
      resources: [{ resource: widgets, indexedFields: ['spec.nodeName'] }, { resource: gadgets }],
      transcoder: widgetTranscoder,
      budgetBytes: 64 * 1024 * 1024,
      canaryKey: `${this.prefix}canary/test`,
      logger: createLogger('info', (line) => this.logs.push(line)),
      freezeObjects: true,
      ...options,
      times: { futureRevisionWaitMs: 300, tickMs: 20, ...options.times },
    });
    this.#caches.push(cache);
    return cache;
  }

  async started(options: Partial<CacheOptions> = {}): Promise<Cache> {
    const cache = this.cache(options);
    await cache.start(this.signal);
    while (options.health === undefined && !this.storage.health.canRequestProgress) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    return cache;
  }

  /** Writes a widget (`namespace/name`) over whatever is there; gives its revision. */
  put(path: string, options: WidgetOptions = {}): Promise<Revision> {
    return this.putRaw(`widgets/${path}`, encodeStored(widget(path, options), widgets).value);
  }

  /** Writes `n/w0`, `n/w1`, …, some at a time. */
  async putMany(count: number): Promise<void> {
    let next = 0;
    const writer = async (): Promise<void> => {
      while (next < count) await this.put(`n/w${String(next++)}`);
    };
    await Promise.all(Array.from({ length: 32 }, writer));
  }

  async putRaw(key: string, value: Uint8Array): Promise<Revision> {
    const fullKey = this.prefix + key;
    return this.#write(fullKey, (expected) =>
      this.storage.put(fullKey, value, { expected }, this.signal),
    );
  }

  async delete(path: string): Promise<Revision> {
    const key = `${this.prefix}widgets/${path}`;
    const revision = await this.#write(key, (expected) =>
      this.storage.delete(key, { expected }, this.signal),
    );
    this.#revisions.delete(key);
    return revision;
  }

  async #write(key: string, write: (expected: Revision) => Promise<WriteResult>) {
    for (;;) {
      const result = await write(this.#revisions.get(key) ?? 0);
      const now = result.ok ? result.revision : (result.current?.modRevision ?? 0);
      this.#revisions.set(key, now);
      if (result.ok) return now;
    }
  }

  /** A write outside the prefix: the store's revision moves on and the watch hears nothing. */
  async putElsewhere(): Promise<Revision> {
    const key = `/elsewhere${this.prefix}${String(Math.random())}`;
    const result = await this.storage.put(key, Buffer.from('x'), { expected: 0 }, this.signal);
    if (!result.ok) throw new Error('the key is new');
    return result.revision;
  }
}

/** What a reader sees of items: `namespace/name@revision`. */
export const shown = (items: readonly Item[]): string[] =>
  items.map(
    ({ namespace, name, revision }) =>
      `${namespace === '' ? '' : `${namespace}/`}${name}@${String(revision)}`,
  );

export const paths = (items: readonly Item[]): string[] =>
  items.map(({ namespace, name }) => (namespace === '' ? name : `${namespace}/${name}`));

/** `ADDED a/x@5`; the revision is the one that the event's bytes show. */
export function describeEvent({ type, revision, item, initialEventsEnd }: WatchEvent): string {
  if (item === undefined) return initialEventsEnd === true ? `END ${String(revision)}` : type;
  const object = JSON.parse(Buffer.from(item.json()).toString()) as ApiObject;
  return `${type} ${paths([item])[0] ?? ''}@${object.metadata?.resourceVersion ?? ''}`;
}

/** Reads until `count` events came; more come along when they were there at once. */
export async function take(
  cursor: WatchCursor,
  count: number,
  timeoutMs = 60_000,
): Promise<string[]> {
  const seen: string[] = [];
  while (seen.length < count) {
    const events = await cursor.next(AbortSignal.timeout(timeoutMs));
    if (events === undefined) break;
    seen.push(...events.map(describeEvent));
  }
  return seen;
}

export const listPaths = async (view: ResourceView): Promise<string[]> => {
  const signal = AbortSignal.timeout(60_000);
  const result = await view.list({}, { mode: 'latest' }, { limitCount: 0 }, signal);
  return paths(result.items);
};

/** Storage with some methods replaced: faults are put in between, nothing else is feigned. */
export function intercept(storage: Storage, replaced: Partial<Storage>): Storage {
  return {
    get epoch() {
      return storage.epoch;
    },
    get: replaced.get ?? storage.get.bind(storage),
    list: replaced.list ?? storage.list.bind(storage),
    put: replaced.put ?? storage.put.bind(storage),
    delete: replaced.delete ?? storage.delete.bind(storage),
    transact: replaced.transact ?? storage.transact.bind(storage),
    watch: replaced.watch ?? storage.watch.bind(storage),
    currentRevision: replaced.currentRevision ?? storage.currentRevision.bind(storage),
    requestProgress: replaced.requestProgress ?? storage.requestProgress.bind(storage),
  };
}
