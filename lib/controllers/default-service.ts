// The Service under which clients inside a cluster reach the API servers: the first address of the
// service range, port 443. Made when missing; its type and ports are kept, all else is its users'.
import { firstHost } from '../api/ip-address.ts';
import { numberAt, recordAt, recordsAt, textAt } from '../api/json-access.ts';
import { sameJson } from '../api/json-equal.ts';
import { cloneJson, setMember } from '../api/json-value.ts';
import type { JsonObject } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { Logger } from '../base/log.ts';
import { StatusError } from '../base/status.ts';
import type { ApiObject } from '../codec/codec.ts';
import { isDeleting } from '../codec/object-meta.ts';
import type { InternalClient } from '../registry/internal-client.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { Outcome } from './controller.ts';

/** Where the Service and what belongs to it live. */
export const defaultServiceNamespace = 'default';
export const defaultServiceName = (naming: NamingProfile): string => naming.resolve('{kubernetes}');
export const defaultServicePortName = 'https';

const servicePort = 443;

export interface DefaultServiceOptions {
  readonly services: ResourceStore;
  /** Networks of services' addresses; its own is the first address of the first one. */
  readonly cidrs: readonly string[];
  /** Where this replica listens. */
  readonly port: number;
  /** Port of every node for it; 0: none. */
  readonly nodePort: number;
  /**
   * Ports of the replicas that live, where that is known: replicas may listen on different ones,
   * and a Service with the port of any of them is right.
   */
  readonly livingPorts: (signal: AbortSignal) => Promise<readonly number[]>;
  readonly naming: NamingProfile;
  readonly client: InternalClient;
  readonly log: Logger;
}

export class DefaultService {
  readonly #options: DefaultServiceOptions;
  readonly #key: { readonly namespace: string; readonly name: string };

  constructor(options: DefaultServiceOptions) {
    this.#options = options;
    this.#key = { namespace: defaultServiceNamespace, name: defaultServiceName(options.naming) };
  }

  /** Right on any number of replicas at once. @throws StatusError when it cannot be written. */
  async reconcile(signal: AbortSignal): Promise<Outcome> {
    const old = await this.#read(signal);
    if (old !== undefined) return this.#repair(old, signal);
    const { client, services } = this.#options;
    const { namespace } = this.#key;
    try {
      await client.create(services, { namespace, object: this.#object() }, signal);
    } catch (error) {
      // Another replica may have been first: the name, or only the address, is taken then.
      if ((await this.#read(signal)) === undefined) throw error;
    }
    return 'done';
  }

  async #read(signal: AbortSignal): Promise<Readonly<ApiObject> | undefined> {
    const { view } = this.#options.services;
    return (await view.get(this.#key, { mode: 'latest' }, signal))?.object();
  }

  async #repair(old: Readonly<ApiObject>, signal: AbortSignal): Promise<Outcome> {
    if (isDeleting(old)) return 'done'; // its users' finalizers hold it
    const spec = recordAt(old, 'spec') ?? {};
    const ports = recordsAt(spec, 'ports');
    const stored = numberAt(ports[0], 'targetPort') ?? 0;
    const living = stored === this.#options.port ? [] : await this.#options.livingPorts(signal);
    const wished = [this.#port(living.includes(stored) ? stored : this.#options.port)];
    if (textAt(spec, 'type') === this.#type && sameJson([...ports], wished)) return 'done';
    const { client, services, log } = this.#options;
    const object = cloneJson(old) as ApiObject;
    setMember(object, 'spec', { ...recordAt(object, 'spec'), type: this.#type, ports: wished });
    try {
      await client.update(services, { path: { ...this.#key, subresource: '' }, object }, signal);
    } catch (error) {
      if (error instanceof StatusError && [404, 409].includes(error.code)) return 'again';
      throw error;
    }
    log.warn('the Service of the API servers has its type and ports back', { ...this.#key });
    return 'done';
  }

  #object(): ApiObject {
    const { cidrs, naming, port } = this.#options;
    const address = firstHost(cidrs[0] ?? '');
    return {
      kind: 'Service',
      apiVersion: 'v1',
      metadata: {
        ...this.#key,
        labels: { component: 'apiserver', provider: naming.resolve('{kubernetes}') },
      },
      spec: {
        type: this.#type,
        ...(address === undefined ? {} : { clusterIP: address }),
        ipFamilyPolicy: 'SingleStack',
        sessionAffinity: 'None',
        ports: [this.#port(port)],
      },
    };
  }

  get #type(): 'ClusterIP' | 'NodePort' {
    return this.#options.nodePort === 0 ? 'ClusterIP' : 'NodePort';
  }

  #port(targetPort: number): JsonObject {
    const { nodePort } = this.#options;
    return {
      name: defaultServicePortName,
      protocol: 'TCP',
      port: servicePort,
      targetPort,
      ...(nodePort === 0 ? {} : { nodePort }),
    };
  }
}
