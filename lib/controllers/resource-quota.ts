// Keeps the status of quotas: what they hold for, and what is used of it, counted anew when objects
// go or take less, when a quota is new or has changed, and from time to time. What is taken is
// charged by who stores it. Right on any number of replicas: each write states the version that was
// counted for.
import type { Measure, UsageParts } from '../admission/quota/measure.ts';
import { measureOf } from '../admission/quota/usage.ts';
import { recordIn, valueIn } from '../api/json-access.ts';
import { sameJson } from '../api/json-equal.ts';
import { cloneJson } from '../api/json-value.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import { StatusError } from '../base/status.ts';
import { follow } from '../cacher/follow.ts';
import type { Follower } from '../cacher/follow.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import type { Amounts } from '../kinds/core/container-totals.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceMap } from '../registry/resource-map.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { KeyedQueue } from './controller.ts';
import type { Controller, Outcome, QueueObserver } from './controller.ts';
import { FollowedResources } from './followed-resources.ts';
import type { Changes, FollowedResource } from './followed-resources.ts';
import { NamespaceQuotas } from './quota/namespace-quotas.ts';
import { recount } from './quota/recount.ts';
import type { Recounted } from './quota/recount.ts';

export interface ResourceQuotaObserver extends QueueObserver {
  /** A quota said another amount than a count found, and no release explains it. */
  onQuotaDrift(): void;
}

export interface ResourceQuotaControllerOptions {
  readonly quotas: ResourceStore;
  /** Custom resources join as they are served. */
  readonly resources: ResourceMap;
  readonly parts: UsageParts;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  /** Between two counts of everything; 0: there are none. */
  readonly syncPeriodMs: number;
  readonly observer?: ResourceQuotaObserver | undefined;
}

export class ResourceQuotaController implements Controller {
  readonly name = 'resourcequota';
  readonly #options: ResourceQuotaControllerOptions;

  constructor(options: ResourceQuotaControllerOptions) {
    this.#options = options;
  }

  /** Every run begins with what it follows, and counts everything once. */
  run(signal: AbortSignal): Promise<void> {
    return new QuotaRun(this.name, this.#options, signal).run();
  }
}

class QuotaRun implements Changes {
  readonly #options: ResourceQuotaControllerOptions;
  readonly #signal: AbortSignal;
  readonly #known: NamespaceQuotas;
  readonly #resources: FollowedResources;
  /** By namespace: quotas that are not counted yet wait for nothing that is only counted anew. */
  readonly #first: KeyedQueue;
  readonly #again: KeyedQueue;
  /** Timers by what they are for; each ends with the run. */
  readonly #timers = new Map<string, () => void>();
  /** Namespaces whose next count is one of those from time to time. */
  readonly #periodic = new Set<string>();

  constructor(name: string, options: ResourceQuotaControllerOptions, signal: AbortSignal) {
    const { parts, clock, log, observer, resources } = options;
    this.#options = options;
    this.#signal = signal;
    this.#known = new NamespaceQuotas(parts);
    const { naming } = parts;
    const isNamespacedOnly = true;
    this.#resources = new FollowedResources({
      resources,
      naming,
      log,
      isNamespacedOnly,
      changes: this,
    });
    const queue = (of: string): KeyedQueue =>
      new KeyedQueue(
        { name: `${name}_${of}`, clock, log, workers: limits.quotaWorkers, observer },
        (namespace, running) => this.#reconcile(namespace, running),
      );
    this.#first = queue('priority');
    this.#again = queue('primary');
  }

  async run(): Promise<void> {
    const { quotas, log } = this.#options;
    const signal = this.#signal;
    const select = { showsUnreadable: true };
    const following = follow(this.#follower(), { view: quotas.view, select, log }, signal);
    this.#scheduleFull();
    const queues = [this.#first.run(signal), this.#again.run(signal)];
    await Promise.all([following, this.#resources.run(signal), ...queues]);
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #follower(): Follower {
    return {
      present: (item, previous) => {
        if (item.corrupted) return;
        this.#known.put(item);
        if (previous !== undefined && !previous.corrupted && isChargedOnly(previous, item)) return;
        if (isCounted(item)) this.#soon(item.namespace);
        else this.#first.add(item.namespace);
      },
      absent: (item) => {
        this.#known.remove(item);
      },
    };
  }

  /** An object that takes less, or is counted by other quotas than before. */
  present(of: FollowedResource, item: Item, previous: Item | undefined): void {
    if (previous === undefined) return;
    const measure = this.#measureOf(of);
    if (measure === undefined || measure.ofEach !== undefined) return;
    if (!this.#known.isTracked(item.namespace, measure)) return;
    if (item.corrupted || previous.corrupted || this.#isOther(measure, previous, item)) {
      this.#soon(item.namespace);
    }
  }

  absent(of: FollowedResource, item: Item): void {
    const measure = this.#measureOf(of);
    if (measure === undefined) return;
    if (this.#known.isTracked(item.namespace, measure)) this.#soon(item.namespace);
  }

  settled(of: FollowedResource): void {
    this.#countAll(of);
  }

  joined(of: FollowedResource): void {
    this.#countAll(of);
  }

  left(of: FollowedResource): void {
    this.#countAll(of);
  }

  #measureOf({ stores: [store] }: FollowedResource): Measure | undefined {
    return store && measureOf(store.resource, this.#options.parts.naming);
  }

  /** Every namespace whose quotas count the resource. */
  #countAll(of: FollowedResource): void {
    const measure = this.#measureOf(of);
    if (measure === undefined) return;
    for (const namespace of this.#known.namespaces) {
      if (this.#known.isTracked(namespace, measure)) this.#soon(namespace);
    }
  }

  #isOther(measure: Measure, previous: Item, item: Item): boolean {
    const { parts } = this.#options;
    const [before, now] = [previous.object(), item.object()];
    return (
      measure.scopeText?.(before) !== measure.scopeText?.(now) ||
      !isSame(measure.usage(before, parts), measure.usage(now, parts))
    );
  }

  /** What comes within a moment is counted together. */
  #soon(namespace: string): void {
    if (this.#timers.has(namespace)) return;
    this.#after(namespace, limits.quotaGatherMs, () => this.#again.add(namespace));
  }

  /** One timer for each key: a later one takes the place of the one before. */
  #after(key: string, delayMs: number, run: () => void): void {
    if (this.#signal.aborted) return;
    this.#timers.get(key)?.();
    const cancel = this.#options.clock.after(delayMs, () => {
      this.#timers.delete(key);
      run();
    });
    this.#timers.set(key, cancel);
  }

  #scheduleFull(): void {
    const { syncPeriodMs } = this.#options;
    if (syncPeriodMs <= 0) return;
    this.#after('every namespace', syncPeriodMs, () => {
      for (const namespace of this.#known.namespaces) {
        this.#periodic.add(namespace);
        this.#again.add(namespace);
      }
      this.#scheduleFull();
    });
  }

  async #reconcile(namespace: string, signal: AbortSignal): Promise<Outcome> {
    const { quotas, resources, parts, clock } = this.#options;
    const isPeriodic = this.#periodic.delete(namespace);
    for (let tries = 0; tries < limits.quotaRacesMax; tries++) {
      const options = { quotas: quotas.view, stores: resources.all, parts };
      const { changes, changesAtMs } = await recount(namespace, options, signal);
      if (changesAtMs !== undefined) {
        const delayMs = Math.max(changesAtMs - clock.nowMs(), 0) + 1;
        this.#after(`${namespace} later`, delayMs, () => this.#soon(namespace));
      }
      if (await this.#writeAll(changes, isPeriodic, signal)) return 'done';
    }
    return 'again';
  }

  /** @returns false where one was changed meanwhile, which has to be counted for again. */
  async #writeAll(
    changes: readonly Recounted[],
    isPeriodic: boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    const rest = changes.values();
    let isAllWritten = true;
    const work = async (): Promise<void> => {
      for (const change of rest) {
        const outcome = await this.#write(change, signal);
        if (outcome === 'changed') isAllWritten = false;
        else if (outcome === 'written') this.#note(change, isPeriodic);
      }
    };
    await Promise.all(Array.from({ length: limits.quotaWritesMax }, work));
    return isAllWritten;
  }

  #note({ quota, isNewlyHeld, wasTooLow }: Recounted, isPeriodic: boolean): void {
    const { namespace } = quota;
    if (wasTooLow || (isPeriodic && !isNewlyHeld)) this.#options.observer?.onQuotaDrift();
    if (!isNewlyHeld) return;
    const recheck = (): void => this.#again.add(namespace);
    this.#after(`${namespace} again`, limits.quotaRecheckMs, recheck);
  }

  /** Over the version that was counted for alone. */
  async #write(
    { quota, status }: Recounted,
    signal: AbortSignal,
  ): Promise<'written' | 'changed' | 'gone'> {
    const { client, quotas } = this.#options;
    const { namespace, name } = quota;
    const path = { namespace, name, subresource: 'status' };
    const object: ApiObject = { ...(cloneJson(quota.object()) as ApiObject), status };
    try {
      await client.update(quotas, { path, object }, signal);
      return 'written';
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      if (error.code === 409) return 'changed';
      if (error.code === 404) return 'gone';
      throw error;
    }
  }
}

/** Its status holds for what its spec says, and says how much of each is used. */
function isCounted(quota: Item): boolean {
  const object = quota.object();
  const hard = recordIn(object, 'spec', 'hard');
  const held = recordIn(object, 'status', 'hard');
  const used = recordIn(object, 'status', 'used') ?? {};
  return (
    sameJson(hard ?? {}, held ?? {}) &&
    Object.keys(hard ?? {}).every((name) => Object.hasOwn(used, name))
  );
}

/** What a write of an object changes of a quota; who writes a quota itself leaves a mark. */
const isChargedOnly = (previous: Item, item: Item): boolean =>
  [['spec'], ['status', 'hard'], ['metadata', 'managedFields']].every((path) =>
    sameJson(valueIn(previous.object(), path), valueIn(item.object(), path)),
  );

const isSame = (left: Amounts, right: Amounts): boolean =>
  left.size === right.size && [...left].every(([name, { nano }]) => right.get(name)?.nano === nano);
