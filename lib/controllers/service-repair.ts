// Looks after what services have: claims what nobody claimed for them, removes what is claimed for
// services that are gone, and tells their users what it cannot mend. Right on any number of
// replicas: each repair depends on the service as it was looked at.
import { sleep } from '../base/abort.ts';
import type { Clock } from '../base/clock.ts';
import { limits } from '../base/limits.ts';
import type { Logger } from '../base/log.ts';
import { follow } from '../cacher/follow.ts';
import type { Item, ResourceView } from '../cacher/resource-view.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { holderOf } from '../registry/services/address-pool.ts';
import type { ClaimRepair, Fault } from '../registry/services/claim-repair.ts';
import { KeyedQueue } from './controller.ts';
import type { Controller, QueueObserver, QueueOptions } from './controller.ts';
import { recordEvent } from './events.ts';

export interface ServiceRepairOptions {
  readonly repair: ClaimRepair;
  /** Of services. */
  readonly services: ResourceView;
  /** Of IPAddress objects. */
  readonly addresses: ResourceView;
  /** undefined: they are not served, and nobody is told. */
  readonly events: ResourceStore | undefined;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver;
}

const component = 'ipallocator-repair-controller';

export class ServiceRepairController implements Controller {
  readonly name = 'service-repair';
  readonly #options: ServiceRepairOptions;
  readonly #told = new Set<string>();

  constructor(options: ServiceRepairOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, log, observer, repair, services, addresses } = this.#options;
    const queueOf = (name: string): QueueOptions => ({
      name: `${this.name}-${name}`,
      clock,
      log,
      observer,
    });
    const ofServices = new KeyedQueue(queueOf('services'), async (key, running) => {
      const [namespace = '', name = ''] = key.split('/');
      const telling: Promise<void>[] = [];
      const tell = (service: Item, fault: Fault): void => {
        telling.push(this.#tell(service, fault, running));
      };
      const outcome = await repair.repairService({ namespace, name }, tell, running);
      await Promise.all(telling);
      return outcome;
    });
    const ofAddresses = new KeyedQueue(queueOf('addresses'), (name, running) =>
      repair.repairAddress(name, clock.nowMs(), running),
    );
    const select = { showsUnreadable: true };
    const service = {
      present: (item: Item) => ofServices.add(`${item.namespace}/${item.name}`),
      absent: () => undefined,
    };
    const address = {
      present: (item: Item) => ofAddresses.add(item.name),
      absent: (item: Item) => {
        const holder = holderOf(item);
        if (holder !== undefined) ofServices.add(`${holder.namespace}/${holder.name}`);
      },
    };
    await Promise.all([
      this.#lookAtPorts(signal),
      ofServices.run(signal),
      ofAddresses.run(signal),
      follow(service, { view: services, select, log }, signal),
      follow(address, { view: addresses, select, log }, signal),
    ]);
  }

  async #lookAtPorts(signal: AbortSignal): Promise<void> {
    const { repair, log } = this.#options;
    while (!signal.aborted) {
      try {
        await repair.repairPorts(signal);
        await sleep(limits.serviceRepairIntervalMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        const reason = error instanceof Error ? error.message : String(error);
        log.warn('the ports of services could not be looked at', { reason });
        await sleep(limits.controllerRetryLongestMs, signal).catch(() => undefined);
      }
    }
  }

  /** Once for each fault of a service, as long as it is remembered. */
  async #tell(service: Item, fault: Fault, signal: AbortSignal): Promise<void> {
    const { namespace, name } = service;
    const uid = service.object().metadata?.uid ?? '';
    const key = `${uid} ${fault.reason} ${fault.message}`;
    if (this.#told.has(key)) return;
    if (this.#told.size >= limits.serviceFaultsToldMax) this.#told.clear();
    this.#told.add(key);
    this.#options.log.warn('a service has what is not its own', {
      namespace,
      service: name,
      ...fault,
    });
    const about = { kind: 'Service', apiVersion: 'v1', namespace, name, uid };
    await recordEvent(
      { ...this.#options, component },
      about,
      { type: 'Warning', ...fault },
      signal,
    );
  }
}
