// The pools that Services of one replica are given addresses and ports from, and who asks them.
import type { Scheme } from '../../api/scheme.ts';
import type { ResourceInfo } from '../../api/type-info.ts';
import type { ResourceView } from '../../cacher/resource-view.ts';
import type { Companions } from '../companions.ts';
import { AddressPool } from './address-pool.ts';
import type { AddressPoolOptions } from './address-pool.ts';
import { AddressRanges } from './address-ranges.ts';
import { random } from './bands.ts';
import type { PortRange, Random } from './bands.ts';
import { PortPool } from './port-pool.ts';
import { serviceCompanions } from './service-companions.ts';
import type { ServicePools } from './service-companions.ts';

export interface ServicePoolOptions extends Pick<
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

export function servicePools(options: ServicePoolOptions): ServicePools {
  const { scheme, naming, viewOf, clusterIpRanges, nodePortRange } = options;
  const group = naming.resolve('networking.{v}');
  const resourceOf = (plural: string): ResourceInfo => {
    const found = scheme.storedResources.find(
      ({ group: of, resource }) => of === group && resource === plural,
    );
    if (found === undefined) throw new Error(`${plural} are a built-in resource`);
    return found;
  };
  const [addressResource, rangeResource] = [resourceOf('ipaddresses'), resourceOf('servicecidrs')];
  const ranges = new AddressRanges({ view: viewOf(rangeResource), naming, clusterIpRanges });
  const shared = { ...options, random: options.random ?? random };
  return {
    ranges,
    addresses: new AddressPool({
      ...shared,
      ranges,
      addressResource,
      rangeResource,
      view: viewOf(addressResource),
    }),
    ports: new PortPool({ ...shared, range: nodePortRange }),
  };
}

/** For `BuiltInStoreOptions.companionsOf`. */
export function companionsOfServices(
  pools: ServicePools,
): (stored: ResourceInfo) => Companions | undefined {
  const companions = serviceCompanions(pools);
  return ({ group, resource }) =>
    group === '' && resource === 'services' ? companions : undefined;
}
