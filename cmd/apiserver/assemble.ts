// The composition root: every constructor call, top to bottom in layer order. No logic of its own.
import { getHeapStatistics } from 'node:v8';
import type { ResourceInfo } from '../../lib/api/type-info.ts';
import { createScheme } from '../../lib/api/scheme.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { clientCertificateAuthenticator } from '../../lib/authn/client-cert.ts';
import { parseTokenFile, staticTokenAuthenticator } from '../../lib/authn/static-token.ts';
import { unionAuthenticator } from '../../lib/authn/union.ts';
import { mastersAuthorizer, publicPathsAuthorizer } from '../../lib/authz/masters.ts';
import { unionAuthorizer } from '../../lib/authz/union.ts';
import { systemClock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/log.ts';
import { createCache } from '../../lib/cacher/cache.ts';
import type { CachedResource } from '../../lib/cacher/cache.ts';
import { createTranscoder } from '../../lib/cacher/transcoder.ts';
import { featureGates } from '../../lib/config/gates.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Flags } from '../../lib/config/flags.ts';
import { bootstrapNamespaces } from '../../lib/controllers/bootstrap-namespaces.ts';
import { builtInStores } from '../../lib/registry/built-in-stores.ts';
import { componentStatusStores } from '../../lib/registry/resources/core/component-statuses.ts';
import { ResourceMap, ResourceMapHolder } from '../../lib/registry/resource-map.ts';
import { serveApi } from '../../lib/server/serve-api.ts';
import { Compactor } from '../../lib/storage-etcd/compaction.ts';
import { EtcdStorage } from '../../lib/storage-etcd/etcd-storage.ts';
import { createKeyspace } from '../../lib/storage-etcd/keys.ts';
import { SharedSecrets } from '../../lib/storage-etcd/shared-secrets.ts';
import { Health } from '../../lib/telemetry/health.ts';
import { createMetrics } from '../../lib/telemetry/metrics.ts';
import { defaultAdmission } from './admission.ts';
import { startControllers } from './controllers.ts';
import { ownCredentials, readFlagFile } from './credentials.ts';
import { DataDirectory } from './data-directory.ts';
import { greeting, writeAdminConfig } from './greeting.ts';
import { healthChecks } from './health-checks.ts';
import { startLocalEtcd } from './local-etcd.ts';
import {
  cacheObserver,
  collectCache,
  etcdComponents,
  mismatchObserver,
  storageMetrics,
} from './observers.ts';
import { checkNaming, loadSharedState } from './shared-state.ts';
import { release, versionInfo } from './version.ts';

export interface Assembled {
  /** What to print for whoever started it. */
  readonly greeting: string;
  /** Drains and stops everything, etcd last. */
  stop(): Promise<void>;
}

/** @throws FlagError with a message for the user. */
export async function assemble(
  flags: Flags,
  logger: Logger,
  signal: AbortSignal,
): Promise<Assembled> {
  const clock = systemClock;
  const startedAtMs = clock.monotonicMs();
  await using started = new AsyncDisposableStack(); // a start that fails takes down what it had started
  const say = (line: string): void => void process.stderr.write(`${line}\n`);

  // config
  const gates = featureGates(flags['feature-gates']);
  for (const note of gates.notes) logger.warn(note);
  const naming = namingProfile(flags.naming);
  const metrics = orFlagError('show-hidden-metrics-for-version', () =>
    createMetrics({ release, showHiddenFor: flags['show-hidden-metrics-for-version'] }),
  );
  const directory = DataDirectory.open(flags['data-dir']);
  started.defer(() => directory.release());

  // api
  const scheme = orFlagError('runtime-config', () =>
    createScheme({
      profile: naming,
      runtimeConfig: flags['runtime-config'],
      isOn: gates.isEnabled,
      nowMs: clock.nowMs,
    }),
  );

  // storage
  const external = flags['etcd-servers'];
  const localEtcd = external === undefined ? await startLocalEtcd(directory, say) : undefined;
  if (localEtcd !== undefined) started.defer(() => localEtcd.stop());
  const storage = new EtcdStorage({
    endpoints: external ?? [localEtcd?.url ?? ''],
    ...etcdTls(flags),
    metrics: storageMetrics(metrics),
  });
  started.defer(() => storage.close());
  const keyspace = createKeyspace(flags['etcd-prefix']);
  const secrets = new SharedSecrets(storage, keyspace);
  await checkNaming(secrets, flags, signal);
  const compactor = new Compactor(storage.connection, {
    intervalMs: flags['etcd-compaction-interval'],
    onError: (error) => logger.warn('compaction failed; the next round tries again', { error }),
  });
  const closing = new AbortController();
  const compacting = compactor.run(closing.signal);
  started.defer(async () => {
    closing.abort(new Error('the server stops'));
    await compacting;
  });

  // cache
  const cache = createCache({
    storage,
    health: () => storage.health,
    prefix: keyspace.root,
    resources: scheme.storedResources.map(cachedResource),
    transcoder: createTranscoder((object, resource) => {
      scheme.defaults.apply(object, resource.type);
      return object; // other versions' forms come with their types
    }),
    budgetBytes: cacheBudgetBytes(flags),
    canaryKey: keyspace.internalKey('canary'),
    logger,
    listFromSnapshot: gates.isOn('ListFromCacheSnapshot'),
    compactedRevision: () => compactor.compactedRevision,
    observer: cacheObserver(metrics),
  });
  started.defer(() => cache.stop());
  collectCache(metrics, cache, cacheBudgetBytes(flags));

  // authentication and authorization
  const tokenFile = flags['token-auth-file'];
  const authenticator = unionAuthenticator([
    clientCertificateAuthenticator(() => clock.nowMs()),
    ...(tokenFile === undefined ? [] : [staticTokenAuthenticator(readTokens(tokenFile))]),
  ]);
  const authorizer = unionAuthorizer([mastersAuthorizer, publicPathsAuthorizer]);

  // registry
  const ownUrl = `https://${flags['advertise-address'] ?? flags['bind-address']}:${String(flags['secure-port'])}`;
  const shared = await loadSharedState(secrets, { flags, ownUrl }, signal);
  const resources = new ResourceMapHolder();
  const stores = builtInStores({
    scheme,
    keyspace,
    storage,
    admission: defaultAdmission({ scheme, storage, keyspace, cache, naming, clock }),
    naming,
    clock,
    viewOf: (stored) => cache.view(stored),
    continueKey: shared.continueKey,
    validation: { isOn: gates.isEnabled, onMismatch: mismatchObserver(metrics, logger) },
    canStreamLists: gates.isOn('WatchList'),
    canDeleteUnreadable: gates.isOn('AllowUnsafeMalformedObjectDeletion'),
    eventTtlSeconds: flags['event-ttl'] / 1000,
  });
  const components = componentStatusStores(scheme, (signal) => etcdComponents(storage, signal));
  resources.swap(new ResourceMap([...stores, ...components]));

  // server
  const credentials = await ownCredentials(directory, shared, flags);
  const lifecycle = { isDraining: false };
  const health = new Health(
    healthChecks({
      storage,
      cache,
      lifecycle,
      clock,
      startedAtMs,
      graceMs: flags['livez-grace-period'],
    }),
  );
  const server = await serveApi({
    flags,
    gates,
    clock,
    logger,
    metrics,
    health,
    naming,
    scheme,
    resources,
    authenticator,
    authorizer,
    tls: credentials.serving,
    version: versionInfo,
  });
  started.defer(async () => {
    lifecycle.isDraining = true;
    const graceMs = flags['request-timeout'];
    await server.drain({ delayMs: flags['shutdown-delay-duration'], graceMs });
  });
  await cache.start(signal);
  const namespaces = resources.current.find({ group: '', version: 'v1', resource: 'namespaces' });
  if (namespaces !== undefined) {
    await bootstrapNamespaces(namespaces, naming, signal);
    started.defer(startControllers({ namespaces, resources, naming, clock, logger }));
  }

  const url = `https://${flags['advertise-address'] ?? '127.0.0.1'}:${String(server.port)}`;
  writeAdminConfig(directory, url, shared.ca.cert, credentials.admin);
  const running = started.move();
  return {
    greeting: greeting({ url, directory, flags, readyMs: clock.monotonicMs() - startedAtMs }),
    stop: () => running.disposeAsync(),
  };
}

/**
 * What a flag's value makes impossible is the user's to mend: the message names the flag and
 * carries no stack.
 */
function orFlagError<T>(flag: keyof Flags, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new FlagError(`--${flag}: ${(error as Error).message}`, { cause: error });
  }
}

const readTokens = (file: string): ReturnType<typeof parseTokenFile> =>
  orFlagError('token-auth-file', () => parseTokenFile(readFlagFile('token-auth-file', file)));

/**
 * Lists by node are what every kubelet asks for; the history of events ends with etcd's, as in
 * kube-apiserver.
 */
const cachedResource = (resource: ResourceInfo): CachedResource => ({
  resource,
  indexedFields: resource.fieldSelectors.filter((path) => path === 'spec.nodeName'),
  ...(resource.storagePrefix === 'events' ? { historyCountMin: 0 } : {}),
});

function etcdTls(flags: Flags): { tls?: { caFile?: string; certFile?: string; keyFile?: string } } {
  const [caFile, certFile, keyFile] = (
    ['etcd-cafile', 'etcd-certfile', 'etcd-keyfile'] as const
  ).map((name) => {
    const file = flags[name];
    if (file !== undefined) readFlagFile(name, file); // a clear message now beats a TLS error later
    return file;
  });
  if (caFile === undefined && certFile === undefined) return {};
  return {
    tls: {
      ...(caFile === undefined ? {} : { caFile }),
      ...(certFile === undefined ? {} : { certFile }),
      ...(keyFile === undefined ? {} : { keyFile }),
    },
  };
}

/** Default: half of the heap limit. */
function cacheBudgetBytes(flags: Flags): number {
  const megabytes = flags['cache-memory-mb'];
  return megabytes === undefined
    ? getHeapStatistics().heap_size_limit / 2
    : megabytes * 1024 * 1024;
}
