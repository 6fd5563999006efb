// Client certificates: the subject's common name is the user, its organizations are the groups
// (specification 3, Methods).
import type { X509Certificate } from 'node:crypto';
import type { NamingProfile } from '../api/vendor.ts';
import type { User } from '../base/user.ts';
import type { Authentication, Authenticator } from './authenticator.ts';
import type { CertificateProofs } from './certificate-proofs.ts';

/** The attribute of a subject that is the user's uid, as kube-apiserver has it. */
const uidAttribute = '1.3.6.1.4.1.57683.2';

const absent: Authentication = { outcome: 'absent' };

export interface ClientCertificateOptions {
  readonly proofs: CertificateProofs;
  readonly naming: NamingProfile;
  /** `AllowParsingUserUIDFromCertAuth`. */
  readonly hasUid: boolean;
  readonly nowMs: () => number;
  /** Told for how long a certificate that is accepted is still good. */
  readonly observe?: (remainingMs: number) => void;
}

/** Subjects are read once for each certificate object, of which a connection has one. */
export function clientCertificateAuthenticator(options: ClientCertificateOptions): Authenticator {
  const { proofs, nowMs, observe } = options;
  const known = new WeakMap<X509Certificate, { read: User | string; endsAtMs: number }>();
  return {
    name: 'client-certificate',
    authenticate({ connection }): Authentication {
      const certificate = connection?.certificate;
      if (certificate === undefined || connection === undefined) return absent;
      const problem = proofs.problemOf(connection);
      if (problem !== undefined) return { outcome: 'rejected', reason: problem };
      let subject = known.get(certificate);
      if (subject === undefined) {
        const endsAtMs = certificate.validToDate.getTime();
        subject = { read: readUser(certificate, options), endsAtMs };
        known.set(certificate, subject);
      }
      const { read, endsAtMs } = subject;
      if (typeof read === 'string') return { outcome: 'rejected', reason: read };
      observe?.(endsAtMs - nowMs());
      return { outcome: 'accepted', user: read };
    },
  };
}

/** The user, or why the certificate cannot name one. */
function readUser(
  certificate: X509Certificate,
  { naming, hasUid }: ClientCertificateOptions,
): User | string {
  const name = commonName(certificate);
  if (name === undefined || name === '') return 'the certificate has no common name';
  const uids = hasUid ? subjectValues(certificate, uidAttribute) : [];
  const [uid = ''] = uids;
  if (uids.length > 1) return 'the certificate has several uids';
  if (uids.length === 1 && uid === '') return 'the certificate has an empty uid';
  const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase();
  const credentialId = naming.resolve('authentication.{kubernetes}.io/credential-id');
  const extra = { [credentialId]: [`X509SHA256=${fingerprint}`] };
  return { name, uid, groups: subjectValues(certificate, 'O'), extra };
}

/** The last one where there are several, as kube-apiserver has it. */
export const commonName = (certificate: X509Certificate): string | undefined =>
  subjectValues(certificate, 'CN').at(-1);

/** `key`: a short name, or an object identifier that has none. */
function subjectValues(certificate: X509Certificate, key: string): readonly string[] {
  const { subject } = certificate.toLegacyObject();
  const fields = subject as unknown as Readonly<Record<string, string | string[] | undefined>>;
  const value = fields[key];
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
