// Keeps what the listener shows in TLS handshakes as it is in files: its certificate, and the names
// of the CAs whose client certificates are asked for. Open connections keep theirs.
import { FollowedFile } from '../../lib/config/followed-file.ts';
import type { RunningServer } from '../../lib/server/serve.ts';
import type { Base } from './base.ts';
import type { ServingTls } from './credentials.ts';
import { readServingPair } from './given-files.ts';
import type { KeyPair } from './pki.ts';
import type { TrustedCertificates } from './trusted-certificates.ts';

/** PEM of all CAs that client certificates may be of. */
export const clientCas = ({ clients, frontProxies }: TrustedCertificates): string =>
  `${clients.current.pem}${frontProxies?.current.pem ?? ''}`;

/** The returned function says what is in force, in PEM. */
export function followServingTls(
  base: Base,
  server: Pick<RunningServer, 'setTls'>,
  { serving, trusted }: { readonly serving: ServingTls; readonly trusted: TrustedCertificates },
): () => string {
  const { flags, clock, logger, started } = base;
  let pair: KeyPair = serving;
  const show = (): void => server.setTls({ ...pair, clientCa: clientCas(trusted) });
  trusted.clients.onChange(show);
  trusted.frontProxies?.onChange(show);
  const failed = (error: Error): void => {
    const message = 'the new serving certificate cannot be used, the one before stays in force';
    logger.error(message, { reason: error.message });
  };
  /** @throws FlagError for a pair that is none, also between the changes of its files. */
  const changed = (): void => {
    const next = readServingPair(flags);
    if (next === undefined || (next.cert === pair.cert && next.key === pair.key)) return;
    pair = next;
    show();
    logger.info('a new serving certificate is in force', { path: flags['tls-cert-file'] });
  };
  for (const path of [flags['tls-cert-file'], flags['tls-private-key-file']]) {
    if (path === undefined) continue;
    const file = new FollowedFile(path, { clock, text: '', changed, failed });
    started.defer(() => file.close());
    void file.look();
  }
  return () => pair.cert;
}
