// The cache of one replica: composes feed, log, indexes and views, and tells how it is doing.
// Storage below, ResourceView above; it writes nothing but a canary key where etcd cannot be asked
// for progress.
import type { ResourceInfo } from '../api/type-info.ts';
import { systemClock } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { invariant } from '../base/invariant.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import { expired } from '../base/status.ts';
import type { Revision, Storage, StorageHealth } from '../storage-etcd/storage.ts';
import { CacheState } from './cache-state.ts';
import { EventLog } from './event-log.ts';
import { Feed } from './feed.ts';
import type { FeedState } from './feed.ts';
import type { CachedItem } from './item.ts';
import { LogView } from './log-view.ts';
import type { ViewHost } from './log-view.ts';
import { MemoryBudget } from './memory-budget.ts';
import type { MemoryUse } from './memory-budget.ts';
import { ReadGate } from './read-at.ts';
import { ResourceCache } from './resource-cache.ts';
import type { ResourceCounts } from './resource-counts.ts';
import type { ResourceView } from './resource-view.ts';
import { SharedValues } from './shared-values.ts';
import type { Transcoder } from './transcoder.ts';

/** A stored resource: the record of its storage version. */
export interface CachedResource {
  readonly resource: ResourceInfo;
  /** Fields whose `=` lists are served from an index; watches index whatever they select by. */
  readonly indexedFields?: readonly string[];
  /** Changes kept for watchers although they are old; default: 100, for events none. */
  readonly historyCountMin?: number;
  /** Where the resource brings decoding and conversion of its own; default: the cache's. */
  readonly transcoder?: Transcoder;
  /** `remove` may take it away: bytes of other forms are then kept beside what is made of them. */
  readonly isRemovable?: boolean;
}

/** Calls for metrics; all optional, all cheap. */
export interface CacheObserver {
  onRead?(resource: string, answerer: 'memory' | 'snapshot' | 'storage'): void;
  /** A read that asks for a version found out in this time who can answer. */
  onWait?(resource: string, seconds: number): void;
  /** One linearizable read proved the log current for so many readers. */
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
  /** What is known of etcd's compaction: older revisions are not readable at any exactness. */
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
  /** What was made of items and events (encodings, objects) is dropped when unused for so long. */
  readonly memoIdleMs: number;
  readonly probeIntervalMs: number;
  readonly livenessTimeoutMs: number;
  /** Bookmarks, expiry and probes are looked at so often. */
  readonly tickMs: number;
}

const defaultTimes: CacheTimes = {
  futureRevisionWaitMs: limits.futureRevisionWaitMs,
  snapshotRetentionMs: limits.snapshotRetentionMs,
  bookmarkIntervalMs: limits.bookmarkIntervalMs,
  logAgeMaxMs: limits.logAgeMaxMs,
  memoIdleMs: limits.memoIdleMs,
  probeIntervalMs: limits.feedProbeIntervalMs,
  livenessTimeoutMs: limits.feedLivenessTimeoutMs,
  tickMs: limits.cacheTickMs,
};

/** Nobody follows events for long, and there are many: their history lasts as long as etcd's. */
const defaultHistory = ({ resource }: ResourceInfo): number =>
  resource === 'events' ? 0 : limits.logHistoryCountMin;

export interface CacheHealth {
  readonly state: FeedState;
  /** Something has come from etcd lately, to fill memory or to follow. */
  readonly isMoving: boolean;
  /** Filled, following, and the stream moves. */
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
  /** Fills memory; resolves when it is filled and followed. Later failures repair themselves. */
  start(signal: AbortSignal): Promise<void>;
  /** Ends the feed; cursors resolve `undefined`. */
  stop(): Promise<void>;
  /**
   * The view of the resource's stored objects; the same for every served version of one storage
   * prefix.
   */
  view(resource: ResourceInfo): ResourceView;
  /** Adds a resource while running: its keys are known already. Watches may start from now on. */
  add(resource: CachedResource): ResourceView;
  /**
   * Forgets a resource that is removable: its watches fail with 410, reads through a view that is
   * still held go to etcd, its memory is free. It may be added again, with another record too.
   */
  remove(resource: ResourceInfo): void;
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
  readonly #feed: Feed;
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
    this.#feed = new Feed({
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
    this.#running = this.#feed.run(this.#stop.signal);
    this.#tick();
    await this.#feed.ready(AbortSignal.any([signal, this.#stop.signal]));
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
    const { prefix } = this.#options;
    const transcoder = added.transcoder ?? this.#options.transcoder;
    const known = this.#views.get(resource.storagePrefix);
    invariant(known === undefined, `${resource.storagePrefix} is cached already`);
    const cache = new ResourceCache({
      source: {
        resource,
        keyPrefix: `${prefix}${resource.storagePrefix}/`,
        transcoder,
        budget: this.#budget,
        freezeObjects: this.#options.freezeObjects ?? false,
        schema: transcoder.schemaOf(resource),
        shared: this.#shared,
        keepsStored: added.isRemovable ?? false,
      },
      log: this.#log,
      indexedFields: added.indexedFields ?? [],
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

  remove({ storagePrefix, group, resource }: ResourceInfo): void {
    const reason = expired(`${resource} of ${group} were removed or changed: list anew`);
    this.#state.remove(storagePrefix, reason);
    this.#views.delete(storagePrefix);
    this.#budget.settle();
  }

  health(): CacheHealth {
    const corrupted = new Map<string, string>();
    for (const cache of this.#state.resources) {
      for (const item of cache.unreadable.values()) {
        corrupted.set(item.etcdKey, item.problem ?? '');
      }
    }
    return {
      state: this.#feed.state,
      isMoving: this.#feed.isMoving,
      isLive: this.#feed.isLive,
      silentMs: this.#feed.silentMs,
      lastError: this.#feed.lastError,
      loadCount: this.#feed.loadCount,
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
      objectCount: cache.index.size,
      bytes: cache.bytes,
      logCount: cache.log.entries.length,
      oldestRevision: cache.log.oldest,
      counts: cache.counts,
    }));
  }

  #makeHost(): ViewHost {
    const { storage, health, observer } = this.#options;
    const gate = new ReadGate({
      storage,
      log: this.#log,
      clock: this.#clock,
      canRequestProgress: () => health().canRequestProgress,
      isReady: () => this.#feed.isReady,
      isCurrent: () => this.#feed.isCurrent,
      current: (signal) => this.#feed.current(signal),
      futureRevisionWaitMs: this.#times.futureRevisionWaitMs,
      onProof: (readerCount) => observer?.onProof?.(readerCount),
    });
    return {
      storage,
      log: this.#log,
      gate,
      clock: this.#clock,
      cursors: this.#state.cursors,
      isReady: () => this.#feed.isReady,
      isCurrent: () => this.#feed.isCurrent,
      epoch: () => this.#feed.epoch,
      ready: (signal) => this.#feed.ready(signal),
      current: (signal) => this.#feed.current(signal),
      snapshotRetentionMs: this.#times.snapshotRetentionMs,
      listFromSnapshot: this.#options.listFromSnapshot ?? true,
      bookmarkIntervalMs: this.#times.bookmarkIntervalMs,
      onRead: (resource, answerer) => observer?.onRead?.(resource, answerer),
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
    this.#feed.probe(this.#stop.signal);
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
