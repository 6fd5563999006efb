// How clients inside a cluster find the API servers: the default ServiceCIDR, the Service with its
// first address, and the addresses of the replicas that live. Every replica does this, beside the
// others: what it cannot write now it tries again, and what somebody changes or deletes comes back.
import { pause } from '../base/clock.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import { follow } from '../cacher/follow.ts';
import type { Follower, FollowOptions } from '../cacher/follow.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { LivingReplicas, ReplicaAddress } from '../storage-etcd/living-replicas.ts';
import { KeyedQueue } from './controller.ts';
import type { Controller, Outcome } from './controller.ts';
import type { DefaultServiceCidr } from './default-service-cidr.ts';
import type { DefaultService } from './default-service.ts';
import { defaultServiceNamespace } from './default-service.ts';
import type { ServerEndpoints } from './server-endpoints.ts';

export interface ServerServiceOptions {
  /** What keeps each object; undefined where its resource is not served. */
  readonly range: DefaultServiceCidr | undefined;
  readonly service: DefaultService | undefined;
  readonly endpoints: ServerEndpoints;
  /** Where the objects are followed. */
  readonly stores: {
    readonly ranges: ResourceStore | undefined;
    readonly services: ResourceStore | undefined;
    readonly endpoints: ResourceStore | undefined;
    readonly slices: ResourceStore | undefined;
  };
  /** Of the range, the Service and its Endpoints. */
  readonly objectName: string;
  readonly replicas: LivingReplicas;
  /** Under which this replica is published; undefined: it is not, and publishes nobody. */
  readonly own: ReplicaAddress | undefined;
  /** Whether nobody serves at that address any more when this process ends. Default: so it is. */
  readonly leaves?: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

type Part = 'range' | 'service' | 'endpoints';
/** In this order: the address of the Service comes from the range. */
const parts: readonly Part[] = ['range', 'service', 'endpoints'];

export class ServerService implements Controller {
  readonly name = 'server-service';
  readonly #options: ServerServiceOptions;

  constructor(options: ServerServiceOptions) {
    this.#options = options;
  }

  /**
   * One try at each, for a start, and another one where a replica beside it was first; `run` goes
   * on with what fails. Rejects only when aborted.
   */
  async bootstrap(signal: AbortSignal): Promise<void> {
    for (const part of parts) {
      try {
        while ((await this.#reconcile(part, signal)) === 'again') signal.throwIfAborted();
      } catch (error) {
        if (signal.aborted) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        this.#options.log.warn('not made yet; tries again', { part, reason });
      }
    }
  }

  /** Takes the address of this replica away when the signal fires. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, own, stores } = this.#options;
    const queue = new KeyedQueue({ name: this.name, clock, log }, (part, running) =>
      this.#reconcile(part as Part, running),
    );
    for (const part of parts) queue.add(part);
    await Promise.all([
      queue.run(signal),
      this.#follow(stores.ranges, '', () => queue.add('range'), signal),
      this.#follow(stores.services, defaultServiceNamespace, () => queue.add('service'), signal),
      ...(own === undefined ? [] : this.#publishing(queue, signal)),
    ]);
    const { leaves = () => true } = this.#options;
    if (own !== undefined && leaves()) await this.#leave(own);
  }

  #publishing(queue: KeyedQueue, signal: AbortSignal): readonly Promise<void>[] {
    const { endpoints, stores, log } = this.#options;
    const add = (): void => queue.add('endpoints');
    const select = {
      namespace: defaultServiceNamespace,
      labels: (labels: Readonly<Record<string, string>>) => endpoints.isOwnSlice(labels),
    };
    return [
      this.#follow(stores.endpoints, defaultServiceNamespace, add, signal),
      ...(stores.slices === undefined
        ? []
        : [followAny(add, { view: stores.slices.view, select, log }, signal)]),
      this.#refreshOften(queue, signal),
      this.#seeOthers(queue, signal),
    ];
  }

  async #follow(
    store: ResourceStore | undefined,
    namespace: string,
    changed: () => void,
    signal: AbortSignal,
  ): Promise<void> {
    if (store === undefined) return;
    const { objectName, log } = this.#options;
    const select = { ...(namespace === '' ? {} : { namespace }), name: objectName };
    await followAny(changed, { view: store.view, select, log }, signal);
  }

  async #reconcile(part: Part, signal: AbortSignal): Promise<Outcome> {
    const { range, service, endpoints, own, replicas } = this.#options;
    if (part === 'range') return (await range?.reconcile(signal)) ?? 'done';
    if (part === 'service') return (await service?.reconcile(signal)) ?? 'done';
    if (own === undefined) return 'done';
    // Whatever happens below, the others see that this replica lives. A list without it is not
    // believed: then its key ended meanwhile, and those of others may have with it.
    await replicas.refresh(own, signal);
    const readLiving = async (): Promise<readonly ReplicaAddress[]> => {
      const { replicas: living } = await replicas.list(signal);
      if (living.some(({ ip, port }) => ip === own.ip && port === own.port)) return living;
      throw new Error('this replica is not among those that live: nothing is published');
    };
    return endpoints.reconcile(readLiving, signal);
  }

  async #refreshOften(queue: KeyedQueue, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(this.#options.clock, limits.replicaRefreshIntervalMs, signal);
      queue.add('endpoints');
    }
  }

  /** A replica that comes or goes is noticed at once. */
  async #seeOthers(queue: KeyedQueue, signal: AbortSignal): Promise<void> {
    const { replicas, log } = this.#options;
    while (!signal.aborted) {
      try {
        const { revision } = await replicas.list(signal);
        for (const part of parts) queue.add(part);
        for await (const _change of replicas.changes(revision, signal)) {
          for (const part of parts) queue.add(part);
        }
      } catch (error) {
        if (signal.aborted) return;
        log.info('the other replicas are looked at again', { reason: String(error) });
        await pause(this.#options.clock, limits.replicaRefreshIntervalMs, signal);
      }
    }
  }

  /** Best effort: without it the key of this replica ends by itself, and another one notices. */
  async #leave(own: ReplicaAddress): Promise<void> {
    const { replicas, endpoints, log } = this.#options;
    const signal = AbortSignal.timeout(limits.replicaLeaveTimeoutMs);
    const readLiving = async (): Promise<readonly ReplicaAddress[]> =>
      (await replicas.list(signal)).replicas;
    try {
      await replicas.remove(own, signal);
      while ((await endpoints.reconcile(readLiving, signal)) === 'again') signal.throwIfAborted();
    } catch (error) {
      const fields = { ...own, reason: String(error) };
      log.warn('the address of this replica is published a little longer', fields);
    }
  }
}

/** Calls back at every change, and once for each state. */
async function followAny(
  changed: () => void,
  { view, select, log }: FollowOptions,
  signal: AbortSignal,
): Promise<void> {
  const follower: Follower = { present: changed, absent: changed, synced: changed };
  await follow(follower, { view, select: { ...select, showsUnreadable: true }, log }, signal);
}
