// Built-in stores over a real etcd and a real cache, as one replica has them: for suites.
// `second()` makes another replica over the same etcd.
import type { AdmissionChain } from '../../admission/chain.ts';
import type { ChargeParts } from '../../admission/quota/charges.ts';
import type { RulesInForce } from '../../admission/in-force.ts';
import { builtInScheme } from '../../kinds/built-in-kinds.ts';
import type { HeldRulesOf } from '../../kinds/rbac/held-rules.ts';
import type { Scheme } from '../../api/scheme.ts';
import type { ResourceInfo } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import type { NamingProfile } from '../../api/vendor.ts';
import { testIssuer } from '../../authn/service-account/testing/test-accounts.ts';
import type { TokenIssuer } from '../../authn/service-account/token-issuer.ts';
import { abortable } from '../../base/abort.ts';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import { createCache } from '../../cacher/cache.ts';
import type { Cache } from '../../cacher/cache.ts';
import type { ResourceView } from '../../cacher/resource-view.ts';
import { intercept } from '../../cacher/testing/cache-fixture.ts';
import { schemeTranscoder } from '../../cacher/transcoder.ts';
import { createStoredMedia } from '../../codec/stored-media.ts';
import type { StoredMedia, StoredMediaName } from '../../codec/stored-media.ts';
import { EtcdStorage } from '../../storage-etcd/etcd-storage.ts';
import { createKeyspace } from '../../storage-etcd/keys.ts';
import type { Storage, StorageMetrics, WatchBatch } from '../../storage-etcd/storage.ts';
import { EtcdCluster } from '../../storage-etcd/testing/etcd-process.ts';
import { builtInStores, sharedDeps } from '../built-in-stores.ts';
import type { BuiltInStoreOptions, SharedDeps } from '../built-in-stores.ts';
import { builtInOwner, ResourceMapHolder } from '../resource-map.ts';
import { joinedCompanions } from '../companions.ts';
import type { Companions } from '../companions.ts';
import { QuotaCompanions } from '../quota/quota-companions.ts';
import type { QuotaCompanionsOptions } from '../quota/quota-companions.ts';
import type { ResourceStore } from '../resource-store.ts';
import { rulesOfApi } from '../rules-of-api.ts';
import { openServices } from '../services/services.ts';
import type { Services, ServicesOptions } from '../services/services.ts';

export const keyspace = createKeyspace('/registry');

export interface Replica {
  readonly storage: EtcdStorage;
  readonly cache: Cache;
  readonly stores: ResourceMapHolder;
  readonly scheme: Scheme;
  readonly naming: NamingProfile;
  readonly services: Services | undefined;
  readonly quotas: QuotaCompanions | undefined;
  readonly media: StoredMedia;
  readonly rulesInForce: RulesInForce | undefined;
  /** For stores of resources that come at run time. */
  readonly deps: SharedDeps;
  /** `apps/deployments`, or `configmaps` in the core group; version `v1` unless given. */
  store(name: string, version?: string): ResourceStore;
  stop(): Promise<void>;
}

export interface ReplicaOptions {
  /** Memory keeps the state of the start: the watch of the store stays silent. */
  readonly isFrozen?: boolean;
  /** Memory is empty until `cache.start` is called. */
  readonly isCold?: boolean;
  readonly metrics?: StorageMetrics;
  readonly continueKey?: Uint8Array;
  readonly canDeleteUnreadable?: boolean;
  readonly storedMedia?: StoredMediaName;
  readonly admission?: AdmissionChain;
  /** Told of requests that are judged anew; absent: no rules of the API hold. */
  readonly onRulesChanged?: () => void;
  /** Absent: reviews are not served. */
  readonly reviews?: BuiltInStoreOptions['reviews'];
  /** Absent: one with a key that all replicas share. */
  readonly tokens?: TokenIssuer;
  /** Absent: services are given nothing. */
  readonly services?: Pick<ServicesOptions, 'clusterIpRanges' | 'nodePortRange'>;
  /** Absent: nobody holds any rights to give to others. */
  readonly heldRulesOf?: HeldRulesOf;
  readonly companionsOf?: (stored: ResourceInfo, storage: Storage) => Companions | undefined;
  /** Told of transactions over quotas; absent: quotas limit nothing. */
  readonly onQuotaTransaction?: QuotaCompanionsOptions['observe'];
  /** Takes the place of the storage of all stores. */
  readonly through?: (storage: Storage) => Storage;
  readonly onStoredOf?: BuiltInStoreOptions['onStoredOf'];
  /** Where etcd serves at the moment, if not where it was started. */
  readonly endpoint?: string;
  /** How long a write waits for etcd. */
  readonly writeTimeoutMs?: number;
}

export class RegistryOnEtcd {
  readonly etcd: EtcdCluster;
  readonly #replicas: Replica[] = [];

  private constructor(etcd: EtcdCluster) {
    this.etcd = etcd;
  }

  static async start(): Promise<RegistryOnEtcd> {
    return new RegistryOnEtcd(await EtcdCluster.start());
  }

  async replica(options: ReplicaOptions = {}): Promise<Replica> {
    const replica = await startReplica(this.etcd, options);
    this.#replicas.push(replica);
    return replica;
  }

  async stop(): Promise<void> {
    for (const replica of this.#replicas) await replica.stop();
    await this.etcd.stop();
  }
}

/** A watch that tells nothing. */
async function* silence(
  _prefix: string,
  _after: number,
  signal: AbortSignal,
): AsyncGenerator<WatchBatch, void, undefined> {
  await abortable(new Promise(() => undefined), signal);
  yield* [];
}

async function startReplica(etcd: EtcdCluster, options: ReplicaOptions): Promise<Replica> {
  const naming = namingProfile('svc');
  const scheme = builtInScheme({ profile: naming });
  const media = createStoredMedia(options.storedMedia ?? 'json', naming);
  const { isFrozen = false, through } = options;
  const storage = storageOf(etcd, options);
  const cache = createCache({
    storage: isFrozen ? intercept(storage, { watch: silence }) : storage,
    health: () => storage.health,
    prefix: keyspace.root,
    resources: scheme.storedResources.map((resource) => ({ resource })),
    transcoder: schemeTranscoder(scheme, media),
    budgetBytes: 64 * 1024 * 1024,
    canaryKey: keyspace.internalKey('canary'),
    logger: createLogger('error'),
    freezeObjects: true,
  });
  if (options.isCold !== true) await cache.start(AbortSignal.timeout(60_000));
  const viewOf = (stored: ResourceInfo): ResourceView => cache.view(stored);
  const parts = { scheme, storage, keyspace, media, naming, clock: systemClock, viewOf };
  const services = options.services && openServices({ ...parts, ...options.services });
  const stores = new ResourceMapHolder();
  const { onRulesChanged } = options;
  const rulesInForce =
    onRulesChanged &&
    rulesOfApi({ scheme, keyspace, cache, resources: stores, onChanged: onRulesChanged });
  const quotas = quotaCompanions(parts, options);
  const made: BuiltInStoreOptions = {
    ...parts,
    storage: through?.(storage) ?? storage,
    rulesInForce,
    continueKey: options.continueKey ?? Buffer.from('shared by the replicas of a test'),
    tokens: options.tokens ?? testIssuer(naming),
    canStreamLists: true,
    canDeleteUnreadable: options.canDeleteUnreadable ?? false,
    eventTtlSeconds: 3_600,
    heldRulesOf: options.heldRulesOf,
    ...(options.admission === undefined ? {} : { admission: options.admission }),
    ...(options.onStoredOf === undefined ? {} : { onStoredOf: options.onStoredOf }),
    ...(options.reviews === undefined ? {} : { reviews: options.reviews }),
    companionsOf: (stored) =>
      joinedCompanions([
        options.companionsOf?.(stored, storage) ?? services?.companionsOf(stored),
        quotas?.of(stored),
      ]),
  };
  stores.set(builtInOwner, builtInStores(made));
  return {
    storage,
    cache,
    stores,
    scheme,
    naming,
    services,
    quotas,
    media,
    rulesInForce,
    deps: sharedDeps(made),
    store(name, version = 'v1') {
      const [group, resource] = name.includes('/') ? name.split('/') : ['', name];
      const found = stores.find({ group: group ?? '', version, resource: resource ?? '' });
      if (found === undefined) throw new Error(`no store for ${name} ${version}`);
      return found;
    },
    async stop() {
      await cache.stop();
      storage.close();
    },
  };
}

function storageOf(
  etcd: EtcdCluster,
  { endpoint, metrics, writeTimeoutMs }: ReplicaOptions,
): EtcdStorage {
  return new EtcdStorage({
    ...etcd.connection,
    ...(endpoint === undefined ? {} : { endpoints: [endpoint] }),
    ...(metrics === undefined ? {} : { metrics }),
    ...(writeTimeoutMs === undefined ? {} : { writeTimeoutMs }),
  });
}

function quotaCompanions(
  parts: Pick<BuiltInStoreOptions, 'scheme' | 'keyspace' | 'viewOf' | 'naming' | 'clock'> &
    Pick<QuotaCompanionsOptions, 'media'>,
  { onQuotaTransaction: observe }: ReplicaOptions,
): QuotaCompanions | undefined {
  const { scheme, keyspace, media, naming, clock, viewOf } = parts;
  const resource = scheme.storedResource('', 'resourcequotas');
  if (observe === undefined || resource === undefined) return undefined;
  const charging: ChargeParts = {
    ...{ naming, limited: [] },
    gates: { isEnabled: () => true },
    nowMs: () => clock.nowMs(),
    find: () => undefined,
  };
  return new QuotaCompanions({
    ...{ resource, keyspace, media, charging, observe },
    view: viewOf(resource),
  });
}
