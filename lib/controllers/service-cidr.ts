// Keeps ServiceCIDRs until their addresses are gone: each gets a finalizer and is Ready; one whose
// deletion has begun stays, and says so, while an address lies in it alone. Right on any number of
// replicas: each write states the version it read.
import type { NamingProfile } from '../api/vendor.ts';
import { cloneJson } from '../api/json-value.ts';
import { textAt } from '../api/json-access.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import { StatusError } from '../base/status.ts';
import { Yielder } from '../base/yielder.ts';
import { follow } from '../cacher/follow.ts';
import type { Follower } from '../cacher/follow.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { isDeleting, metaOf } from '../codec/object-meta.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { KeyedQueue } from './controller.ts';
import type { Controller, Outcome, QueueObserver } from './controller.ts';
import { dependsOn, isCovered, readyCondition, withReadiness } from './service-cidr-state.ts';
import type { Readiness } from './service-cidr-state.ts';

export interface ServiceCidrControllerOptions {
  readonly ranges: ResourceStore;
  /** IPAddress objects. */
  readonly addresses: ResourceStore;
  readonly naming: NamingProfile;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

const ready: Readiness = { isReady: true, reason: '', message: 'Service CIDR is ready' };
const terminating: Readiness = {
  isReady: false,
  reason: 'Terminating',
  message:
    'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a ' +
    'new ServiceCIDR that includes them',
};

export class ServiceCidrController implements Controller {
  readonly name = 'service-cidr';
  readonly #options: ServiceCidrControllerOptions;
  readonly #finalizer: string;
  /** Ranges whose deletion has begun: what else changes decides when they may go. */
  readonly #leaving = new Set<string>();
  readonly #waits = new Map<string, () => void>();

  constructor(options: ServiceCidrControllerOptions) {
    this.#options = options;
    this.#finalizer = options.naming.resolve('networking.{v}/service-cidr-finalizer');
  }

  async run(signal: AbortSignal): Promise<void> {
    const { ranges, addresses, clock, log, observer } = this.#options;
    const queue: KeyedQueue = new KeyedQueue(
      { name: this.name, clock, log, observer },
      (name, running) => this.#reconcile(name, queue, running),
    );
    const select = { showsUnreadable: true };
    const addLeaving = (): void => {
      for (const name of this.#leaving) queue.add(name);
    };
    const byRange = this.#rangeFollower(queue, addLeaving);
    const byAddress: Follower = {
      present: () => undefined,
      absent: addLeaving,
      synced: addLeaving,
    };
    await Promise.all([
      queue.run(signal),
      follow(byRange, { view: ranges.view, select, log }, signal),
      follow(byAddress, { view: addresses.view, select, log }, signal),
    ]);
    for (const cancel of this.#waits.values()) cancel();
    this.#waits.clear();
    this.#leaving.clear();
  }

  #rangeFollower(queue: KeyedQueue, addLeaving: () => void): Follower {
    return {
      present: (item) => {
        if (item.corrupted) return;
        if (isDeleting(item.object())) this.#leaving.add(item.name);
        queue.add(item.name);
        addLeaving(); // it may hold their addresses
      },
      absent: ({ name }) => {
        this.#leaving.delete(name);
        this.#waits.get(name)?.();
        this.#waits.delete(name);
      },
    };
  }

  async #reconcile(name: string, queue: KeyedQueue, signal: AbortSignal): Promise<Outcome> {
    const ranges = await this.#listRanges(signal);
    const range = ranges.find((item) => item.name === name)?.object();
    if (range === undefined) return 'done';
    try {
      if (!isDeleting(range)) {
        await this.#keep(name, range, signal);
        return 'done';
      }
      if (!(range.metadata?.finalizers ?? []).includes(this.#finalizer)) return 'done';
      const others = ranges.map((item) => item.object()).filter((other) => !isDeleting(other));
      if (await this.#holdsAddresses(range, others, signal)) {
        await this.#report(name, range, terminating, signal);
        return 'done';
      }
      if (this.#waitOut(name, range, queue)) return 'done';
      await this.#release(name, range, signal);
      return 'done';
    } catch (error) {
      if (error instanceof StatusError && error.code === 404) return 'done';
      if (error instanceof StatusError && error.code === 409) return 'again';
      throw error;
    }
  }

  /** Those that can be read, as the store has them now. */
  async #listRanges(signal: AbortSignal): Promise<readonly Item[]> {
    const select = { showsUnreadable: true };
    const { view } = this.#options.ranges;
    const { items } = await view.list(select, { mode: 'latest' }, { limitCount: 0 }, signal);
    return items.filter((item) => !item.corrupted);
  }

  /** Finalizer first: a range that is Ready does not go under its addresses. */
  async #keep(name: string, range: Readonly<ApiObject>, signal: AbortSignal): Promise<void> {
    let current = range;
    const finalizers = range.metadata?.finalizers ?? [];
    if (!finalizers.includes(this.#finalizer)) {
      const object = cloneJson(range) as ApiObject;
      metaOf(object).finalizers = [...finalizers, this.#finalizer];
      current = (await this.#write({ name, subresource: '' }, object, signal)).object();
    }
    await this.#report(name, current, ready, signal);
  }

  async #report(
    name: string,
    range: Readonly<ApiObject>,
    readiness: Readiness,
    signal: AbortSignal,
  ): Promise<void> {
    const old = readyCondition(range);
    const isTold =
      textAt(old, 'status') === (readiness.isReady ? 'True' : 'False') &&
      (readiness.isReady || textAt(old, 'reason') === readiness.reason);
    if (isTold) return;
    const object = withReadiness(range, readiness, this.#options.clock.nowMs());
    await this.#write({ name, subresource: 'status' }, object, signal);
  }

  async #holdsAddresses(
    range: Readonly<ApiObject>,
    others: readonly Readonly<ApiObject>[],
    signal: AbortSignal,
  ): Promise<boolean> {
    if (isCovered(range, others)) return false;
    const isHeld = dependsOn(range, others);
    const { view } = this.#options.addresses;
    const select = { showsUnreadable: true };
    const { items } = await view.list(select, { mode: 'latest' }, { limitCount: 0 }, signal);
    const yielder = new Yielder();
    for (const { name } of items) {
      if (isHeld(name)) return true;
      if (yielder.isDue()) await yielder.yield();
    }
    return false;
  }

  /**
   * Whether it is too early: replicas that have not seen the deletion yet may still hand out
   * addresses of the range. It is looked at again when the time is over.
   */
  #waitOut(name: string, range: Readonly<ApiObject>, queue: KeyedQueue): boolean {
    const { clock } = this.#options;
    const graceMs = limits.serviceCidrDeletionGraceMs;
    const beganMs = Date.parse(range.metadata?.deletionTimestamp ?? '');
    const leftMs = Math.min(beganMs + graceMs - clock.nowMs(), graceMs);
    if (!(leftMs > 0)) return false;
    this.#waits.get(name)?.();
    const look = (): void => {
      this.#waits.delete(name);
      queue.add(name);
    };
    this.#waits.set(name, clock.after(leftMs, look));
    return true;
  }

  async #release(name: string, range: Readonly<ApiObject>, signal: AbortSignal): Promise<void> {
    const object = cloneJson(range) as ApiObject;
    const meta = metaOf(object);
    meta.finalizers = (meta.finalizers ?? []).filter((one) => one !== this.#finalizer);
    await this.#write({ name, subresource: '' }, object, signal);
  }

  /** `object` carries its resourceVersion: a range that changed since is 409. */
  async #write(
    { name, subresource }: { readonly name: string; readonly subresource: string },
    object: ApiObject,
    signal: AbortSignal,
  ): Promise<Item> {
    const { client, ranges } = this.#options;
    const path = { namespace: '', name, subresource };
    return client.update(ranges, { path, object }, signal);
  }
}
