// Who asks: the authenticators that flags and files name, in order.
import type { AllowsAnonymous } from '../../lib/authn/anonymous.ts';
import type { Authenticator } from '../../lib/authn/authenticator.ts';
import { bootstrapTokenAuthenticator } from '../../lib/authn/bootstrap-token.ts';
import { clientCertificateAuthenticator } from '../../lib/authn/client-cert.ts';
import { measuredAuthenticator } from '../../lib/authn/measured.ts';
import { staticTokenAuthenticator } from '../../lib/authn/static-token.ts';
import { unionAuthenticator } from '../../lib/authn/union.ts';
import type { Target } from '../../lib/client/target.ts';
import type { Base } from './base.ts';
import { openFrontProxies, proofsBy } from './front-proxies.ts';
import { openIssuers } from './issuers.ts';
import {
  authenticationAttempts,
  certificateObserver,
  userObserver,
} from './authentication-observers.ts';
import { apiAudiences } from './service-accounts.ts';
import type { SharedState } from './shared-state.ts';
import { reviewedTokens } from './token-webhook.ts';
import type { TrustedCertificates } from './trusted-certificates.ts';
import { neededView } from './views.ts';
import type { ViewOf } from './views.ts';

export interface OpenedAuthentication {
  /** For requests. */
  readonly authenticator: Authenticator;
  /** The same for reviews of tokens, which are nobody's requests. */
  readonly reviewer: Authenticator;
  readonly allowsAnonymous: AllowsAnonymous;
  /** Whom tokens are meant for that are meant for this server. */
  readonly apiAudiences: readonly string[];
}

/** What authenticators are made of beside the base. */
export interface AuthenticationParts {
  readonly shared: SharedState;
  readonly trusted: TrustedCertificates;
  readonly serviceAccounts: Authenticator;
  /** undefined: nobody outside is asked. */
  readonly webhook: Target | undefined;
  readonly viewOf: ViewOf;
}

/** @throws FlagError for a configuration that cannot be used. */
export function openAuthentication(
  base: Base,
  { shared, trusted, serviceAccounts, webhook, viewOf }: AuthenticationParts,
): OpenedAuthentication {
  const { flags, files, clock, metrics, authentication } = base;
  const audiences = apiAudiences(flags, shared);
  const members: Authenticator[] = [
    ...openFrontProxies(base, trusted),
    clientCertificateAuthenticator({
      ...base,
      proofs: proofsBy(base, trusted.clients),
      hasUid: base.gates.isOn('AllowParsingUserUIDFromCertAuth'),
      nowMs: () => clock.nowMs(),
      observe: certificateObserver(metrics),
    }),
    serviceAccounts, // before those that take any text: theirs are told by their form
  ];
  if (files.tokens !== undefined) members.push(staticTokenAuthenticator(files.tokens));
  members.push(...openBootstrapTokens(base, viewOf));
  const issuers = openIssuers(base, shared);
  if (issuers !== undefined) members.push(issuers);
  if (webhook !== undefined) members.push(reviewedTokens(base, webhook, audiences));
  const { allowsAnonymous } = authentication;
  const reviewer = unionAuthenticator(members, audiences);
  const authenticator = measuredAuthenticator(reviewer, authenticationAttempts(metrics), {
    allowsAnonymous: allowsAnonymous('/'),
    onUser: userObserver(metrics),
  });
  return { authenticator, reviewer, apiAudiences: audiences, allowsAnonymous };
}

function openBootstrapTokens(
  { flags, naming, clock }: Base,
  viewOf: ViewOf,
): readonly Authenticator[] {
  if (!flags['enable-bootstrap-token-auth']) return [];
  const secrets = neededView(viewOf, ['', 'secrets'], '--enable-bootstrap-token-auth');
  return [bootstrapTokenAuthenticator({ secrets, naming, nowMs: () => clock.nowMs() })];
}
