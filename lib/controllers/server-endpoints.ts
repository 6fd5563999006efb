// The addresses of the living replicas as Endpoints and EndpointSlices of the default Service. Any
// number of replicas write at once: each reads the object, then who lives, and writes over the
// version that it read, so that nobody undoes what another one saw later.
import { ipFamily } from '../api/ip-address.ts';
import type { IpFamily } from '../api/ip-address.ts';
import { textAt } from '../api/json-access.ts';
import { sameJson } from '../api/json-equal.ts';
import { cloneJson, setMember } from '../api/json-value.ts';
import { apiVersionOf } from '../api/type-info.ts';
import type { JsonObject } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import { StatusError } from '../base/status.ts';
import type { Item } from '../cacher/resource-view.ts';
import type { ApiObject } from '../codec/codec.ts';
import { metaOf } from '../codec/object-meta.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { ReplicaAddress } from '../storage-etcd/living-replicas.ts';
import type { Outcome } from './controller.ts';
import {
  defaultServiceName,
  defaultServiceNamespace,
  defaultServicePortName,
} from './default-service.ts';

export interface ServerEndpointsOptions {
  /** undefined: they are not served. */
  readonly endpoints: ResourceStore | undefined;
  readonly slices: ResourceStore | undefined;
  readonly naming: NamingProfile;
  readonly client: InternalClient;
}

/** Who lives, at this moment or later; rejects rather than to forget somebody. */
export type ReadLiving = () => Promise<readonly ReplicaAddress[]>;

export class ServerEndpoints {
  readonly #options: ServerEndpointsOptions;
  readonly #name: string;
  readonly #serviceLabel: string;
  readonly #skipMirrorLabel: string;

  constructor(options: ServerEndpointsOptions) {
    const { naming } = options;
    this.#options = options;
    this.#name = defaultServiceName(naming);
    this.#serviceLabel = naming.resolve('{kubernetes}.io/service-name');
    this.#skipMirrorLabel = naming.resolve('endpointslice.{kubernetes}.io/skip-mirror');
  }

  /** Brings the objects up to date. `again`: another replica wrote meanwhile. */
  async reconcile(readLiving: ReadLiving, signal: AbortSignal): Promise<Outcome> {
    try {
      await this.#writeEndpoints(readLiving, signal);
      await this.#writeSlices(readLiving, signal);
      return 'done';
    } catch (error) {
      if (error instanceof StatusError && [404, 409].includes(error.code)) return 'again';
      throw error;
    }
  }

  /** A slice of the Service. */
  isOwnSlice(labels: Readonly<Record<string, string>>): boolean {
    return labels[this.#serviceLabel] === this.#name;
  }

  async #writeEndpoints(readLiving: ReadLiving, signal: AbortSignal): Promise<void> {
    const { endpoints: store } = this.#options;
    if (store === undefined) return;
    const namespace = defaultServiceNamespace;
    const key = { namespace, name: this.#name };
    const old = await store.view.get(key, { mode: 'latest' }, signal);
    const subsets = subsetsOf(await readLiving());
    const labels = { [this.#skipMirrorLabel]: 'true' };
    if (old === undefined && subsets.length === 0) return;
    const object = objectOver(old, store, { key, labels });
    setMember(object, 'subsets', subsets);
    await this.#write(store, old, object, signal);
  }

  async #writeSlices(readLiving: ReadLiving, signal: AbortSignal): Promise<void> {
    const { slices: store, client } = this.#options;
    if (store === undefined) return;
    const namespace = defaultServiceNamespace;
    const labels = { [this.#serviceLabel]: this.#name };
    const select = {
      namespace,
      labels: (of: Readonly<Record<string, string>>) => this.isOwnSlice(of),
      showsUnreadable: true,
    };
    const found = await store.view.list(select, { mode: 'latest' }, { limitCount: 0 }, signal);
    const stored = new Map(
      found.items
        .filter(({ name }) => isSliceName(name, this.#name))
        .map((item) => [item.name, item]),
    );
    const wished = slicesOf(await readLiving(), this.#name);
    const first = stored.get(this.#name);
    if (wished.length === 0 && first !== undefined) {
      const addressType = textAt(first.object(), 'addressType');
      wished.push({ name: this.#name, content: { addressType, endpoints: [], ports: [] } });
    }
    for (const { name, content } of wished) {
      let old = stored.get(name);
      stored.delete(name);
      const path = { namespace, name, subresource: '' };
      if (old !== undefined && textAt(old.object(), 'addressType') !== content.addressType) {
        await client.delete(store, { path }, signal); // the type of a slice never changes
        old = undefined;
      }
      // An object of this name that is no slice of the Service has lost its label.
      old ??= await store.view.get({ namespace, name }, { mode: 'latest' }, signal);
      const object = objectOver(old, store, { key: { namespace, name }, labels });
      Object.assign(object, content);
      await this.#write(store, old, object, signal);
    }
    for (const name of stored.keys()) {
      await client.delete(store, { path: { namespace, name, subresource: '' } }, signal);
    }
  }

  async #write(
    store: ResourceStore,
    old: Item | undefined,
    object: ApiObject,
    signal: AbortSignal,
  ): Promise<void> {
    const { client } = this.#options;
    if (old === undefined) {
      await client.create(store, { namespace: defaultServiceNamespace, object }, signal);
    } else if (!sameJson(old.object(), object)) {
      const path = { namespace: old.namespace, name: old.name, subresource: '' };
      await client.update(store, { path, object }, signal);
    }
  }
}

/** A copy of `old`, or a new object, with these labels among its own. */
function objectOver(
  old: Item | undefined,
  store: ResourceStore,
  {
    key,
    labels,
  }: {
    readonly key: { readonly namespace: string; readonly name: string };
    readonly labels: Readonly<Record<string, string>>;
  },
): ApiObject {
  const { kind } = store.resource;
  const object: ApiObject =
    old === undefined
      ? { kind: kind.kind, apiVersion: apiVersionOf(kind), metadata: { ...key } }
      : cloneJson(old.object());
  const meta = metaOf(object);
  meta.labels = { ...meta.labels, ...labels };
  return object;
}

const portOf = (port: number): JsonObject => ({
  name: defaultServicePortName,
  port,
  protocol: 'TCP',
});

/** Replicas with one port share a subset; all in an order that every replica finds. */
export function subsetsOf(replicas: readonly ReplicaAddress[]): JsonObject[] {
  return byPort(replicas).map(([port, ips]) => ({
    addresses: ips.map((ip) => ({ ip })),
    ports: [portOf(port)],
  }));
}

interface SliceContent extends JsonObject {
  addressType: string;
  endpoints: JsonObject[];
  ports: JsonObject[];
}
interface NamedSlice {
  readonly name: string;
  readonly content: SliceContent;
}

const families: readonly IpFamily[] = ['IPv4', 'IPv6'];

/**
 * A slice has one family and one set of ports. The first one has the name of the Service, where
 * clients look for it; the others add what they hold.
 */
export function slicesOf(replicas: readonly ReplicaAddress[], name: string): NamedSlice[] {
  const slices = families.flatMap((family) =>
    byPort(replicas.filter(({ ip }) => ipFamily(ip) === family)).map(([port, ips]) => ({
      name: `${name}-${family.toLowerCase()}-${String(port)}`,
      content: {
        addressType: family,
        endpoints: ips.map((ip) => ({ addresses: [ip], conditions: { ready: true } })),
        ports: [portOf(port)],
      },
    })),
  );
  return slices.map((slice, at) => (at === 0 ? { ...slice, name } : slice));
}

const isSliceName = (name: string, service: string): boolean =>
  name === service ||
  (name.startsWith(`${service}-`) && /^ipv[46]-\d+$/.test(name.slice(service.length + 1)));

function byPort(replicas: readonly ReplicaAddress[]): (readonly [number, readonly string[]])[] {
  const ports = [...new Set(replicas.map(({ port }) => port))].sort((a, b) => a - b);
  return ports.map((port) => {
    const ips = replicas.filter((replica) => replica.port === port).map(({ ip }) => ip);
    return [port, [...new Set(ips)].sort()];
  });
}
