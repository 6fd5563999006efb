// The controllers that run inside the server, on the replica that leads.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { NamingProfile } from '../../lib/api/vendor.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/log.ts';
import { serverUser } from '../../lib/base/user.ts';
import type { Controller } from '../../lib/controllers/controller.ts';
import { DefinitionController } from '../../lib/controllers/definitions.ts';
import { Leader } from '../../lib/controllers/leader.ts';
import { NamespaceController, namespaceControllerUser } from '../../lib/controllers/namespace.ts';
import { internalClient } from '../../lib/registry/internal-client.ts';
import type { ResourceMapHolder } from '../../lib/registry/resource-map.ts';
import type { ResourceStore } from '../../lib/registry/resource-store.ts';

const leaseName = 'apiserver-controllers';

export interface ControllerOptions {
  readonly namespaces: ResourceStore;
  readonly resources: ResourceMapHolder;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told when this replica begins and ceases to lead. */
  readonly onLeading: (name: string, isLeading: boolean) => void;
}

/** Starts them; the returned function resolves when nothing of them runs any more. */
export function startControllers(options: ControllerOptions): () => Promise<void> {
  const { namespaces, resources, naming, clock, logger: log } = options;
  const definitions = resources.current.find({
    group: naming.resolve('apiextensions.{v}'),
    version: 'v1',
    resource: 'customresourcedefinitions',
  });
  const controllers: readonly Controller[] = [
    new NamespaceController({
      namespaces,
      resources,
      naming,
      client: internalClient(namespaceControllerUser(naming)),
      clock,
      log,
    }),
    ...(definitions === undefined
      ? []
      : [
          new DefinitionController({
            definitions,
            naming,
            client: internalClient(serverUser),
            clock,
            log,
          }),
        ]),
  ];
  const leaving = new AbortController();
  const work = async (signal: AbortSignal): Promise<void> => {
    options.onLeading(leaseName, true);
    try {
      await Promise.all(controllers.map((controller) => controller.run(signal)));
    } finally {
      options.onLeading(leaseName, false);
    }
  };
  const running = lead(options, work, leaving.signal).catch((error: unknown) => {
    log.error('the controllers ended', { error });
  });
  return async () => {
    leaving.abort(new Error('the server stops'));
    await running;
  };
}

/**
 * Without Leases (`--runtime-config` can turn them off) every replica works: more writes, the same
 * outcome.
 */
function lead(
  { resources, naming, clock, logger: log }: ControllerOptions,
  work: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const group = naming.resolve('coordination.{v}');
  const leases = resources.current.find({ group, version: 'v1', resource: 'leases' });
  if (leases === undefined) return work(signal);
  const leader = new Leader({
    leases,
    namespace: naming.systemNamespace,
    name: leaseName,
    identity: `${hostname()}_${randomUUID()}`,
    client: internalClient(serverUser),
    clock,
    log,
  });
  return leader.run(work, signal);
}
