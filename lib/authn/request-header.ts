// Users that a front proxy names in headers: believed on connections alone whose certificate is
// proven by the CA of front proxies and is of an allowed name.
import type { Authentication, Authenticator } from './authenticator.ts';
import type { CertificateProofs } from './certificate-proofs.ts';
import { commonName } from './client-cert.ts';
import { readIdentity } from './identity-headers.ts';
import type { IdentityHeaders } from './identity-headers.ts';

export interface RequestHeaderOptions {
  /** By the bundle of `--requestheader-client-ca-file`. */
  readonly proofs: CertificateProofs;
  /** Common names of front proxies; none: any. */
  readonly allowedNames: readonly string[];
  readonly headers: IdentityHeaders;
}

const absent: Authentication = { outcome: 'absent' };

export function requestHeaderAuthenticator(options: RequestHeaderOptions): Authenticator {
  const { proofs, allowedNames, headers } = options;
  return {
    name: 'request-header',
    authenticate({ connection, rawHeaders }): Authentication {
      const certificate = connection?.certificate;
      if (connection === undefined || certificate === undefined) return absent;
      const problem = proofs.problemOf(connection);
      if (problem !== undefined) return { outcome: 'rejected', reason: `front proxy: ${problem}` };
      if (allowedNames.length > 0 && !allowedNames.includes(commonName(certificate) ?? '')) {
        const reason = 'front proxy: the name of the certificate is not allowed';
        return { outcome: 'rejected', reason };
      }
      const user = readIdentity(headers, rawHeaders);
      return user.name === '' ? absent : { outcome: 'accepted', user };
    },
  };
}
