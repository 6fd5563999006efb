// Runs the chosen controllers on the replica that leads. Without Leases (`--runtime-config` can
// turn them off), and where `--controllers` leaves nothing on but kube-apiserver's own work, every
// replica runs them: more writes, the same outcome.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { NamingProfile } from '../../lib/api/vendor.ts';
import type { TokenIssuer } from '../../lib/authn/service-account/token-issuer.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/log.ts';
import { serverUser } from '../../lib/base/user.ts';
import { controllerUser } from '../../lib/controllers/controller-user.ts';
import { Leader } from '../../lib/controllers/leader.ts';
import type { ResourceQuotaObserver } from '../../lib/controllers/resource-quota.ts';
import { internalClient } from '../../lib/registry/internal-client.ts';
import type { ResourceMapHolder } from '../../lib/registry/resource-map.ts';
import type { Services } from '../../lib/registry/services/services.ts';
import { fencedStorage } from '../../lib/storage-etcd/fenced-storage.ts';
import type { Term } from '../../lib/storage-etcd/fenced-storage.ts';
import type { Keyspace } from '../../lib/storage-etcd/keys.ts';
import type { Storage } from '../../lib/storage-etcd/storage.ts';
import type { ControllerContext, ControllerRow } from './controllers.ts';

const leaseName = 'apiserver-controllers';

export interface ControllerOptions {
  readonly controllers: readonly ControllerRow[];
  readonly resources: ResourceMapHolder;
  readonly services: Services | undefined;
  readonly customStoreOf: ControllerContext['customStoreOf'];
  readonly storage: Storage;
  readonly keyspace: Keyspace;
  readonly naming: NamingProfile;
  readonly gates: ControllerContext['gates'];
  readonly flags: ControllerContext['flags'];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly tokens: TokenIssuer;
  readonly serverCa: string;
  readonly observer: ControllerObserver;
}

export interface ControllerObserver extends ResourceQuotaObserver {
  /** This replica begins, or ceases, to lead by the Lease `name`. */
  onLeading(name: string, isLeading: boolean): void;
}

/** Starts them; the returned function resolves when nothing of them runs any more. */
export function runControllers(options: ControllerOptions): () => Promise<void> {
  const leaving = new AbortController();
  const running = lead(options, leaving.signal).catch((error: unknown) => {
    options.logger.error('the controllers ended', { error });
  });
  return async () => {
    leaving.abort(new Error('the server stops'));
    await running;
  };
}

async function lead(options: ControllerOptions, signal: AbortSignal): Promise<void> {
  const { controllers, storage, keyspace, naming, clock, logger: log, observer } = options;
  const store = storesOf(options);
  const work = async (working: AbortSignal, term?: Term): Promise<void> => {
    observer.onLeading(leaseName, true);
    try {
      await Promise.all(controllers.map((row) => runOne(row, { ...options, term }, working)));
    } finally {
      observer.onLeading(leaseName, false);
    }
  };
  const leases = store('coordination.{v}/leases');
  const isShared = controllers.some(({ isOwn }) => isOwn !== true);
  if (leases === undefined || !isShared) return work(signal);
  const leader = new Leader({
    leases,
    namespace: naming.systemNamespace,
    name: leaseName,
    identity: `${hostname()}_${randomUUID()}`,
    client: internalClient(serverUser),
    storage,
    leaseKey: keyspace.key(leases.resource.storagePrefix, naming.systemNamespace, leaseName),
    fenceKey: keyspace.internalKey(leaseName),
    clock,
    log,
  });
  return leader.run(work, signal);
}

/** Made for each lead: nothing of an earlier one is remembered. */
async function runOne(
  row: ControllerRow,
  options: ControllerOptions & { readonly term: Term | undefined },
  signal: AbortSignal,
): Promise<void> {
  const { term, naming, resources, services, clock, logger: log, observer } = options;
  const { tokens, serverCa, keyspace, customStoreOf, gates, flags } = options;
  const user = row.account === undefined ? serverUser : controllerUser(naming, row.account);
  const client = internalClient(user, term);
  const store = storesOf(options);
  const storage = term === undefined ? options.storage : fencedStorage(options.storage, term);
  const within = { resources, services, customStoreOf, store, client, storage, keyspace };
  const server = { naming, gates, flags, clock, log, observer, tokens, serverCa };
  await row.make({ ...within, ...server })?.run(signal);
}

const storesOf =
  ({ resources, naming }: ControllerOptions): ControllerContext['store'] =>
  (name, version = 'v1') => {
    const [first = '', second] = name.split('/');
    const [group, resource] = second === undefined ? ['', first] : [first, second];
    return resources.current.find({ group: naming.resolve(group), version, resource });
  };
