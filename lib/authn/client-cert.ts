// Client certificates that the TLS layer has verified; the subject's CN is the user, its O values
// the groups.
import type { User } from '../base/user.ts';
import type { X509Certificate } from 'node:crypto';
import type { Authentication, Authenticator } from './authenticator.ts';

const clientAuthUsage = '1.3.6.1.5.5.7.3.2';
const anyUsage = '2.5.29.37.0';

const absent: Authentication = { outcome: 'absent' };
const unverified: Authentication = {
  outcome: 'rejected',
  reason: 'the certificate is not of the client CA, or was not valid when it was shown',
};

interface Verdict {
  readonly subject: User | string;
  readonly expiresAtMs: number;
}

/**
 * Verdicts are kept per certificate object, of which a connection has one. `observe` is told for
 * how long an accepted one is still good.
 */
export function clientCertificateAuthenticator(
  nowMs: () => number,
  observe: (remainingMs: number) => void = () => undefined,
): Authenticator {
  const known = new WeakMap<X509Certificate, Verdict>();
  return {
    name: 'client-certificate',
    authenticate({ connection }): Authentication {
      const certificate = connection?.certificate;
      if (certificate === undefined) return absent;
      if (connection?.isVerified !== true) return unverified;
      let verdict = known.get(certificate);
      if (verdict === undefined) {
        const expiresAtMs = certificate.validToDate.getTime();
        verdict = { subject: readSubject(certificate), expiresAtMs };
        known.set(certificate, verdict);
      }
      const { subject, expiresAtMs } = verdict;
      if (typeof subject === 'string') return { outcome: 'rejected', reason: subject };
      // TLS checks the time once; a connection may outlive its certificate.
      const remainingMs = expiresAtMs - nowMs();
      if (remainingMs < 0) {
        return { outcome: 'rejected', reason: 'the client certificate has expired' };
      }
      observe(remainingMs);
      return { outcome: 'accepted', user: subject };
    },
  };
}

/** The user, or why the certificate cannot name one. */
function readSubject(certificate: X509Certificate): User | string {
  const usages = (certificate.keyUsage as readonly string[] | undefined) ?? [];
  if (usages.length > 0 && !usages.includes(clientAuthUsage) && !usages.includes(anyUsage)) {
    return 'the certificate is not meant for client authentication';
  }
  const { subject } = certificate.toLegacyObject();
  const fields = subject as unknown as Readonly<Record<string, string | string[] | undefined>>;
  const name = listOf(fields['CN']).at(-1); // the last one counts where there are several
  if (name === undefined || name === '') return 'the certificate has no common name';
  return { name, uid: '', groups: listOf(fields['O']), extra: {} };
}

const listOf = (value: string | string[] | undefined): string[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];
