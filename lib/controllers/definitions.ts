// Ends custom resource definitions whose deletion has begun: nothing of their resources is stored
// as long as none is served, so that what holds them can go at once.
import { cloneJson } from '../api/json-value.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { follow } from '../cacher/follow.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { isDeleting, metaOf } from '../codec/object-meta.ts';
import { cleanupFinalizer } from '../kinds/apiextensions/definitions.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { KeyedQueue } from './controller.ts';
import type { Controller, Outcome, QueueObserver } from './controller.ts';

export interface DefinitionControllerOptions {
  readonly definitions: ResourceStore;
  readonly naming: NamingProfile;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

export class DefinitionController implements Controller {
  readonly name = 'definition';
  readonly #options: DefinitionControllerOptions;
  readonly #finalizer: string;

  constructor(options: DefinitionControllerOptions) {
    this.#options = options;
    this.#finalizer = cleanupFinalizer(options.naming);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, definitions, log, observer } = this.#options;
    const queue = new KeyedQueue({ name: this.name, clock, log, observer }, (name, running) =>
      this.#reconcile(name, running),
    );
    const follower = {
      present: (item: Item) => {
        if (this.#isHeld(item)) queue.add(item.name);
      },
      absent: () => undefined,
    };
    const { view } = definitions;
    const select = { showsUnreadable: true };
    await Promise.all([queue.run(signal), follow(follower, { view, select, log }, signal)]);
  }

  async #reconcile(name: string, signal: AbortSignal): Promise<Outcome> {
    const { client, definitions } = this.#options;
    const select = { name, showsUnreadable: true };
    const { items } = await definitions.view.list(
      select,
      { mode: 'latest' },
      { limitCount: 1 },
      signal,
    );
    const [item] = items;
    if (item === undefined || !this.#isHeld(item)) return 'done';
    const object = cloneJson(item.object()) as ApiObject;
    const meta = metaOf(object);
    meta.finalizers = (meta.finalizers ?? []).filter((one) => one !== this.#finalizer);
    const path = { namespace: '', name, subresource: '' };
    await client.update(definitions, { path, object }, signal);
    return 'done';
  }

  #isHeld(item: Item): boolean {
    if (item.corrupted) return false;
    const object = item.object();
    return isDeleting(object) && (object.metadata?.finalizers ?? []).includes(this.#finalizer);
  }
}
