// Where services of the cluster are, for calls that name one: at their own address, or at one of
// the endpoints behind it.
import { isIP } from 'node:net';
import {
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  textsAt,
  valueAt,
} from '../../lib/api/json-access.ts';
import type { ResourceInfo } from '../../lib/api/type-info.ts';
import type { NamingProfile } from '../../lib/api/vendor.ts';
import type { Item, ResourceView } from '../../lib/cacher/resource-view.ts';
import { resolveBySystem } from '../../lib/client/addresses.ts';
import type { Address } from '../../lib/client/addresses.ts';
import type { Places } from '../../lib/client/connection-pool.ts';
import { limits } from '../../lib/base/limits.ts';
import { StatusError } from '../../lib/base/status.ts';
import type { ServicePort, ServicesOfCluster } from '../../lib/client/webhook-config.ts';
import { placeText } from '../../lib/client/socket-failure.ts';
import type { ApiObject } from '../../lib/codec/codec.ts';

export interface ClusterServicesOptions {
  /** undefined where none are served, as of the slices. */
  readonly services: Pick<ResourceView, 'get' | 'peek'> | undefined;
  readonly slices: Pick<ResourceView, 'list' | 'all'> | undefined;
  readonly naming: NamingProfile;
  /** `--enable-aggregator-routing`. */
  readonly routesToEndpoints: boolean;
}

/** The views that are read; a resource that is not served has none. */
export function clusterViews(
  { scheme, naming }: { readonly scheme: Scheme; readonly naming: NamingProfile },
  viewOf: (stored: ResourceInfo) => ResourceView,
): Pick<ClusterServicesOptions, 'services' | 'slices'> {
  const services = scheme.storedResource('', 'services');
  const slices = scheme.storedResource(naming.resolve('discovery.{v}'), 'endpointslices');
  return { services: services && viewOf(services), slices: slices && viewOf(slices) };
}

interface Scheme {
  storedResource(group: string, resource: string): ResourceInfo | undefined;
}

type Slices = readonly Readonly<ApiObject>[];

export function clusterServices(options: ClusterServicesOptions): ServicesOfCluster {
  const { services, slices, naming, routesToEndpoints } = options;
  const label = naming.resolve('{kubernetes}.io/service-name');
  const known = new Map<string, Known>();
  return {
    async resolve(asked, signal) {
      const { namespace, name } = asked;
      const item = await services?.get({ namespace, name }, { mode: 'any' }, signal);
      const service = readable(item);
      if (service === undefined) throw new Error(`service "${name}" not found`);
      const spec = recordAt(service, 'spec');
      if (textAt(spec, 'type') === 'ExternalName') {
        return resolveBySystem(textAt(spec, 'externalName'), signal);
      }
      const select = {
        namespace,
        labels: (labels: Readonly<Record<string, string>>) => labels[label] === name,
        showsUnreadable: true,
      };
      const limit = { limitCount: 0 };
      const found = await slices?.list(select, { mode: 'any' }, limit, signal);
      const objects = (found?.items ?? []).map(readable).filter((one) => one !== undefined);
      return placesOf({ service, slices: objects, asked, routesToEndpoints }).addresses;
    },
    places(asked) {
      const { namespace, name, port } = asked;
      const item = services?.peek({ namespace, name });
      const service = readable(item);
      const key = `${namespace}/${name}:${String(port)}`;
      if (item === undefined || service === undefined || slices === undefined) {
        known.delete(key);
        return undefined;
      }
      const behind = slicesOf(slices, namespace, (one) => one.labels[label] === name);
      const before = known.get(key);
      if (before?.service === item && isSame(before.behind, behind)) return before.places;
      const objects = behind.map(readable).filter((one) => one !== undefined);
      const places = orNone(() => placesOf({ service, slices: objects, asked, routesToEndpoints }));
      if (known.size >= limits.clientTargetsMax) known.clear();
      known.set(key, { service: item, behind, places });
      return places;
    },
  };
}

/** What `places` were made of. */
interface Known {
  readonly service: Item;
  readonly behind: readonly Item[];
  readonly places: Places | undefined;
}

const isSame = (one: readonly Item[], other: readonly Item[]): boolean =>
  one.length === other.length && one.every((item, index) => item === other[index]);

const readable = (item: Item | undefined): Readonly<ApiObject> | undefined =>
  item === undefined || item.corrupted ? undefined : item.object();

/** None while memory is being filled. */
function slicesOf(
  slices: Pick<ResourceView, 'all'>,
  namespace: string,
  isMeant: (item: Item) => boolean,
): readonly Item[] {
  try {
    return slices.all(namespace).filter(isMeant);
  } catch (error) {
    if (error instanceof StatusError) return [];
    throw error;
  }
}

/** Where a service is not to be found, whoever connects to it is told why. */
function orNone(find: () => Places): Places | undefined {
  try {
    return find();
  } catch (error) {
    if (error instanceof NoPlace) return undefined;
    throw error;
  }
}

class NoPlace extends Error {}

/** @throws NoPlace in upstream's words */
function placesOf(of: {
  readonly service: Readonly<ApiObject>;
  readonly slices: Slices;
  readonly asked: ServicePort;
  readonly routesToEndpoints: boolean;
}): Places {
  const { name, port } = of.asked;
  const spec = recordAt(of.service, 'spec');
  const type = textAt(spec, 'type');
  if (type === 'ExternalName') throw new NoPlace('it is where its name is');
  const ip = textAt(spec, 'clusterIP');
  if (!of.routesToEndpoints && ip === 'None') {
    throw new NoPlace('cannot route to service with ClusterIP "None"');
  }
  const served = recordsAt(spec, 'ports').find((one) => numberAt(one, 'port') === port);
  if (served === undefined) {
    throw new NoPlace(`no service port ${String(port)} found for service "${name}"`);
  }
  const family = textsAt(spec, 'ipFamilies')[0] ?? (ip.includes(':') ? 'IPv6' : 'IPv4');
  const ready = readyOf(of.slices, textAt(served, 'name'));
  if (!of.routesToEndpoints) {
    if (isIP(ip) === 0) throw new NoPlace(`service "${name}" has no address of its own`);
    return { addresses: [{ ip }], behind: new Set([...ready.values()].flat().map(textOf)) };
  }
  const first = ready.get(family) ?? [];
  const addresses = first.length > 0 ? first : [...ready.values()].flat();
  if (addresses.length === 0) throw new NoPlace(`no endpoints available for service "${name}"`);
  return { addresses: shuffled(addresses) };
}

const textOf = ({ ip, port = 0 }: Address): string => placeText(ip, port);

/** Ready endpoints of a port, by family. */
function readyOf(slices: Slices, portName: string): Map<string, Address[]> {
  const byFamily = new Map<string, Address[]>();
  for (const slice of slices) {
    const one = recordsAt(slice, 'ports').find((each) => textAt(each, 'name') === portName);
    const port = numberAt(one, 'port');
    if (port === undefined) continue;
    const found = recordsAt(slice, 'endpoints')
      .filter((each) => valueAt(recordAt(each, 'conditions'), 'ready') !== false)
      .flatMap((each) => textsAt(each, 'addresses'))
      .filter((ip) => isIP(ip) !== 0)
      .map((ip) => ({ ip, port }));
    const family = textAt(slice, 'addressType');
    byFamily.set(family, [...(byFamily.get(family) ?? []), ...found]);
  }
  return byFamily;
}

/** So that replicas do not all begin with the same one. */
function shuffled(addresses: readonly Address[]): Address[] {
  return addresses
    .map((address) => ({ address, rank: Math.random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ address }) => address);
}
