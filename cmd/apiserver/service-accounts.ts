// Tokens of service accounts as flags want them: who signs, whose are accepted, what others need to
// check them.
import { serviceAccountAuthenticator } from '../../lib/authn/service-account.ts';
import type { TokenObserver } from '../../lib/authn/service-account.ts';
import type { Authenticator } from '../../lib/authn/authenticator.ts';
import { readSigningKey, uniqueKeys } from '../../lib/authn/service-account/keys.ts';
import { keysPath, openIdDocuments } from '../../lib/authn/service-account/openid-documents.ts';
import type { OpenIdDocument } from '../../lib/authn/service-account/openid-documents.ts';
import type { TiedResource } from '../../lib/authn/service-account/live-object.ts';
import { tokenIssuer } from '../../lib/authn/service-account/token-issuer.ts';
import type { TokenIssuer } from '../../lib/authn/service-account/token-issuer.ts';
import type { Cache } from '../../lib/cacher/cache.ts';
import type { ResourceView } from '../../lib/cacher/resource-view.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Flags } from '../../lib/config/flags.ts';
import type { Base } from './base.ts';
import type { SharedState } from './shared-state.ts';

export interface OpenedServiceAccounts {
  readonly authenticator: Authenticator;
  readonly tokens: TokenIssuer;
  /** Served to whoever may read them. */
  readonly documents: readonly OpenIdDocument[];
}

export function openServiceAccounts(
  base: Base,
  options: {
    readonly cache: Cache;
    readonly shared: SharedState;
    readonly ownUrl: string;
    readonly observer: TokenObserver;
  },
): OpenedServiceAccounts {
  const { flags, files, naming, clock, logger } = base;
  const { shared, ownUrl } = options;
  const key = files.signingKey ?? readSigningKey(shared.serviceAccountKey.key);
  const keys = uniqueKeys([key, ...files.tokenKeys]);
  const issuer = shared.serviceAccountIssuer;
  const issuers = flags['service-account-issuer'] ?? [issuer];
  const audiences = apiAudiences(flags, shared);
  const maxMs = flags['service-account-max-token-expiration'];
  const extendsExpiration = flags['service-account-extend-token-expiration'];
  if (extendsExpiration && maxMs > 0 && maxMs < usualMs) logger.warn(tooShort);
  const views = viewsOf(base, options.cache);
  return {
    authenticator: serviceAccountAuthenticator({
      observer: options.observer,
      issuers,
      audiences,
      keys,
      looksUp: flags['service-account-lookup'],
      viewOf: (resource) => views[resource],
      naming,
      clock,
    }),
    tokens: tokenIssuer({
      issuer,
      audiences,
      secondsMax: maxMs === 0 ? undefined : Math.floor(maxMs / 1000),
      extendsExpiration,
      key,
      naming,
    }),
    documents: openIdDocuments({
      issuer,
      keysUrl: flags['service-account-jwks-uri'] ?? `${ownUrl}${keysPath}`,
      keys,
    }),
  };
}

/** Whom tokens are meant for that are meant for this server. */
export const apiAudiences = (
  flags: Flags,
  { serviceAccountIssuer }: SharedState,
): readonly string[] =>
  flags['api-audiences'] ?? flags['service-account-issuer'] ?? [serviceAccountIssuer];

/** What pods ask for. */
const usualMs = 3_607_000;
const tooShort =
  '--service-account-max-token-expiration is shorter than the 3607s that pods ask for: their ' +
  'tokens are not extended, whatever --service-account-extend-token-expiration says';

/** @throws FlagError when one of them is not served. */
function viewsOf({ scheme }: Base, cache: Cache): Readonly<Record<TiedResource, ResourceView>> {
  const viewOf = (resource: TiedResource): ResourceView => {
    const stored = scheme.storedResources.find(
      (one) => one.group === '' && one.resource === resource,
    );
    if (stored !== undefined) return cache.view(stored);
    throw new FlagError(`service accounts need ${resource}, which --runtime-config turns off`);
  };
  return {
    serviceaccounts: viewOf('serviceaccounts'),
    pods: viewOf('pods'),
    secrets: viewOf('secrets'),
    nodes: viewOf('nodes'),
  };
}
