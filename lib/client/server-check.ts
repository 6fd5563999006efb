// Whether a server is whom it is called as: its certificate comes from a trusted CA, and names the
// host. OpenSSL says the first, and where it looked at the wrong CA of a name, paths of our own do.
import type { X509Certificate } from 'node:crypto';
import tls from 'node:tls';
import type { TargetSettings } from './target-settings.ts';

/** Trust, and what it is told by in messages of OpenSSL. */
type Trust = Pick<TargetSettings, 'isServerUnchecked' | 'bundle'>;

/** A certificate that is not trusted; the message is in upstream's words. */
class Untrusted extends Error {
  readonly code = 'UNTRUSTED';
}

const untrusted = 'x509: certificate signed by unknown authority';
const outOfDate = 'x509: certificate has expired or is not yet valid';
const reasons: Readonly<Record<string, string>> = {
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  CERT_SIGNATURE_FAILURE: untrusted,
  CERT_HAS_EXPIRED: outOfDate,
  CERT_NOT_YET_VALID: outOfDate,
  INVALID_PURPOSE: 'x509: certificate specifies an incompatible key usage',
};

/**
 * Where OpenSSL took one of several certificates of a name for the issuer, or the leaf for its own
 * issuer, since both are called the same: it looks at names, and at the first that fits.
 */
const mayBeMistaken: ReadonlySet<string> = new Set([
  'CERT_SIGNATURE_FAILURE',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Options of a connection that is judged by `serverProblem` once it is made. */
export const uncheckedYet = {
  rejectUnauthorized: false,
  checkServerIdentity: (): undefined => undefined,
} as const;

/**
 * @param name that the certificate must be good for
 * @returns undefined: it is whom it should be
 */
export function serverProblem(
  socket: tls.TLSSocket,
  trust: Trust,
  { name, nowMs }: { readonly name: string; readonly nowMs: number },
): Untrusted | undefined {
  if (trust.isServerUnchecked) return undefined;
  const leaf = socket.getPeerX509Certificate();
  if (leaf === undefined) return new Untrusted('x509: the server shows no certificate');
  if (!socket.authorized) {
    // Node has the code here, whatever the type says.
    const code = String(socket.authorizationError);
    if (!mayBeMistaken.has(code) || !isProven(leaf, trust, nowMs)) {
      return new Untrusted(reasons[code] ?? `x509: ${code}`);
    }
  }
  return nameProblem(name, leaf.toLegacyObject());
}

/** The roots of the system tell their keys apart: they are not looked at once more. */
function isProven(leaf: X509Certificate, { bundle }: Trust, nowMs: number): boolean {
  if (bundle === undefined) return false;
  const given: X509Certificate[] = [];
  for (let next = leaf.issuerCertificate; next; next = next.issuerCertificate) given.push(next);
  return bundle().verify(leaf, given, nowMs, 'serverAuth').problem === undefined;
}

/** As upstream, the certificate's common name does not count: only its subjectAltName does. */
function nameProblem(name: string, certificate: tls.PeerCertificate): Untrusted | undefined {
  const nameless = { ...certificate, subject: {} } as typeof certificate;
  if (tls.checkServerIdentity(name, nameless) === undefined) return undefined;
  const { subjectaltname = 'no name' } = certificate;
  const names = subjectaltname.replaceAll(/(DNS|IP Address):/g, '');
  return new Untrusted(`x509: certificate is valid for ${names}, not ${name}`);
}
