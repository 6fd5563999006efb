// Who asks: the authenticators that flags and files name, in order.
import type { Authenticator } from '../../lib/authn/authenticator.ts';
import { clientCertificateAuthenticator } from '../../lib/authn/client-cert.ts';
import { measuredAuthenticator } from '../../lib/authn/measured.ts';
import { staticTokenAuthenticator } from '../../lib/authn/static-token.ts';
import { unionAuthenticator } from '../../lib/authn/union.ts';
import type { Base } from './base.ts';
import { authenticationAttempts, certificateObserver, userObserver } from './observers.ts';

export function openAuthentication({ flags, files, clock, metrics }: Base): Authenticator {
  const members: Authenticator[] = [
    clientCertificateAuthenticator(() => clock.nowMs(), certificateObserver(metrics)),
  ];
  if (files.tokens !== undefined) members.push(staticTokenAuthenticator(files.tokens));
  return measuredAuthenticator(unionAuthenticator(members), authenticationAttempts(metrics), {
    allowsAnonymous: flags['anonymous-auth'],
    onUser: userObserver(metrics),
  });
}
