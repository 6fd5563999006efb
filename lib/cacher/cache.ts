// The cache of one replica: composes reflector, log, indexes and views, and reports its health.
// Storage below, ResourceView above; it writes nothing but a canary key, on etcd versions that
// cannot be asked for progress.
import type { ResourceInfo } from '../api/type-info.ts';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import type { Revision, Storage, StorageHealth } from '../storage-etcd/storage.ts';
import { CacheState } from './cache-state.ts';
import { EventLog } from './event-log.ts';
import { Reflector } from './reflector.ts';
import type { ReflectorState } from './reflector.ts';
import { withVersions } from './item-versions.ts';
import type { CachedItem } from './item.ts';
import { LogView } from './log-view.ts';
import { MemoryBudget } from './memory-budget.ts';
import type { MemoryUse } from './memory-budget.ts';
import { ReadGate } from './read-at.ts';
import { ResourceCache } from './resource-cache.ts';
import type { ResourceForm } from './resource-cache.ts';
import type { ResourceCounts } from './resource-counts.ts';
import type { OnRead, ResourceView } from './resource-view.ts';
import { SharedValues } from './shared-values.ts';
import type { Transcoder } from './transcoder.ts';
import type { ViewHost } from './view-host.ts';

/** A stored resource: the record of its storage version. */
export interface CachedResource {
  readonly resource: ResourceInfo;
  /** Fields whose `=` lists are served from an index; watches index whatever they select by. */
  readonly indexedFields?: readonly string[];
  /** Changes that stay in the log although they are old; default: 100, for events none. */
  readonly historyCountMin?: number;
  /**
   * Decodes and converts objects of this resource; default: the transcoder of the cache. The same
   * one in another record reads everything as before, unless `schemaOf` says otherwise.
   */
  readonly transcoder?: Transcoder;
  /**
   * Other versions in which its objects may be stored, and stay: only calls that wait convert them.
   */
  readonly versions?: readonly ResourceInfo[];
  /** `remove` and `replace` may be called for it: stored bytes in other encodings are kept. */
  readonly isRemovable?: boolean;
}

/** Calls for metrics; all optional, all cheap. */
export interface CacheObserver {
  onRead?: OnRead;
  /** How long a read that asks for a version waited until memory or etcd could answer it. */
  onWait?(resource: string, seconds: number): void;
  /** One linearizable read of etcd proved the log current for this many consistent reads. */
  onProof?(readerCount: number): void;
  /** A stored object cannot be read; `resource` is the view's name. */
  onCorrupted?(resource: string, key: string, problem: string): void;
  /** The budget began (`isOver`) or ceased to be exceeded. */
  onMemory?(use: MemoryUse): void;
}

export interface CacheOptions {
  readonly storage: Storage;
  readonly health: () => StorageHealth;
  /** etcd prefix that ends with `/`, such as `/registry/`. */
  readonly prefix: string;
  readonly resources: readonly CachedResource[];
  readonly transcoder: Transcoder;
  /** `--cache-memory-mb` in bytes. */
  readonly budgetBytes: number;
  /** Below `prefix`, outside every resource. */
  readonly canaryKey: string;
  readonly logger: Logger;
  /** Gate ListFromCacheSnapshot; default on. */
  readonly listFromSnapshot?: boolean;
  /** Revision that etcd was compacted to, as far as known: exact reads before it are 410. */
  readonly compactedRevision?: () => Revision;
  readonly observer?: CacheObserver;
  readonly clock?: Clock;
  /** Objects of `Item.object()` are frozen deeply: in tests. */
  readonly freezeObjects?: boolean;
  /** Times that tests shorten. */
  readonly times?: Partial<CacheTimes>;
}

export interface CacheTimes {
  readonly futureRevisionWaitMs: number;
  readonly snapshotRetentionMs: number;
  readonly bookmarkIntervalMs: number;
  /** Age of the log: etcd's own history by default settings. */
  readonly logAgeMaxMs: number;
  /** Encodings and decoded objects of items and events that nobody used for so long are dropped. */
  readonly memoIdleMs: number;
  readonly probeIntervalMs: number;
  readonly livenessTimeoutMs: number;
  /** Pause between two checks of bookmarks, expiry and probes. */
  readonly tickMs: number;
}

const defaultTimes: CacheTimes = {
  futureRevisionWaitMs: limits.futureRevisionWaitMs,
  snapshotRetentionMs: limits.snapshotRetentionMs,
  bookmarkIntervalMs: limits.bookmarkIntervalMs,
  logAgeMaxMs: limits.logAgeMaxMs,
  memoIdleMs: limits.memoIdleMs,
  probeIntervalMs: limits.reflectorProbeIntervalMs,
  livenessTimeoutMs: limits.reflectorLivenessTimeoutMs,
  tickMs: limits.cacheTickMs,
};

/** Events are many and watched briefly: the log keeps no minimum of them beyond its age. */
const defaultHistory = ({ resource }: ResourceInfo): number =>
  resource === 'events' ? 0 : limits.logHistoryCountMin;

export interface CacheHealth {
  readonly state: ReflectorState;
  /** A page or a batch of events has come from etcd lately. */
  readonly isMoving: boolean;
  /** Memory is filled, and the watch stream of etcd delivers events or progress. */
  readonly isLive: boolean;
  readonly silentMs: number;
  readonly lastError: string | undefined;
  readonly loadCount: number;
  readonly revision: Revision;
  readonly memory: MemoryUse;
  readonly logCount: number;
  readonly cursorCount: number;
  /** Problem by key. */
  readonly corrupted: ReadonlyMap<string, string>;
}

export interface ResourceUse {
  readonly name: string;
  readonly objectCount: number;
  readonly bytes: number;
  readonly logCount: number;
  readonly oldestRevision: Revision;
  readonly counts: ResourceCounts;
}

export interface Cache {
  /** Starts the reflector; resolves when memory is filled. Later failures repair themselves. */
  start(signal: AbortSignal): Promise<void>;
  /** Stops the reflector; calls of `next` of its watch cursors resolve to `undefined`. */
  stop(): Promise<void>;
  /**
   * The view of the resource's stored objects; the same for every served version of one storage
   * prefix.
   */
  view(resource: ResourceInfo): ResourceView;
  /** Adds a resource while running: its keys are in memory. Watches may start from now on. */
  add(resource: CachedResource): ResourceView;
  /**
   * Another record of a removable resource: another schema, other indexed fields, another version
   * that is stored; `historyCountMin` stays. Its watches are closed, and those that resume get what
   * followed; what happened before may be shown as the former record had it. Objects are shown by
   * the new record from now on: lists wait until all of them are made anew, which costs nothing
   * where both store alike.
   * @returns the view of the resource: the same as before, unless its scope changed, which removes
   * it and adds it.
   */
  replace(resource: CachedResource): ResourceView;
  /**
   * Forgets a resource that is removable: its watches are closed, reads through a view that is
   * still held go to etcd, its memory is free. It may be added again, with another record too.
   */
  remove(resource: ResourceInfo): void;
  /**
   * When a key below the prefix that belongs to no resource was last changed, as memory knows it;
   * 0: there is none. Memory learns of it together with all else of that revision.
   */
  revisionOf(key: string): Revision;
  health(): CacheHealth;
  resourceUse(): ResourceUse[];
}

export function createCache(options: CacheOptions): Cache {
  invariant(options.prefix.endsWith('/'), 'the prefix of the cache ends with "/"');
  return new ReplicaCache(options);
}

class ReplicaCache implements Cache {
  readonly #options: CacheOptions;
  readonly #times: CacheTimes;
  readonly #clock: Clock;
  readonly #budget: MemoryBudget;
  readonly #log: EventLog;
  readonly #state: CacheState;
  readonly #reflector: Reflector;
  readonly #host: ViewHost;
  readonly #views = new Map<string, LogView>();
  readonly #shared = new SharedValues();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #cancelTick: () => void = () => undefined;

  constructor(options: CacheOptions) {
    this.#options = options;
    this.#times = { ...defaultTimes, ...options.times };
    this.#clock = options.clock ?? systemClock;
    this.#budget = new MemoryBudget(options.budgetBytes, (use) => {
      this.#onMemory(use);
    });
    this.#budget.nowMs = this.#clock.monotonicMs();
    this.#log = new EventLog(this.#budget, this.#times.logAgeMaxMs);
    this.#budget.attach(this.#log);
    this.#state = new CacheState(options.prefix, this.#log, this.#clock);
    this.#reflector = new Reflector({
      storage: options.storage,
      prefix: options.prefix,
      sink: this.#state,
      clock: this.#clock,
      logger: options.logger,
      canRequestProgress: () => options.health().canRequestProgress,
      canaryKey: options.canaryKey,
      probeIntervalMs: this.#times.probeIntervalMs,
      livenessTimeoutMs: this.#times.livenessTimeoutMs,
    });
    this.#host = this.#makeHost();
    for (const resource of options.resources) this.add(resource);
  }

  async start(signal: AbortSignal): Promise<void> {
    invariant(this.#running === undefined, 'a cache is started once');
    this.#running = this.#reflector.run(this.#stop.signal);
    this.#tick();
    await this.#reflector.ready(AbortSignal.any([signal, this.#stop.signal]));
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the cache is stopped'));
    this.#cancelTick();
    for (const cursor of this.#state.cursors) cursor.close();
    await this.#running;
  }

  view(resource: ResourceInfo): ResourceView {
    const view = this.#views.get(resource.storagePrefix);
    invariant(view !== undefined, `nothing is cached for ${resource.storagePrefix}`);
    return view;
  }

  add(added: CachedResource): ResourceView {
    const { resource } = added;
    const known = this.#views.get(resource.storagePrefix);
    invariant(known === undefined, `${resource.storagePrefix} is cached already`);
    const cache = new ResourceCache({
      ...this.#formOf(added),
      log: this.#log,
      historyCountMin: added.historyCountMin ?? defaultHistory(resource),
      onCorrupted: (item) => {
        this.#onCorrupted(item);
      },
    });
    this.#state.add(resource.storagePrefix, cache);
    const view = new LogView(this.#host, cache);
    this.#views.set(resource.storagePrefix, view);
    return view;
  }

  replace(replacing: CachedResource): ResourceView {
    const { resource } = replacing;
    const isAtItsPlace = this.#state.replace(resource.storagePrefix, this.#formOf(replacing));
    if (isAtItsPlace) return this.view(resource);
    this.remove(resource);
    return this.add(replacing);
  }

  remove({ storagePrefix }: ResourceInfo): void {
    this.#state.remove(storagePrefix);
    this.#views.delete(storagePrefix);
    this.#budget.settle();
  }

  revisionOf(key: string): Revision {
    return this.#state.revisionOf(key);
  }

  health(): CacheHealth {
    const corrupted = new Map<string, string>();
    for (const cache of this.#state.resources) {
      for (const item of cache.unreadable.values()) {
        corrupted.set(item.etcdKey, item.problem ?? '');
      }
    }
    return {
      state: this.#reflector.state,
      isMoving: this.#reflector.isMoving,
      isLive: this.#reflector.isLive,
      silentMs: this.#reflector.silentMs,
      lastError: this.#reflector.lastError,
      loadCount: this.#reflector.loadCount,
      revision: this.#log.revision,
      memory: this.#budget.use(),
      logCount: this.#log.length,
      cursorCount: this.#state.cursors.size,
      corrupted,
    };
  }

  resourceUse(): ResourceUse[] {
    return [...this.#state.resources].map((cache) => ({
      name: `${cache.source.resource.group}/${cache.source.resource.resource}`,
      objectCount: cache.objectCount,
      bytes: cache.bytes,
      logCount: cache.log.entries.length,
      oldestRevision: cache.log.oldest,
      counts: cache.counts,
    }));
  }

  #formOf(cached: CachedResource): ResourceForm {
    const { resource, indexedFields = [] } = cached;
    const { prefix, freezeObjects = false } = this.#options;
    const transcoder = cached.transcoder ?? this.#options.transcoder;
    const source = {
      resource,
      keyPrefix: `${prefix}${resource.storagePrefix}/`,
      transcoder,
      budget: this.#budget,
      freezeObjects,
      schema: transcoder.schemaOf(resource),
      shared: this.#shared,
      keepsStored: cached.isRemovable ?? false,
    };
    return { source: withVersions(source, cached.versions ?? []), indexedFields };
  }

  #makeHost(): ViewHost {
    const { storage, health, observer } = this.#options;
    const gate = new ReadGate({
      storage,
      log: this.#log,
      clock: this.#clock,
      canRequestProgress: () => health().canRequestProgress,
      isReady: () => this.#reflector.isReady,
      isCurrent: () => this.#reflector.isCurrent,
      current: (signal) => this.#reflector.current(signal),
      futureRevisionWaitMs: this.#times.futureRevisionWaitMs,
      onProof: (readerCount) => observer?.onProof?.(readerCount),
    });
    return {
      storage,
      log: this.#log,
      gate,
      clock: this.#clock,
      cursors: this.#state.cursors,
      isReady: () => this.#reflector.isReady,
      isCurrent: () => this.#reflector.isCurrent,
      epoch: () => this.#reflector.epoch,
      ready: (signal) => this.#reflector.ready(signal),
      current: (signal) => this.#reflector.current(signal),
      snapshotRetentionMs: this.#times.snapshotRetentionMs,
      listFromSnapshot: this.#options.listFromSnapshot ?? true,
      bookmarkIntervalMs: this.#times.bookmarkIntervalMs,
      onRead: (resource, read, at, from) => observer?.onRead?.(resource, read, at, from),
      onWait: (resource, seconds) => observer?.onWait?.(resource, seconds),
    };
  }

  /** Everything that depends on time alone, so that watchers and readers need no timers. */
  #tick(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#budget.nowMs = nowMs;
    this.#log.compact(this.#options.compactedRevision?.() ?? 0);
    this.#log.expire(nowMs);
    this.#budget.expire(nowMs - this.#times.memoIdleMs);
    this.#budget.settle();
    for (const cache of this.#state.resources) cache.snapshots.trim(cache.log.oldest);
    this.#reflector.probe(this.#stop.signal);
    for (const cursor of this.#state.cursors) cursor.tick(nowMs, Math.random());
    this.#cancelTick = this.#clock.after(this.#times.tickMs, () => {
      this.#tick();
    });
  }

  #onMemory(use: MemoryUse): void {
    const { logger, observer } = this.#options;
    observer?.onMemory?.(use);
    const { isOver, ...fields } = use;
    if (isOver) logger.warn('current state exceeds the memory budget of the cache', fields);
    else logger.info('the cache is within its memory budget again', fields);
  }

  #onCorrupted(item: CachedItem): void {
    const { etcdKey, problem = '' } = item;
    this.#options.logger.error('a stored object cannot be read', { object: etcdKey, problem });
    const { group, resource } = item.source.resource;
    this.#options.observer?.onCorrupted?.(`${group}/${resource}`, etcdKey, problem);
  }
}
