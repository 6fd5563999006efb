// Joins the API's parts into one listening server: serializers, handlers, chain, operator
// paths.
import type { Scheme } from '../api/scheme.ts';
import type { PatchName } from '../api/type-info.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { AllowsAnonymous } from '../authn/anonymous.ts';
import type { Auditor } from '../audit/auditor.ts';
import type { Authenticator } from '../authn/authenticator.ts';
import { identityHeaders } from '../authn/identity-headers.ts';
import type { OpenIdDocument } from '../authn/service-account/openid-documents.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { createEncodings } from '../codec/encodings.ts';
import type { Encoding } from '../codec/encodings.ts';
import { patchMediaTypes } from '../codec/negotiate.ts';
import type { PatchOffers } from '../codec/negotiate.ts';
import { YamlBodies } from '../codec/yaml-bodies.ts';
import type { Flags } from '../config/flags.ts';
import type { FeatureGates } from '../config/gates.ts';
import { createDiscovery } from '../discovery/discovery.ts';
import type { DiscoveryGroup } from '../discovery/discovery.ts';
import { createOpenApi } from '../discovery/openapi.ts';
import type { OpenApi } from '../discovery/openapi.ts';
import { ServedGroups, withProxies } from '../discovery/served-groups.ts';
import type { ResourceEntry, ResourceMap, ResourceMapHolder } from '../registry/resource-map.ts';
import type { ResourceStore } from '../registry/resource-store.ts';
import type { Health } from '../telemetry/health.ts';
import type { Metrics, MetricsText } from '../telemetry/metrics.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { innerFilters, outerFilters } from './chain.ts';
import { Connections } from './connections.ts';
import { discoveryPaths } from './discovery-paths.ts';
import { deprecationNotes } from './deprecations.ts';
import { entryFinder } from './entry-finder.ts';
import { connect } from './handlers/connect.ts';
import { getHandler, listHandler } from './handlers/read.ts';
import { profilePages } from './profiles.ts';
import { tracedHandlers } from './handlers/traced.ts';
import { resourceRequests } from './handlers/resources.ts';
import type { VerbHandlers } from './handlers/resources.ts';
import { watchHandler } from './handlers/watch.ts';
import { writeHandlers } from './handlers/write.ts';
import type { ServesGroup } from './not-served.ts';
import { OpenRequests } from './open-requests.ts';
import { followOpenApi } from './openapi-follower.ts';
import { openApiPaths, openApiRoots } from './openapi-paths.ts';
import { operatorPaths } from './operator-paths.ts';
import { createSerializers } from './serializers.ts';
import type { Serializers } from './serializers.ts';
import type { RequestContext } from './request-context.ts';
import { serve, usualTimeouts } from './serve.ts';
import type { RunningServer, ServeOptions } from './serve.ts';
import { upgradeRule } from './upgrade.ts';
import { createWebsockets } from './websocket.ts';
import { createZPages } from './z-pages.ts';

/** Patches that are served; the others answer 415. */
const servedPatches: readonly PatchName[] = ['json', 'merge', 'strategic', 'apply'];

export interface ServeApiOptions {
  readonly flags: Flags;
  readonly gates: FeatureGates;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly health: Health;
  readonly naming: NamingProfile;
  readonly scheme: Scheme;
  readonly resources: ResourceMapHolder;
  readonly authenticator: Authenticator;
  readonly allowsAnonymous: AllowsAnonymous;
  readonly authorizer: Authorizer;
  /** Of the issuer of service-account tokens. */
  readonly documents: readonly OpenIdDocument[];
  /** undefined: requests are not recorded. */
  readonly auditor?: Auditor | undefined;
  /** undefined: requests are not traced. */
  readonly tracing?: Tracing | undefined;
  readonly tls: ServeOptions['tls'];
  /** undefined: this process listens itself. */
  readonly source?: ServeOptions['source'];
  /** `host:port` that clients reach this server by. */
  readonly serverAddress: string;
  readonly version: Readonly<Record<string, string>>;
  /** Each flag with its value in words. */
  readonly flagTexts: ReadonlyMap<string, string>;
  readonly startedAtMs: number;
}

export async function serveApi(options: ServeApiOptions): Promise<RunningServer> {
  const { flags, gates, clock, naming, scheme, resources, metrics, logger, documents } = options;
  const compress = gates.isOn('APIResponseCompression');
  const cbor = gates.isOn('CBORServingAndStorage');
  const encodings = createEncodings(naming, { cbor });
  const patches = { names: servedPatches, cbor };
  const serializers = createSerializers({ scheme, encodings });
  const yaml = new YamlBodies();
  const handlers = verbHandlers(options, { serializers, patches, yaml });
  const { current } = resources;
  const groups = groupsOf(scheme, resources);
  const discovery = madeOf(current, () =>
    createDiscovery({ ...options, groups: withProxies(groups(), current.proxies) }),
  );
  const openApi = openApiOf(options, { groups, encodings, patches: patchMediaTypes(patches) });
  followOpenApi(resources, openApi, metrics);
  const answerOpenApi = openApiPaths({ openApi: () => openApi, clock: options.clock, compress });
  const answerDiscovery = discoveryPaths({ discovery, naming, serializers, compress });
  const metricsTexts = textsOf(metrics);
  const paths = [...metricsTexts.keys(), '/version', ...options.health.paths];
  const zPages = createZPages({ ...options, flags: options.flagTexts, paths, encodings });
  const ofIssuer = documents.map(({ path }) => path);
  const listed = [...paths, ...ofIssuer, ...zPages.keys(), ...openApiRoots];
  const profiles = flags.profiling ? profilePages(options.clock) : [];
  const findEntry = entryFinder(current);
  const connections = new Connections(usualTimeouts);
  const openRequests = new OpenRequests<RequestContext>(clock);
  const outer = outerFilters({
    ...{ clock, logger, connections },
    openRequests,
    metrics: metrics.requests,
    findEntry,
    requestTimeoutMs: flags['request-timeout'],
    goawayChance: flags['goaway-chance'],
    encodeStatus: (error, request) => serializers.ofStatus(error, request),
  });
  const ownGroups = new Set(scheme.groups.map(({ group }) => group));
  const servesGroup: ServesGroup = (group) => ownGroups.has(group);
  const inner = innerFilters({
    ...options,
    identityHeaders: identityHeaders(flags),
    resourceMap: current,
    isConstrained: options.gates.isOn('ConstrainedImpersonation'),
    resources: resourceRequests(handlers, deprecationNotes(options), servesGroup),
    operatorPaths: operatorPaths({
      servesGroup,
      health: options.health,
      logger,
      metrics: metricsTexts,
      version: options.version,
      discovery: async (request, response) =>
        (await answerOpenApi(request, response)) || (await answerDiscovery(request, response)),
      documents,
      pages: new Map([...zPages, ...profiles]),
      paths: () => [...listed, ...discovery().paths],
    }),
  });
  const running = await serve({
    bindAddress: flags['bind-address'],
    port: flags['secure-port'],
    tls: options.tls,
    filters: [...outer, ...inner],
    upgrades: upgradeRule(findEntry),
    ...{ connections, openRequests, source: options.source },
    metrics: metrics.requests,
    timeouts: usualTimeouts,
  });
  return endingWith(running, () => yaml.close());
}

/** The server, whose drain ends something else at last. */
const endingWith = (running: RunningServer, end: () => Promise<void>): RunningServer => ({
  ...running,
  async drain(how) {
    await running.drain(how);
    await end();
  },
});

const textsOf = (metrics: Metrics): ReadonlyMap<string, () => Promise<MetricsText>> =>
  new Map([
    ['/metrics', () => metrics.text()],
    ['/metrics/slis', () => metrics.sliText()],
  ]);

/** What the map serves, in discovery order. */
function groupsOf(scheme: Scheme, resources: ResourceMapHolder): () => readonly DiscoveryGroup[] {
  const served = new ServedGroups(scheme.groups);
  served.change([], resources.all);
  resources.follow((former, now) => {
    const [before, after] = [former, now].map((entries) => entries.filter(isStore));
    served.change(before ?? [], after ?? []);
  });
  return () => served.groups;
}

const isStore = (entry: ResourceEntry): entry is ResourceStore => !('proxy' in entry);

/** What is made from the resources: again when it is asked for after they changed. */
function madeOf<T>(resources: ResourceMap, make: () => T): () => T {
  let last: { readonly version: number; readonly made: T } | undefined;
  return () => {
    const { version } = resources;
    if (last?.version !== version) last = { version, made: make() };
    return last.made;
  };
}

/** One handler per verb, over what the registry holds. */
function verbHandlers(
  options: ServeApiOptions,
  shared: {
    readonly serializers: Serializers;
    readonly patches: PatchOffers;
    readonly yaml: YamlBodies;
  },
): VerbHandlers {
  const { serializers } = shared;
  const { tracing } = options;
  const compress = options.gates.isOn('APIResponseCompression');
  const readOptions = { serializers, compress, tracing };
  const handlers: VerbHandlers = {
    get: getHandler(readOptions),
    list: listHandler(readOptions),
    connect,
    watch: watchHandler({
      metrics: options.metrics.requests,
      clock: options.clock,
      minRequestTimeoutSeconds: options.flags['min-request-timeout'],
      websockets: createWebsockets(options.naming),
      serializers,
    }),
    ...writeHandlers({
      ...readOptions,
      authorizer: options.authorizer,
      naming: options.naming,
      deleteOptionsType: options.scheme.type('meta/v1.DeleteOptions'),
      ...shared,
    }),
  };
  return tracing === undefined ? handlers : tracedHandlers(handlers, tracing);
}

/** Describes what the parts above serve, in the media types that they negotiate. */
function openApiOf(
  { gates, scheme, resources, version, clock }: ServeApiOptions,
  served: {
    readonly groups: () => readonly DiscoveryGroup[];
    readonly encodings: readonly Encoding[];
    readonly patches: readonly string[];
  },
): OpenApi {
  const { groups, encodings, patches } = served;
  return createOpenApi({
    scheme,
    groups,
    media: {
      objects: encodings.map(({ mediaType }) => mediaType),
      streams: encodings.flatMap(({ mediaType, stream }) => {
        if (stream === undefined) return [];
        const { contentType } = stream;
        return [contentType === mediaType ? `${mediaType};stream=watch` : contentType];
      }),
      patches,
    },
    listsValues: gates.isOn('OpenAPIEnums'),
    serverVersion: version['gitVersion'] ?? '',
    answersDeletedObject: (of) => resources.current.find(of)?.answersDeletedObject === true,
    clock,
  });
}
