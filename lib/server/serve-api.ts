// Joins the API's parts into one listening server: representations, handlers, chain, operator paths.
import type { Scheme } from '../api/scheme.ts';
import type { NamingProfile } from '../api/vendor.ts';
import type { Authenticator } from '../authn/authenticator.ts';
import type { Authorizer } from '../authz/authorizer.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { pathNotFound, unsupportedMediaType } from '../base/status.ts';
import { jsonCodec } from '../codec/json.ts';
import { statusBytes } from '../codec/frame.ts';
import type { Flags } from '../config/flags.ts';
import type { FeatureGates } from '../config/gates.ts';
import { createDiscovery } from '../discovery/discovery.ts';
import type { ResourceMapHolder } from '../registry/resource-map.ts';
import type { Health } from '../telemetry/health.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { filterChain } from './chain.ts';
import type { FindStore } from './filters/scope.ts';
import { failureHandler } from './filters/panic.ts';
import { getHandler, listHandler } from './handlers/read.ts';
import { resourceRequests } from './handlers/resources.ts';
import { watchHandler } from './handlers/watch.ts';
import { writeHandlers } from './handlers/write.ts';
import { operatorPaths } from './operator-paths.ts';
import { jsonRepresentation, jsonWatchRepresentation } from './representations.ts';
import { sendNow } from './respond.ts';
import { serve } from './serve.ts';
import type { RunningServer, ServeOptions } from './serve.ts';

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
  readonly authorizer: Authorizer;
  readonly tls: ServeOptions['tls'];
  readonly version: Readonly<Record<string, string>>;
}

export async function serveApi(options: ServeApiOptions): Promise<RunningServer> {
  const { flags, gates, naming, scheme, resources, metrics, logger } = options;
  const findStore: FindStore = (info) => resources.current.find(info);
  const compress = gates.isOn('APIResponseCompression');
  const representationOf = (_request: unknown, store: Parameters<typeof jsonRepresentation>[0]) =>
    jsonRepresentation(store);
  const readOptions = { naming, compress, representationOf };
  const deleteOptionsType = scheme.type('meta/v1.DeleteOptions');
  const handlers = {
    get: getHandler(readOptions),
    list: listHandler(readOptions),
    watch: watchHandler({
      metrics: metrics.requests,
      minRequestTimeoutSeconds: flags['min-request-timeout'],
      watchRepresentationOf: (_request, store) => jsonWatchRepresentation(store, naming),
    }),
    ...writeHandlers({
      ...readOptions,
      authorizer: options.authorizer,
      decodeBody: (_request, store, body) => jsonCodec.decode(body, store.resource.type),
      decodeDeleteOptions: (_request, body) => jsonCodec.decode(body, deleteOptionsType).object,
      patchKindOf: (request) => {
        const type = request.headers['content-type'] ?? '';
        if (type.startsWith('application/json-patch+json')) return 'json';
        if (type.startsWith('application/merge-patch+json')) return 'merge';
        throw unsupportedMediaType(['application/json-patch+json', 'application/merge-patch+json']);
      },
    }),
  };
  const discovery = createDiscovery({
    scheme,
    groups: scheme.groups,
    serverAddress: `${flags['advertise-address'] ?? flags['bind-address']}:${String(flags['secure-port'])}`,
  });
  return serve({
    bindAddress: flags['bind-address'],
    port: flags['secure-port'],
    tls: options.tls,
    filters: filterChain({
      authenticator: options.authenticator,
      authorizer: options.authorizer,
      allowAnonymous: flags['anonymous-auth'],
      findStore,
      resources: resourceRequests(findStore, handlers),
    }),
    operatorPaths: operatorPaths({
      health: options.health,
      logger,
      metricsText: () => metrics.text(),
      version: options.version,
      discovery: (request, response) => {
        const found = discovery.document(request.context.info.path);
        if (found === undefined) throw pathNotFound();
        const body = jsonCodec.encode(found.object, found.type);
        sendNow(request, response, { status: 200, contentType: 'application/json' }, body);
        return Promise.resolve(true);
      },
    }),
    onFailure: failureHandler({
      logger,
      encodeStatus: (error) => ({ contentType: 'application/json', body: statusBytes(error.toBody()) }),
    }),
    isServed: (request) => findStore(request.info) !== undefined,
    clock: options.clock,
    logger,
    metrics: metrics.requests,
    requestTimeoutMs: flags['request-timeout'],
    goawayChance: flags['goaway-chance'],
  });
}
