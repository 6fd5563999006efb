// All resources of one prefix in memory: sends each key to its resource and each batch to the log.
// Keys that belong to no resource are kept undecoded, so that a resource that is added later is
// complete at once.
import type { Clock } from '../base/clock.ts';
import { invariant } from '../base/invariant.ts';
import type { StatusError } from '../base/status.ts';
import type { Revision, StorageEvent, StoredItem, WatchBatch } from '../storage-etcd/storage.ts';
import type { EventLog } from './event-log.ts';
import type { ReflectorSink } from './reflector.ts';
import type { ResourceCache, ResourceForm } from './resource-cache.ts';
import { isItemPath } from './stored-list.ts';
import { Unclaimed, placeOf } from './unclaimed.ts';
import type { Place } from './unclaimed.ts';
import type { LogCursor } from './watch-cursor.ts';

export class CacheState implements ReflectorSink {
  readonly cursors = new Set<LogCursor>();
  readonly #prefix: string;
  readonly #log: EventLog;
  readonly #clock: Clock;
  /** By storage prefix: one or two segments. */
  readonly #resources = new Map<string, ResourceCache>();
  readonly #unclaimed = new Unclaimed();
  /** By `revisionOf`, last: every write asks several times about one key. */
  #asked: { readonly key: string; readonly place: Place } | undefined;

  /** `prefix` ends with `/`. */
  constructor(prefix: string, log: EventLog, clock: Clock) {
    this.#prefix = prefix;
    this.#log = log;
    this.#clock = clock;
  }

  get resources(): Iterable<ResourceCache> {
    return this.#resources.values();
  }

  #resource(storagePrefix: string): ResourceCache {
    const cache = this.#resources.get(storagePrefix);
    invariant(cache !== undefined, `nothing is cached for ${storagePrefix}`);
    return cache;
  }

  /** Claims the resource's keys. */
  add(storagePrefix: string, cache: ResourceCache): void {
    this.#resources.set(storagePrefix, cache);
    const { resource } = cache.source;
    cache.claim(this.#unclaimed.take(storagePrefix, (path) => isItemPath(path, resource)));
  }

  /** Closes the resource's watches; its keys belong to no resource again. */
  remove(storagePrefix: string): void {
    const cache = this.#resource(storagePrefix);
    for (const cursor of this.cursors) if (cursor.isOf(cache.log)) cursor.close();
    this.#resources.delete(storagePrefix);
    for (const [path, held] of cache.remove()) {
      this.#unclaimed.set(`${storagePrefix}/${path}`, held);
    }
    this.#log.remove(cache.log);
  }

  /**
   * Closes the resource's watches, which resume; its objects and its log stay. False: nothing is
   * done, since objects of the other scope have other keys.
   */
  replace(storagePrefix: string, form: ResourceForm): boolean {
    const cache = this.#resource(storagePrefix);
    if (form.source.resource.namespaced !== cache.source.resource.namespaced) return false;
    const how = cache.unreadable.size === 0 ? 'goOn' : 'startOver';
    for (const cursor of this.cursors) if (cursor.isOf(cache.log)) cursor.closeReplaced(how);
    cache.replace(form);
    return true;
  }

  /** Of a key that belongs to no resource; 0: there is none. */
  revisionOf(key: string): Revision {
    if (this.#asked?.key !== key) {
      this.#asked = { key, place: placeOf(key.slice(this.#prefix.length)) };
    }
    return this.#unclaimed.revisionAt(this.#asked.place);
  }

  revision(): Revision {
    return this.#log.revision;
  }

  clear(reason: StatusError): void {
    for (const cursor of this.cursors) cursor.fail(reason);
    for (const cache of this.#resources.values()) {
      cache.clear();
      cache.begin(this.#log.revision);
      cache.source.budget.clear();
    }
    this.#log.reset(this.#log.revision, this.#clock.monotonicMs());
    this.#unclaimed.clear();
  }

  load({ key, value, modRevision }: StoredItem): void {
    const target = this.#resolve(key);
    if (target === undefined) this.#keep(key, value, modRevision);
    else target.cache.load(target.path, value, modRevision);
  }

  begin(revision: Revision): void {
    for (const cache of this.#resources.values()) cache.begin(revision);
    this.#log.reset(revision, this.#clock.monotonicMs());
  }

  apply(batch: WatchBatch): void {
    const atMs = this.#clock.monotonicMs();
    for (const event of batch.events) this.#applyOne(event, atMs);
    this.#log.advance(batch.revision, atMs);
  }

  #applyOne(event: StorageEvent, atMs: number): void {
    if (event.type === 'put') {
      const { key, value, modRevision } = event.item;
      const target = this.#resolve(key);
      if (target === undefined) this.#keep(key, value, modRevision);
      else {
        target.cache.counts.receivedEvents++;
        target.cache.put(target.path, value, modRevision, atMs);
      }
      return;
    }
    const target = this.#resolve(event.key);
    if (target === undefined) this.#unclaimed.delete(event.key.slice(this.#prefix.length));
    else {
      target.cache.counts.receivedEvents++;
      target.cache.delete(target.path, event.revision, atMs);
    }
  }

  #keep(key: string, value: Uint8Array, revision: Revision): void {
    // Storage's bytes may be a view into a whole page.
    const held = { value: Uint8Array.from(value), revision };
    this.#unclaimed.set(key.slice(this.#prefix.length), held);
  }

  #resolve(key: string): { readonly cache: ResourceCache; readonly path: string } | undefined {
    const start = this.#prefix.length;
    const first = key.indexOf('/', start);
    if (first < 0) return undefined;
    const second = key.indexOf('/', first + 1);
    const ends = second < 0 ? [first] : [second, first];
    for (const end of ends) {
      const cache = this.#resources.get(key.slice(start, end));
      if (cache === undefined) continue;
      const path = key.slice(end + 1);
      if (isItemPath(path, cache.source.resource)) return { cache, path };
    }
    return undefined;
  }
}
