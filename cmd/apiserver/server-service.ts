// Publishes this server inside the cluster: the default Service, its range, and the addresses of
// the replicas.
import { canonicalCidr, canonicalIp, specialIpProblems } from '../../lib/api/ip-address.ts';
import type { NamingProfile } from '../../lib/api/vendor.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/log.ts';
import { serverUser } from '../../lib/base/user.ts';
import type { Flags } from '../../lib/config/flags.ts';
import { DefaultServiceCidr } from '../../lib/controllers/default-service-cidr.ts';
import { DefaultService, defaultServiceName } from '../../lib/controllers/default-service.ts';
import { ServerEndpoints } from '../../lib/controllers/server-endpoints.ts';
import { ServerService } from '../../lib/controllers/server-service.ts';
import { internalClient } from '../../lib/registry/internal-client.ts';
import type { ResourceMapHolder } from '../../lib/registry/resource-map.ts';
import type { ResourceStore } from '../../lib/registry/resource-store.ts';
import type { Keyspace } from '../../lib/storage-etcd/keys.ts';
import { LivingReplicas } from '../../lib/storage-etcd/living-replicas.ts';
import type { ReplicaAddress } from '../../lib/storage-etcd/living-replicas.ts';
import type { Storage } from '../../lib/storage-etcd/storage.ts';
import { publishedAddress } from './own-address.ts';
import type { WorkerLink } from './workers/worker-link.ts';

export interface ServerServiceStart {
  readonly flags: Flags;
  readonly resources: ResourceMapHolder;
  readonly storage: Storage;
  readonly keyspace: Keyspace;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Where this replica listens. */
  readonly port: number;
  /** undefined: there is one process at that address. */
  readonly worker?: Pick<WorkerLink, 'isReplaced'> | undefined;
}

/**
 * Makes what is missing and goes on keeping it; the returned function takes the address of this
 * replica away and resolves when nothing runs any more.
 */
export async function startServerService(
  options: ServerServiceStart,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const { logger } = options;
  const controller = serverService(options);
  const leaving = new AbortController();
  await controller.bootstrap(signal);
  const running = controller.run(leaving.signal).catch((error: unknown) => {
    logger.error('the Service of the API servers is not kept any more', { error });
  });
  return async () => {
    leaving.abort(new Error('the server stops'));
    await running;
  };
}

function serverService(options: ServerServiceStart): ServerService {
  const { flags, resources, storage, keyspace, naming, clock, logger: log, port } = options;
  const find = (group: string, resource: string): ResourceStore | undefined =>
    resources.current.find({ group: naming.resolve(group), version: 'v1', resource });
  const stores = {
    ranges: find('networking.{v}', 'servicecidrs'),
    services: find('', 'services'),
    endpoints: find('', 'endpoints'),
    slices: find('discovery.{v}', 'endpointslices'),
  };
  const client = internalClient(serverUser);
  const cidrs = flags['service-cluster-ip-range'].map((cidr) => canonicalCidr(cidr) ?? cidr);
  const replicas = new LivingReplicas(storage, keyspace);
  const shared = { cidrs, naming, client, clock, log };
  const { ranges, services } = stores;
  const nodePort = flags['kubernetes-service-node-port'];
  const livingPorts = async (signal: AbortSignal): Promise<readonly number[]> =>
    (await replicas.list(signal)).replicas.map((replica) => replica.port);
  return new ServerService({
    range: ranges && new DefaultServiceCidr({ ...shared, ranges, events: find('', 'events') }),
    service: services && new DefaultService({ ...shared, services, port, nodePort, livingPorts }),
    endpoints: new ServerEndpoints({ ...stores, naming, client }),
    stores,
    objectName: defaultServiceName(naming),
    replicas,
    own: ownAddress(options),
    leaves: () => options.worker?.isReplaced !== true,
    clock,
    log,
  });
}

/** undefined: nobody could reach it, or the flag says so. */
function ownAddress({ flags, logger, port }: ServerServiceStart): ReplicaAddress | undefined {
  if (flags['endpoint-reconciler-type'] === 'none') return undefined;
  const address = publishedAddress(flags);
  const problems = specialIpProblems(address);
  if (problems.length === 0) return { ip: canonicalIp(address) ?? address, port };
  const reason = `${address} ${problems.join(', ')}`;
  logger.info(
    'no endpoints are published for this replica: --advertise-address names where others reach it',
    { reason },
  );
  return undefined;
}
