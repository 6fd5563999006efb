// Deletes objects whose owners are gone, and lets owners go that wait for their dependents, as the
// policy of their deletion says. Right on any number of replicas, and after any pause: what it does
// holds of the objects as they are stored.
import type { Controller } from './controller.ts';
import { Collection } from './garbage/collection.ts';
import type { CollectionOptions } from './garbage/collection.ts';

export class GarbageCollector implements Controller {
  readonly name = 'garbage_collector';
  readonly #options: CollectionOptions;

  constructor(options: CollectionOptions) {
    this.#options = options;
  }

  /** Every run begins with a graph of its own. */
  run(signal: AbortSignal): Promise<void> {
    return new Collection(this.name, this.#options, signal).run();
  }
}
