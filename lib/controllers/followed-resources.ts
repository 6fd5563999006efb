// The resources whose objects are collected or counted: each stored one is followed once, in
// whatever versions and groups it is served, from when it is served until it is served no more.
import type { NamingProfile } from '../api/vendor.ts';
import { apiVersionOf } from '../api/type-info.ts';
import { sleep } from '../base/abort.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import { nextTurn } from '../base/turn.ts';
import { follow } from '../cacher/follow.ts';
import type { Follower } from '../cacher/follow.ts';
import type { Item, ResourceView, WatchCursor } from '../cacher/resource-view.ts';
import type { ResourceMap } from '../registry/resource-map.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { Revision } from '../storage-etcd/storage.ts';
import type { Source } from './garbage/owner-graph.ts';

export interface FollowedResource extends Source {
  readonly view: ResourceView;
  readonly namespaced: boolean;
  /** One for each group and version that shows these objects. */
  stores: readonly ResourceStore[];
}

/** Told of all objects, in order for each resource. Called in turns of the loop: must not wait. */
export interface Changes {
  /** `previous`: of an object that has changed, as it was. */
  present(of: FollowedResource, item: Item, previous: Item | undefined): void;
  absent(of: FollowedResource, item: Item): void;
  /** What was not told in the present round of the resource is gone. */
  settled(of: FollowedResource): void;
  /** It is served from now on: its objects are told next. */
  joined?(of: FollowedResource): void;
  /** It is served no more. `isGone`: nothing of it is stored; else nothing is known of it. */
  left(of: FollowedResource, how: { readonly isGone: boolean }): void;
}

export interface FollowedResourcesOptions {
  /** Absent: those of the cluster, too. */
  readonly isNamespacedOnly?: boolean;
  readonly resources: ResourceMap;
  readonly naming: NamingProfile;
  readonly log: Logger;
  readonly changes: Changes;
}

const neededVerbs = ['delete', 'list', 'watch'] as const;

interface Followed {
  readonly resource: FollowedResource;
  readonly ending: AbortController;
  cursor: Pick<WatchCursor, 'position'> | undefined;
  running: Promise<void>;
}

export class FollowedResources {
  readonly #options: FollowedResourcesOptions;
  readonly #followed = new Map<ResourceView, Followed>();
  readonly #leaving = new Set<Promise<void>>();
  #kinds = { version: -1, stores: new Map<string, ResourceStore>() };

  constructor(options: FollowedResourcesOptions) {
    this.#options = options;
  }

  /** Follows them until the signal fires. */
  async run(signal: AbortSignal): Promise<void> {
    let version = -1;
    while (!signal.aborted) {
      const { resources } = this.#options;
      if (version !== resources.version) {
        version = resources.version;
        this.#update(signal);
      }
      await sleep(limits.servedResourcesCheckMs, signal).catch(() => undefined);
    }
    await Promise.all([...this.#followed.values()].map(({ running }) => running));
    await Promise.all(this.#leaving);
  }

  /** Where objects of this kind are; undefined: it is not served, or not stored. */
  storeOf(apiVersion: string, kind: string): ResourceStore | undefined {
    const { resources } = this.#options;
    if (this.#kinds.version !== resources.version) {
      const stores = new Map<string, ResourceStore>();
      for (const store of resources.all) {
        const key = `${apiVersionOf(store.resource.kind)} ${store.resource.kind.kind}`;
        if (!store.resource.virtual && !stores.has(key)) stores.set(key, store);
      }
      this.#kinds = { version: resources.version, stores };
    }
    return this.#kinds.stores.get(`${apiVersion} ${kind}`);
  }

  /** undefined: its objects are not followed. */
  of(store: ResourceStore): FollowedResource | undefined {
    return this.#followed.get(store.view)?.resource;
  }

  /**
   * Waits until every change up to the revision was told. False: that takes too long for now.
   * @throws what the signal says
   */
  async told(revision: Revision, signal: AbortSignal): Promise<boolean> {
    const pauseMs = limits.garbageLagPauseMs;
    for (let leftMs: number = limits.garbageLagWaitMs; leftMs >= 0; leftMs -= pauseMs) {
      const behind = ({ cursor }: Followed): boolean => (cursor?.position ?? 0) < revision;
      if (![...this.#followed.values()].some(behind)) {
        await nextTurn(); // the last batch may have been given and not been told yet
        return true;
      }
      await sleep(pauseMs, signal);
    }
    return false;
  }

  #update(signal: AbortSignal): void {
    const served = this.#servedViews();
    for (const [view, followed] of this.#followed) {
      if (!served.has(view)) this.#leave(view, followed, signal);
    }
    for (const [view, stores] of served) {
      const followed = this.#followed.get(view);
      if (followed === undefined) this.#begin(view, stores, signal);
      else followed.resource.stores = stores;
    }
  }

  #servedViews(): Map<ResourceView, ResourceStore[]> {
    const served = new Map<ResourceView, ResourceStore[]>();
    for (const store of this.#options.resources.all) {
      if (!this.#canFollow(store)) continue;
      const others = served.get(store.view);
      if (others === undefined) served.set(store.view, [store]);
      else others.push(store);
    }
    return served;
  }

  /** Events are many, end by themselves and own nothing. */
  #canFollow({ resource: of }: ResourceStore): boolean {
    const { group, resource, verbs, virtual, namespaced } = of;
    if (this.#options.isNamespacedOnly === true && !namespaced) return false;
    if (virtual || !neededVerbs.every((verb) => verbs.includes(verb))) return false;
    const groups = ['', this.#options.naming.resolve('events.{v}')];
    return resource !== 'events' || !groups.includes(group);
  }

  #begin(view: ResourceView, stores: readonly ResourceStore[], signal: AbortSignal): void {
    const namespaced = stores.some((store) => store.resource.namespaced);
    const resource: FollowedResource = { view, namespaced, stores, round: 1 };
    const ending = new AbortController();
    const until = AbortSignal.any([signal, ending.signal]);
    const running = Promise.resolve();
    const followed: Followed = { resource, ending, cursor: undefined, running };
    this.#followed.set(view, followed);
    this.#options.changes.joined?.(resource);
    const { log } = this.#options;
    const options = { view, select: { showsUnreadable: true }, log };
    followed.running = follow(this.#follower(followed), options, until);
  }

  #follower(followed: Followed): Follower {
    const { changes } = this.#options;
    const { resource, ending } = followed;
    const { signal } = ending;
    let isRestarted = false;
    return {
      opened: (cursor) => (followed.cursor = cursor),
      restarted: () => {
        resource.round += 1;
        isRestarted = true;
      },
      present: (item, previous) => {
        if (!signal.aborted) changes.present(resource, item, previous);
      },
      absent: (item) => {
        if (!signal.aborted) changes.absent(resource, item);
      },
      synced: () => {
        if (!isRestarted || signal.aborted) return;
        isRestarted = false;
        changes.settled(resource);
      },
    };
  }

  /** Nobody serves its objects any more, so nobody tells what becomes of them. */
  #leave(view: ResourceView, { resource, ending }: Followed, signal: AbortSignal): void {
    this.#followed.delete(view);
    ending.abort(new Error('the resource is served no more'));
    const leaving = isEmpty(view, signal)
      .then((isGone) => this.#options.changes.left(resource, { isGone }))
      .finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }
}

/** As the store has it: the last events may not have been told. Not known counts as no. */
async function isEmpty(view: ResourceView, signal: AbortSignal): Promise<boolean> {
  const one = { limitCount: 1 };
  try {
    const page = await view.list({ showsUnreadable: true }, { mode: 'latest' }, one, signal);
    return page.items.length === 0;
  } catch {
    return false;
  }
}
