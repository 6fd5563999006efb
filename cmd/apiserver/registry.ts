// The stores of everything that is served: of built-in kinds, and of those that come at run time.
import type { StaticManifests } from '../../lib/admission/static-manifests.ts';
import type { TokenIssuer } from '../../lib/authn/service-account/token-issuer.ts';
import type { Cache } from '../../lib/cacher/cache.ts';
import type { ClientParts } from '../../lib/client/open-target.ts';
import { builtInStores, sharedDeps } from '../../lib/registry/built-in-stores.ts';
import type { BuiltInStoreOptions } from '../../lib/registry/built-in-stores.ts';
import { componentStatusStores } from '../../lib/registry/component-statuses.ts';
import { builtInOwner } from '../../lib/registry/resource-map.ts';
import type { ResourceMapHolder } from '../../lib/registry/resource-map.ts';
import type { Services } from '../../lib/registry/services/services.ts';
import { openAdmission } from './admission.ts';
import type { OpenedAuthentication } from './authentication.ts';
import type { OpenedAuthorization } from './authorization.ts';
import type { Base } from './base.ts';
import { clusterServices, clusterViews } from './cluster-services.ts';
import { servedResources } from './served-resources.ts';
import { openRules } from './rules-in-force.ts';
import { definitionsRecord, openDefinitions } from './custom-resources.ts';
import type { FollowedDefinitions } from './custom-resources.ts';
import type { SharedState } from './shared-state.ts';
import type { OpenedStorage } from './storage.ts';
import type { WebhookCalls } from './webhook-calls.ts';
import {
  admissionObserver,
  etcdComponents,
  mismatchObserver,
  podSecurityObserver,
} from './observers.ts';

export function openRegistry(
  base: Base,
  { storage, keyspace }: OpenedStorage,
  options: {
    readonly cache: Cache;
    readonly shared: SharedState;
    readonly services: Services | undefined;
    readonly authorization: OpenedAuthorization;
    readonly authentication: OpenedAuthentication;
    readonly tokens: TokenIssuer;
    readonly webhooks: WebhookCalls;
    readonly manifests: StaticManifests;
    /** Filled. */
    readonly resources: ResourceMapHolder;
  },
): FollowedDefinitions | undefined {
  const { flags, logger, clock, gates, naming, metrics, scheme } = base;
  const { cache, shared, services, authentication, tokens, resources, manifests } = options;
  const { authorizer, heldRulesOf } = options.authorization;
  const definitions = definitionsRecord(base);
  const calls = callsWithin(base, cache);
  const validation = {
    isOn: (gate: string) => gates.isEnabled(gate),
    onMismatch: mismatchObserver(metrics, logger),
  };
  const rulesInForce = openRules(base, { keyspace, cache });
  const served = servedResources(resources);
  const made: BuiltInStoreOptions = {
    scheme,
    keyspace,
    storage,
    rulesInForce,
    admission: openAdmission({
      ...base,
      ...{ rulesInForce, manifests, storage, keyspace, cache, authorizer, served, calls },
      webhooks: options.webhooks,
      observer: admissionObserver(metrics),
      podSecurityObserver: podSecurityObserver(metrics),
    }),
    reviews: {
      authenticator: authentication.reviewer,
      authorizer,
      apiAudiences: authentication.apiAudiences,
    },
    naming,
    heldRulesOf,
    clock,
    media: base.media,
    viewOf: (stored) => cache.view(stored),
    resourceOfKind: (kind) => served.ofKind(kind)?.resource.resource,
    companionsOf: (stored) => services?.companionsOf(stored),
    continueKey: shared.continueKey,
    tokens,
    validation,
    onStoredOf: (stored) =>
      stored === definitions ? (item) => followed?.onStored(item) : undefined,
    canStreamLists: gates.isOn('WatchList'),
    canDeleteUnreadable: gates.isOn('AllowUnsafeMalformedObjectDeletion'),
    eventTtlSeconds: flags['event-ttl'] / 1000,
  };
  const stores = builtInStores(made);
  const components = componentStatusStores(scheme, (signal) => etcdComponents(storage, signal));
  resources.set(builtInOwner, [...stores, ...components]);
  const followed =
    definitions &&
    openDefinitions(
      { ...base, calls },
      { definitions, deps: sharedDeps(made), validation, cache, resources },
    );
  return followed;
}

/** Outgoing calls, to services of the cluster too. */
function callsWithin(base: Base, cache: Cache): ClientParts {
  const services = clusterServices({
    ...clusterViews(base, (record) => cache.view(record)),
    naming: base.naming,
    routesToEndpoints: base.flags['enable-aggregator-routing'],
  });
  return { ...base.calls, services };
}
