// What one replica has for Services: the pools that they are given addresses and ports from, who
// asks those, and who repairs.
import type { Scheme } from '../../api/scheme.ts';
import type { ResourceInfo } from '../../api/type-info.ts';
import type { ResourceView } from '../../cacher/resource-view.ts';
import type { Storage } from '../../storage-etcd/storage.ts';
import type { Companions } from '../companions.ts';
import { AddressPool } from './address-pool.ts';
import type { AddressPoolOptions } from './address-pool.ts';
import { AddressRanges } from './address-ranges.ts';
import { random } from './bands.ts';
import type { PortRange, Random } from './bands.ts';
import { ClaimRepair } from './claim-repair.ts';
import { PortPool } from './port-pool.ts';
import { serviceCompanions } from './service-companions.ts';
import type { ServicePools } from './service-companions.ts';

export interface ServicesOptions extends Pick<
  AddressPoolOptions,
  'storage' | 'keyspace' | 'media' | 'naming' | 'clock'
> {
  readonly scheme: Scheme;
  /** The view of a stored resource. */
  readonly viewOf: (stored: ResourceInfo) => ResourceView;
  /** `--service-cluster-ip-range`. */
  readonly clusterIpRanges: readonly string[];
  /** `--service-node-port-range`. */
  readonly nodePortRange: PortRange;
  /** Absent: by chance. */
  readonly random?: Random;
}

export interface Services {
  /** For `BuiltInStoreOptions.companionsOf`. */
  readonly companionsOf: (stored: ResourceInfo) => Companions | undefined;
  /** Its writes go to `storage`: that of a leader holds for its term alone. */
  readonly repairOver: (storage: Storage) => ClaimRepair;
  readonly views: { readonly services: ResourceView; readonly addresses: ResourceView };
}

/** undefined: what stands for addresses and ranges is not served. */
export function openServices(options: ServicesOptions): Services | undefined {
  const { scheme, naming, keyspace, viewOf, clusterIpRanges, nodePortRange } = options;
  const group = naming.resolve('networking.{v}');
  const addressResource = scheme.storedResource(group, 'ipaddresses');
  const rangeResource = scheme.storedResource(group, 'servicecidrs');
  const serviceResource = scheme.storedResource('', 'services');
  if (addressResource === undefined || rangeResource === undefined) return undefined;
  if (serviceResource === undefined) return undefined;
  const ranges = new AddressRanges({ view: viewOf(rangeResource), naming, clusterIpRanges });
  const shared = { ...options, random: options.random ?? random };
  const views = { services: viewOf(serviceResource), addresses: viewOf(addressResource) };
  const pools: ServicePools = {
    ranges,
    addresses: new AddressPool({
      ...shared,
      ranges,
      addressResource,
      rangeResource,
      view: views.addresses,
    }),
    ports: new PortPool({ ...shared, range: nodePortRange }),
  };
  const companions = serviceCompanions(pools);
  const repairOver = (storage: Storage): ClaimRepair =>
    new ClaimRepair({
      pools,
      storage,
      view: views.services,
      keyOf: ({ namespace, name }) => keyspace.key(serviceResource.storagePrefix, namespace, name),
    });
  return {
    companionsOf: (stored) => (stored === serviceResource ? companions : undefined),
    repairOver,
    views,
  };
}
