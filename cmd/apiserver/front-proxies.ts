// Users whom front proxies name, where the certificate of the connection proves that it is one.
import type { Authenticator } from '../../lib/authn/authenticator.ts';
import { certificateProofs } from '../../lib/authn/certificate-proofs.ts';
import type { CertificateProofs } from '../../lib/authn/certificate-proofs.ts';
import { identityHeaders } from '../../lib/authn/identity-headers.ts';
import { requestHeaderAuthenticator } from '../../lib/authn/request-header.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Base } from './base.ts';
import type { TrustedBundle, TrustedCertificates } from './trusted-certificates.ts';

export const proofsBy = ({ clock }: Base, trusted: TrustedBundle): CertificateProofs =>
  certificateProofs(
    () => trusted.current,
    () => clock.nowMs(),
  );

/**
 * They come before certificates of users, as in kube-apiserver: a proxy may be a user, too.
 * @throws FlagError for flags that do not go together.
 */
export function openFrontProxies(
  base: Base,
  trusted: TrustedCertificates,
): readonly Authenticator[] {
  const { flags, gates, logger } = base;
  const headers = identityHeaders(flags);
  if (headers.uid.length > 0 && !gates.isOn('RemoteRequestHeaderUID')) {
    throw new FlagError(
      '--requestheader-uid-headers needs --feature-gates=RemoteRequestHeaderUID=true',
    );
  }
  if (trusted.frontProxies === undefined) {
    const isAsked = [headers.username, headers.groups, headers.uid, headers.extraPrefixes].some(
      (names) => names.length > 0,
    );
    if (isAsked) {
      logger.warn(
        '--requestheader-…-headers have no effect without --requestheader-client-ca-file',
      );
    }
    return [];
  }
  if (headers.username.length === 0) {
    throw new FlagError(
      '--requestheader-client-ca-file needs --requestheader-username-headers: ' +
        'no front proxy could name a user',
    );
  }
  const allowedNames = flags['requestheader-allowed-names'];
  const proofs = proofsBy(base, trusted.frontProxies);
  return [requestHeaderAuthenticator({ proofs, allowedNames, headers })];
}
