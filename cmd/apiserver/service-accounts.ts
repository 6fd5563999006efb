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
import type { ResourceView } from '../../lib/cacher/resource-view.ts';
import type { Flags } from '../../lib/config/flags.ts';
import type { Base } from './base.ts';
import type { SharedState } from './shared-state.ts';
import { neededView } from './views.ts';
import type { ViewOf } from './views.ts';

export interface OpenedServiceAccounts {
  readonly authenticator: Authenticator;
  readonly tokens: TokenIssuer;
  /** Served to whoever may read them. */
  readonly documents: readonly OpenIdDocument[];
}

export function openServiceAccounts(
  base: Base,
  options: {
    readonly viewOf: ViewOf;
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
  const views = tiedViews(options.viewOf);
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
function tiedViews(viewOf: ViewOf): Readonly<Record<TiedResource, ResourceView>> {
  const needed = (resource: TiedResource): ResourceView =>
    neededView(viewOf, ['', resource], 'a service account');
  return {
    serviceaccounts: needed('serviceaccounts'),
    pods: needed('pods'),
    secrets: needed('secrets'),
    nodes: needed('nodes'),
  };
}
