// The composition root: every constructor call, top to bottom in layer order. No logic of its own.
import type { ResourceInfo } from '../../lib/api/type-info.ts';
import type { Auditor } from '../../lib/audit/auditor.ts';
import type { AllowsAnonymous } from '../../lib/authn/anonymous.ts';
import type { Authenticator } from '../../lib/authn/authenticator.ts';
import type { OpenIdDocument } from '../../lib/authn/service-account/openid-documents.ts';
import type { TokenIssuer } from '../../lib/authn/service-account/token-issuer.ts';
import type { Authorizer } from '../../lib/authz/authorizer.ts';
import { systemClock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/log.ts';
import { serverUser } from '../../lib/base/user.ts';
import { createCache } from '../../lib/cacher/cache.ts';
import type { Cache, CachedResource } from '../../lib/cacher/cache.ts';
import { schemeTranscoder } from '../../lib/cacher/transcoder.ts';
import type { FlagError } from '../../lib/config/flags.ts';
import type { ParsedFlags } from '../../lib/config/parse-flags.ts';
import { TokenUse } from '../../lib/controllers/accounts/token-use.ts';
import { bootstrapPriorityClasses } from '../../lib/controllers/bootstrap-objects.ts';
import type { RoleBootstrap } from '../../lib/controllers/bootstrap-roles/bootstrap-roles.ts';
import { bootstrapNamespaces } from '../../lib/controllers/system-namespaces.ts';
import { internalClient } from '../../lib/registry/internal-client.ts';
import { ResourceMapHolder } from '../../lib/registry/resource-map.ts';
import type { ResourceStore } from '../../lib/registry/resource-store.ts';
import { openServices } from '../../lib/registry/services/services.ts';
import type { Services } from '../../lib/registry/services/services.ts';
import { serveApi } from '../../lib/server/serve-api.ts';
import type { ServedDefinitions } from '../../lib/crd/served-definitions.ts';
import type { RunningServer } from '../../lib/server/serve.ts';
import { Health } from '../../lib/telemetry/health.ts';
import { acceptDefinitions } from './accept-definitions.ts';
import { openAudit } from './audit.ts';
import { openAuthentication } from './authentication.ts';
import { tokenObserver } from './authentication-observers.ts';
import { openAuthorization } from './authorization.ts';
import { openBase } from './base.ts';
import type { Base } from './base.ts';
import type { FollowedDefinitions } from './custom-resources.ts';
import { collectCertificates } from './certificate-metrics.ts';
import { ownCredentials } from './credentials.ts';
import type { ServingTls } from './credentials.ts';
import { beginRoles, roleBootstrap } from './default-roles.ts';
import { cacheBudgetBytes } from './from-flags.ts';
import { givenTracing } from './given-tracing.ts';
import { checkWebhookFiles } from './given-authorization.ts';
import { greeting, writeAdminConfig } from './greeting.ts';
import { healthChecks } from './health-checks.ts';
import type { Lifecycle } from './health-checks.ts';
import { cacheObserver, collectCache, collectReadiness } from './observers.ts';
import { controllerObserver, healthObserver } from './observers.ts';
import { checkListening, hostAndPort, listenError, urlAt } from './own-address.ts';
import { publishTrust } from './publish-trust.ts';
import { giveMemoryBackWhenQuiet } from './quiet-memory.ts';
import { openRegistry } from './registry.ts';
import { runControllers } from './run-controllers.ts';
import { openServiceAccounts } from './service-accounts.ts';
import type { OpenedServiceAccounts } from './service-accounts.ts';
import { startServerService } from './server-service.ts';
import { clientCas, followServingTls } from './serving-tls.ts';
import { loadSharedState } from './shared-state.ts';
import type { SharedState } from './shared-state.ts';
import { openTokenWebhook } from './token-webhook.ts';
import { openTrustedCertificates } from './trusted-certificates.ts';
import type { TrustedCertificates } from './trusted-certificates.ts';
import { versionInfo } from './version.ts';
import { viewsOf } from './views.ts';
import type { ViewOf } from './views.ts';
import { openStaticManifests } from './static-manifests.ts';
import { openStorage } from './storage.ts';
import { webhookCalls } from './webhook-calls.ts';
import type { WorkerLink } from './workers/worker-link.ts';
import type { OpenedStorage } from './storage.ts';
export interface AssembleOptions extends Omit<ParsedFlags, 'warnings'> {
  /** undefined: there is one process, this one. */
  readonly worker?: WorkerLink | undefined;
}

export interface Assembled {
  /** Where clients reach it. */
  readonly url: string;
  /** What to print for whoever started it. */
  readonly greeting: string;
  /** Resolves when the server cannot go on: what to tell the user. */
  readonly failed: Promise<FlagError>;
  /** Drains and stops everything, etcd last. */
  stop(): Promise<void>;
}

/** @throws FlagError with a message for the user. */
export async function assemble(
  options: AssembleOptions,
  logger: Logger,
  signal: AbortSignal,
): Promise<Assembled> {
  const { flags, texts: flagTexts, given: givenFlags, worker } = options;
  const startedAtMs = systemClock.monotonicMs();
  // A start that fails takes down what it had started.
  await using started = new AsyncDisposableStack();
  const tracing = await givenTracing({ flags, logger, started });
  const given = { flags, flagTexts, givenFlags, logger, signal, started, tracing, worker };
  const base = openBase(given);
  const { directory, address } = base;
  started.defer(giveMemoryBackWhenQuiet(base.clock));
  if (worker === undefined) await checkListening(flags);
  await checkWebhookFiles(base.authorization);
  const webhook = await openTokenWebhook(base);
  const auditor = await openAudit(base);
  const manifests = await openStaticManifests(base);
  const stored = await openStorage(base);
  const { starting } = stored;
  const cache = openCache(base, stored);
  const viewOf = viewsOf(base, cache);
  const ownUrl = urlAt(address, flags['secure-port']);
  const shared = await loadSharedState(stored.secrets, { flags, ownUrl }, starting);
  const resources = new ResourceMapHolder();
  const accounts = openAccounts(base, { viewOf, shared, ownUrl, resources });
  const { authenticator: serviceAccounts, tokens, documents } = accounts;
  const trusted = openTrustedCertificates(base, shared);
  const known = { shared, trusted, serviceAccounts, webhook, viewOf };
  const authentication = openAuthentication(base, known);
  const authorization = await openAuthorization(base, viewOf);
  const services = openAddresses(base, stored, cache);
  const judging = { authentication, authorization };
  const webhooks = webhookCalls(base, resources);
  const made = { services, tokens, manifests, resources, webhooks };
  const registry = { cache, shared, ...judging, ...made };
  const definitions = await openRegistry(base, stored, registry);
  await webhooks.checked();
  const credentials = await ownCredentials({ ...base, shared, clientCa: clientCas(trusted) });
  const lifecycle = { isDraining: false };
  const roles = roleBootstrap(base, resources);
  const server = await openServer(base, cache, {
    ...authentication,
    ...authorization,
    ...{ resources, auditor, documents, roles, startedAtMs, lifecycle },
    tls: credentials.serving,
    definitions: definitions?.served,
  });
  webhooks.serve({ ...credentials, port: server.port });
  const certificate = followServingTls(base, server, { serving: credentials.serving, trusted });
  collectCertificates(base, { serving: certificate, shared, trusted });
  await cache.start(starting);
  await authorization.whole;
  await definitions?.whole;
  const serving = { resources, services, tokens, trusted, roles, definitions };
  await fillCluster(base, stored, { ...serving, serverCa: credentials.serverCa, server });
  // Last started, first ended: balancers look elsewhere before anything stops working.
  started.defer(() => void (lifecycle.isDraining = worker?.isReplaced !== true));
  const url = urlAt(address, server.port);
  writeAdminConfig(directory, url, credentials.serverCa, credentials.admin);
  const running = started.move();
  const readyMs = base.clock.monotonicMs() - startedAtMs;
  return {
    url,
    greeting: greeting({ url, directory, flags, readyMs, etcd: stored.local }),
    failed: stored.local?.ended ?? new Promise(() => undefined),
    stop: () => running.disposeAsync(),
  };
}

/** What a cluster has without being asked, and who sees to it from now on. */
async function fillCluster(
  base: Base,
  stored: OpenedStorage,
  within: {
    readonly resources: ResourceMapHolder;
    readonly services: Services | undefined;
    readonly tokens: TokenIssuer;
    readonly trusted: TrustedCertificates;
    readonly roles: RoleBootstrap;
    readonly definitions: FollowedDefinitions | undefined;
    readonly serverCa: string;
    readonly server: RunningServer;
  },
): Promise<void> {
  const { naming, clock, metrics, started } = base;
  const { starting } = stored;
  const { resources, trusted, roles, server, definitions } = within;
  const namespaces = resources.current.find({ group: '', version: 'v1', resource: 'namespaces' });
  const priorityClasses = resources.current.find({
    group: naming.resolve('scheduling.{v}'),
    version: 'v1',
    resource: 'priorityclasses',
  });
  if (priorityClasses !== undefined) await bootstrapPriorityClasses(priorityClasses, starting);
  if (namespaces !== undefined) await bootstrapNamespaces(namespaces, naming, starting);
  started.defer(await beginRoles(roles, starting));
  const observer = controllerObserver(metrics, clock);
  if (definitions !== undefined) {
    const { ownWrites } = definitions;
    started.defer(acceptDefinitions({ ...base, ...stored, resources, ownWrites, observer }));
  }
  if (namespaces === undefined) return;
  const customStoreOf = (name: string): ResourceStore | undefined =>
    definitions?.served.storeOf(name);
  started.defer(runControllers({ ...base, ...stored, ...within, customStoreOf, observer }));
  started.defer(publishTrust({ ...base, resources, trusted, observer }));
  const publishing = { ...base, ...stored, resources, port: server.port };
  started.defer(await startServerService(publishing, starting));
}

function openCache(base: Base, { storage, keyspace, compactor }: OpenedStorage): Cache {
  const { flags, logger, gates, metrics, scheme, started, worker } = base;
  const budgetBytes = cacheBudgetBytes(flags, worker?.place.count);
  const cache = createCache({
    storage,
    health: () => storage.health,
    prefix: keyspace.root,
    resources: scheme.storedResources.map(cachedResource),
    transcoder: schemeTranscoder(scheme, base.media),
    budgetBytes,
    canaryKey: keyspace.internalKey('canary'),
    logger,
    listFromSnapshot: gates.isOn('ListFromCacheSnapshot'),
    compactedRevision: () => compactor.compactedRevision,
    observer: cacheObserver(metrics),
  });
  started.defer(() => cache.stop());
  collectCache(metrics, cache, budgetBytes);
  return cache;
}

function openAddresses(
  { flags, scheme, naming, clock, media, logger }: Base,
  { storage, keyspace }: OpenedStorage,
  cache: Cache,
): Services | undefined {
  const services = openServices({
    scheme,
    keyspace,
    storage,
    naming,
    clock,
    media,
    viewOf: (stored) => cache.view(stored),
    clusterIpRanges: flags['service-cluster-ip-range'],
    nodePortRange: flags['service-node-port-range'],
  });
  if (services === undefined) {
    logger.warn('services are given no addresses: IPAddress or ServiceCIDR is not served');
  }
  return services;
}

function openAccounts(
  base: Base,
  of: {
    readonly viewOf: ViewOf;
    readonly shared: SharedState;
    readonly ownUrl: string;
    readonly resources: ResourceMapHolder;
  },
): OpenedServiceAccounts {
  const { naming, clock, logger: log } = base;
  const secrets = { group: '', version: 'v1', resource: 'secrets' };
  const use = new TokenUse({
    secrets: () => of.resources.current.find(secrets),
    client: internalClient(serverUser),
    naming,
    clock,
    log,
  });
  const observer = tokenObserver(base.metrics, (secret) => void use.note(secret));
  return openServiceAccounts(base, { ...of, observer });
}

async function openServer(
  base: Base,
  cache: Cache,
  options: {
    readonly resources: ResourceMapHolder;
    readonly authenticator: Authenticator;
    readonly allowsAnonymous: AllowsAnonymous;
    readonly authorizer: Authorizer;
    readonly documents: readonly OpenIdDocument[];
    readonly auditor: Auditor | undefined;
    readonly tls: ServingTls;
    readonly startedAtMs: number;
    readonly lifecycle: Lifecycle;
    readonly roles: RoleBootstrap;
    readonly definitions: ServedDefinitions | undefined;
  },
): Promise<RunningServer> {
  const { flags, clock, started, address, worker } = base;
  const { startedAtMs, lifecycle, roles, definitions } = options;
  const graceMs = flags['livez-grace-period'];
  const reading = { cache, roles, definitions };
  const own = healthChecks({ ...reading, lifecycle, clock, startedAtMs, graceMs });
  const checks = worker === undefined ? own : [...own, worker.check];
  const health = new Health(checks, healthObserver(base.metrics), worker?.askOthers);
  collectReadiness(base.metrics, health);
  worker?.tells(health, base.metrics);
  const server = await serveApi({
    ...base,
    metrics: worker?.metricsOfAll(base.metrics) ?? base.metrics,
    source: worker?.source,
    health,
    ...options,
    serverAddress: hostAndPort(address, flags['secure-port']),
    version: versionInfo,
    startedAtMs: clock.nowMs() - (clock.monotonicMs() - startedAtMs),
  }).catch((error: unknown) => {
    throw listenError(flags, error);
  });
  started.defer(async () => {
    const isReplaced = worker?.isReplaced === true; // no balancer has to look elsewhere
    lifecycle.isDraining = !isReplaced; // a start that failed has not said so
    const delayMs = isReplaced ? 0 : flags['shutdown-delay-duration'];
    await server.drain({ delayMs, graceMs: flags['request-timeout'] });
  });
  return server;
}

/**
 * Lists by node are what every kubelet asks for; the history of events ends with etcd's, as in
 * kube-apiserver.
 */
const cachedResource = (resource: ResourceInfo): CachedResource => ({
  resource,
  indexedFields: resource.fieldSelectors.filter((path) => path === 'spec.nodeName'),
  ...(resource.storagePrefix === 'events' ? { historyCountMin: 0 } : {}),
});
