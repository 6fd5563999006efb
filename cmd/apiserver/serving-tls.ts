// Keeps what the listener shows in TLS handshakes as it is in files: its certificate, and the names
// of the CAs whose client certificates are asked for. Open connections keep theirs.
import { FollowedFile } from '../../lib/config/followed-file.ts';
import type { RunningServer } from '../../lib/server/serve.ts';
import type { Base } from './base.ts';
import type { ServingTls } from './credentials.ts';
import { readNamedPairs, readServingPair } from './given-files.ts';
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
  let { named } = serving;
  const show = (): void => server.setTls({ ...pair, named, clientCa: clientCas(trusted) });
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
  const namedChanged = (): void => {
    const next = readNamedPairs(flags);
    if (JSON.stringify(next) === JSON.stringify(named)) return;
    named = next;
    show();
    logger.info('new serving certificates for names are in force');
  };
  const follow = (path: string | undefined, changed: () => void): void => {
    if (path === undefined) return;
    const file = new FollowedFile(path, { clock, text: '', changed, failed });
    started.defer(() => file.close());
    void file.look();
  };
  follow(flags['tls-cert-file'], changed);
  follow(flags['tls-private-key-file'], changed);
  for (const { cert, key } of flags['tls-sni-cert-key'] ?? []) {
    follow(cert, namedChanged);
    follow(key, namedChanged);
  }
  return () => pair.cert;
}
