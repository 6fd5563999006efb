// Whether the certificate of a connection is proven by a bundle, asked at every request and worked
// out once: again only when the bundle is another one, or a certificate begins or ends to be valid.
import type { ClientConnection } from './authenticator.ts';
import type { CertificateBundle, PathVerdict } from '../base/certificate-bundle.ts';

export interface CertificateProofs {
  /** Why the certificate that the connection showed is not proven; undefined: it is. */
  problemOf(connection: ClientConnection): string | undefined;
}

export function certificateProofs(
  bundle: () => CertificateBundle,
  nowMs: () => number,
): CertificateProofs {
  const known = new WeakMap<
    ClientConnection,
    { readonly by: CertificateBundle; readonly verdict: PathVerdict }
  >();
  return {
    problemOf(connection) {
      const { certificate, intermediates } = connection;
      if (certificate === undefined) return 'no certificate was shown';
      const by = bundle();
      const now = nowMs();
      const before = known.get(connection);
      if (before?.by === by && now < before.verdict.untilMs) return before.verdict.problem;
      const verdict = by.verify(certificate, intermediates, now);
      known.set(connection, { by, verdict });
      return verdict.problem;
    },
  };
}
