// The namespaces that every cluster has: a replica that starts creates the missing ones, and one
// that is deleted later comes back.
import type { NamingProfile } from '../api/vendor.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { serverUser } from '../base/user.ts';
import { follow } from '../cacher/follow.ts';
import { internalClient } from '../registry/internal-client.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import { createMissing } from './bootstrap-objects.ts';
import { KeyedQueue } from './controller.ts';
import type { Controller, Outcome, QueueObserver } from './controller.ts';

const systemNamespaces = (naming: NamingProfile): readonly string[] => [
  'default',
  naming.systemNamespace,
  naming.publicNamespace,
  naming.nodeLeaseNamespace,
];

export async function bootstrapNamespaces(
  namespaces: ResourceStore,
  naming: NamingProfile,
  signal: AbortSignal,
): Promise<void> {
  const client = internalClient(serverUser);
  for (const name of systemNamespaces(naming)) {
    await createMissing(namespaces, { name }, client, signal);
  }
}

export interface SystemNamespaceControllerOptions {
  readonly namespaces: ResourceStore;
  readonly naming: NamingProfile;
  readonly client: InternalClient;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer?: QueueObserver | undefined;
}

export class SystemNamespaceController implements Controller {
  readonly name = 'system_namespaces';
  readonly #options: SystemNamespaceControllerOptions;

  constructor(options: SystemNamespaceControllerOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { namespaces, naming, client, clock, log, observer } = this.#options;
    const names = new Set(systemNamespaces(naming));
    const reconcile = async (name: string, running: AbortSignal): Promise<Outcome> => {
      await createMissing(namespaces, { name }, client, running);
      return 'done';
    };
    const queue = new KeyedQueue({ name: this.name, clock, log, observer }, reconcile);
    for (const name of names) queue.add(name);
    const follower = {
      present: () => undefined,
      absent: ({ name }: { readonly name: string }) => {
        if (names.has(name)) queue.add(name);
      },
    };
    const { view } = namespaces;
    const select = { showsUnreadable: true };
    await Promise.all([queue.run(signal), follow(follower, { view, select, log }, signal)]);
  }
}
