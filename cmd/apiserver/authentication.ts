// Who asks: the authenticators that flags and files name, in order.
import type { AllowsAnonymous } from '../../lib/authn/anonymous.ts';
import type { Authenticator } from '../../lib/authn/authenticator.ts';
import { clientCertificateAuthenticator } from '../../lib/authn/client-cert.ts';
import { measuredAuthenticator } from '../../lib/authn/measured.ts';
import { staticTokenAuthenticator } from '../../lib/authn/static-token.ts';
import { unionAuthenticator } from '../../lib/authn/union.ts';
import { unknownTokenAuthenticator } from '../../lib/authn/unknown-token.ts';
import type { Flags } from '../../lib/config/flags.ts';
import type { Base } from './base.ts';
import { openIssuers } from './issuers.ts';
import { authenticationAttempts, certificateObserver, userObserver } from './observers.ts';
import type { SharedState } from './shared-state.ts';

export interface OpenedAuthentication {
  /** For requests. */
  readonly authenticator: Authenticator;
  /** The same for reviews of tokens, which are nobody's requests. */
  readonly reviewer: Authenticator;
  readonly allowsAnonymous: AllowsAnonymous;
  /** Whom tokens are meant for that are meant for this server. */
  readonly apiAudiences: readonly string[];
}

/** @throws FlagError for a configuration that cannot be used. */
export function openAuthentication(
  base: Base,
  { shared }: { readonly shared: SharedState },
): OpenedAuthentication {
  const { flags, files, clock, metrics, authentication } = base;
  const apiAudiences = audiencesOf(flags, shared);
  const members: Authenticator[] = [
    clientCertificateAuthenticator(() => clock.nowMs(), certificateObserver(metrics)),
  ];
  if (files.tokens !== undefined) members.push(staticTokenAuthenticator(files.tokens));
  const issuers = openIssuers(base, shared);
  if (issuers !== undefined) members.push(issuers);
  members.push(unknownTokenAuthenticator);
  const { allowsAnonymous } = authentication;
  const reviewer = unionAuthenticator(members, apiAudiences);
  const authenticator = measuredAuthenticator(reviewer, authenticationAttempts(metrics), {
    allowsAnonymous: allowsAnonymous('/'),
    onUser: userObserver(metrics),
  });
  return { authenticator, reviewer, apiAudiences, allowsAnonymous };
}

const audiencesOf = (flags: Flags, { serviceAccountIssuer }: SharedState): readonly string[] =>
  flags['api-audiences'] ?? flags['service-account-issuer'] ?? [serviceAccountIssuer];
