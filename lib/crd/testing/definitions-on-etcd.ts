// Definitions of custom resources over a real etcd, served by replicas as their stores: for suites.
// Nobody accepts them here: `define` writes the status that says so.
import { textAt } from '../../api/json-access.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { createLogger } from '../../base/log.ts';
import type { Item } from '../../cacher/resource-view.ts';
import type {
  RegistryOnEtcd,
  Replica,
  ReplicaOptions,
} from '../../registry/testing/registry-on-etcd.ts';
import { sent, VerbDriver } from '../../registry/testing/verb-driver.ts';
import type { Sent } from '../../registry/testing/verb-driver.ts';
import type { ResourceStore } from '../../registry/resource-store.ts';
import { defaultValidation } from '../../registry/validation.ts';
import { clientParts } from '../../client/testing/open-calls.ts';
import { testMetrics } from '../../telemetry/testing/test-metrics.ts';
import { ConversionMetrics } from '../conversion/conversion-metrics.ts';
import { definitionStores } from '../definition-stores.ts';
import { ServedDefinitions } from '../served-definitions.ts';

/** A version as definitions have it; its schema knows nothing and keeps everything unless given. */
export interface GivenVersion {
  readonly name: string;
  /** Default: true. */
  readonly served?: boolean;
  /** Default: the first version is. */
  readonly storage?: boolean;
  /** `openAPIV3Schema`. */
  readonly schema?: object;
  readonly subresources?: object;
  /** Anything else: `deprecated`, `additionalPrinterColumns`, `selectableFields`. */
  readonly more?: object;
}

export interface GivenDefinition {
  /** Default: `example.com`. */
  readonly group?: string;
  /** Kind and singular are made of it: `widgets` are of the kind `Widget`. */
  readonly plural: string;
  /** Default: `Namespaced`. */
  readonly scope?: 'Namespaced' | 'Cluster';
  readonly versions: readonly GivenVersion[];
  /** Of the spec. */
  readonly more?: object;
  readonly annotations?: Readonly<Record<string, string>>;
}

const keepsAll = { type: 'object', 'x-svc-preserve-unknown-fields': true };

/** As a client sends it. */
export function definitionOf(given: GivenDefinition): JsonObject {
  const { group = 'example.com', plural, scope = 'Namespaced' } = given;
  const singular = plural.replace(/s$/, '');
  const kind = singular.replace(/^./, (first) => first.toUpperCase());
  const versions = given.versions.map((version, index) => {
    const { name, served = true, storage = index === 0, schema = keepsAll, more } = version;
    const { subresources } = version;
    const own = { name, served, storage, schema: { openAPIV3Schema: schema } };
    return { ...own, ...(subresources === undefined ? {} : { subresources }), ...more };
  });
  const names = { plural, singular, kind, listKind: `${kind}List` };
  return JSON.parse(
    JSON.stringify({
      metadata: { name: `${plural}.${group}`, annotations: given.annotations },
      spec: { group, scope, names, versions, ...given.more },
    }),
  ) as JsonObject;
}

/** What makes one replica serve custom resources: its options, and then the replica itself. */
export class ServingDefinitions {
  #served: ServedDefinitions | undefined;
  #replica: Replica | undefined;
  readonly #ending = new AbortController();

  /** For the replica: it tells of definitions that it stores. */
  get replicaOptions(): Pick<ReplicaOptions, 'onStoredOf'> {
    return {
      onStoredOf: ({ resource }) =>
        resource === 'customresourcedefinitions'
          ? (item: Item) => this.#served?.set(item)
          : undefined,
    };
  }

  /** Serves what is defined from now on; resolves when all that was defined before is served. */
  async begin(replica: Replica): Promise<void> {
    const { scheme, cache, media, deps, stores: resources } = replica;
    const definitions = replica.store(definitionsName(replica)).stored.resource;
    const view = cache.view(definitions);
    const makeStores = definitionStores({
      ...{ deps, cache, media, view, validation: defaultValidation },
      companionsOf: (custom) => replica.quotas?.of(custom),
      objectMeta: scheme.type('meta/v1.ObjectMeta'),
      calls: clientParts(),
      conversionMetrics: new ConversionMetrics(testMetrics().series),
      definitionKey: (name) => deps.keyspace.key(definitions.storagePrefix, '', name),
      proven: (signal) => resources.proven(signal),
    });
    const log = createLogger('error');
    this.#replica = replica;
    this.#served = new ServedDefinitions({ scheme, view, resources, makeStores, log });
    await this.#served.run(this.#ending.signal).whole;
  }

  get served(): ServedDefinitions {
    if (this.#served === undefined) throw new Error('it has not begun');
    return this.#served;
  }

  get replica(): Replica {
    if (this.#replica === undefined) throw new Error('it has not begun');
    return this.#replica;
  }

  end(): void {
    this.#ending.abort(new Error('the test is over'));
  }

  /** Makes a definition and has it served by this replica. */
  async define(given: GivenDefinition): Promise<Sent> {
    const { replica } = this;
    const verbs = new VerbDriver(replica);
    const store = replica.store(definitionsName(replica));
    const made = await verbs.create(store, definitionOf(given));
    return accept(replica, made);
  }

  /** Writes another spec of a definition, as `change` makes it. */
  async redefine(name: string, change: (spec: JsonObject) => void): Promise<Sent> {
    const { replica } = this;
    const verbs = new VerbDriver(replica);
    const store = replica.store(definitionsName(replica));
    const definition = await verbs.get(store, name);
    change(definition['spec'] as JsonObject);
    return sent((await verbs.update(store, name, definition)).item);
  }

  /** Deletes a definition, and says that none of its objects is left. */
  async undefine(name: string): Promise<void> {
    const verbs = new VerbDriver(this.replica);
    const store = this.replica.store(definitionsName(this.replica));
    await verbs.remove(store, name);
    await verbs.patch(store, name, { metadata: { finalizers: null } });
  }

  /** Of a served version of a custom resource. */
  store(plural: string, version = 'v1', group = 'example.com'): ResourceStore {
    return this.replica.store(`${group}/${plural}`, version);
  }
}

/** A replica of `registry` that serves custom resources. */
export async function definingReplica(
  registry: RegistryOnEtcd,
  options: ReplicaOptions = {},
): Promise<ServingDefinitions> {
  const serving = new ServingDefinitions();
  await serving.begin(await registry.replica({ ...options, ...serving.replicaOptions }));
  return serving;
}

const definitionsName = ({ naming }: Replica): string =>
  `${naming.resolve('apiextensions.{v}')}/customresourcedefinitions`;

/** All names of a definition are its own. */
function accept(replica: Replica, definition: Sent): Promise<Sent> {
  const { names } = definition['spec'] as { names: JsonObject };
  const condition = (type: string, reason: string): JsonObject => {
    const lastTransitionTime = textAt(
      definition.metadata as unknown as JsonObject,
      'creationTimestamp',
    );
    return { type, status: 'True', reason, message: '', lastTransitionTime };
  };
  const status = {
    acceptedNames: names,
    conditions: [
      condition('NamesAccepted', 'NoConflicts'),
      condition('Established', 'InitialNamesAccepted'),
    ],
  };
  const store = replica.store(definitionsName(replica));
  const subresource = 'status';
  return new VerbDriver(replica).patch(
    store,
    definition.metadata.name,
    { status },
    { subresource },
  );
}
