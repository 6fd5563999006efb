// The CAs whose client certificates are believed, of users and of front proxies: each bundle as its
// file is now. A file that changes to something else than certificates changes nothing.
import { CertificateBundle } from '../../lib/base/certificate-bundle.ts';
import { FollowedFile } from '../../lib/config/followed-file.ts';
import type { Base } from './base.ts';
import type { SharedState } from './shared-state.ts';

export interface TrustedCertificates {
  /** The CA that replicas share, and those of `--client-ca-file`. */
  readonly clients: TrustedBundle;
  /** Of `--requestheader-client-ca-file`; undefined without the flag. */
  readonly frontProxies: TrustedBundle | undefined;
}

export class TrustedBundle {
  readonly #listeners: (() => void)[] = [];
  #current: CertificateBundle;

  /** @throws Error for what is no bundle. */
  constructor(pem: string) {
    this.#current = new CertificateBundle(pem);
  }

  get current(): CertificateBundle {
    return this.#current;
  }

  /**
   * Whether it was another one.
   * @throws Error for what is no bundle; then nothing changes.
   */
  replace(pem: string): boolean {
    const next = new CertificateBundle(pem);
    if (next.pem === this.#current.pem) return false;
    this.#current = next;
    for (const listener of this.#listeners) listener();
    return true;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

export function openTrustedCertificates(base: Base, { ca }: SharedState): TrustedCertificates {
  const { files } = base;
  const clients = new TrustedBundle(`${ca.cert}${files.clientCa}`);
  const { frontProxyCa } = files;
  const frontProxies = frontProxyCa === '' ? undefined : new TrustedBundle(frontProxyCa);
  // A client CA file that holds nothing would otherwise be as good as none.
  const readClients = (text: string): boolean =>
    clients.replace(`${ca.cert}${new CertificateBundle(text).pem}`);
  follow(base, 'client-ca-file', files.clientCa, readClients);
  if (frontProxies !== undefined) {
    follow(base, 'requestheader-client-ca-file', frontProxyCa, (text) =>
      frontProxies.replace(text),
    );
  }
  return { clients, frontProxies };
}

function follow(
  { flags, clock, logger, started }: Base,
  flag: 'client-ca-file' | 'requestheader-client-ca-file',
  text: string,
  /** Whether it changed anything. */
  read: (text: string) => boolean,
): void {
  const path = flags[flag];
  if (path === undefined) return;
  const file = new FollowedFile(path, {
    clock,
    text,
    changed(next) {
      if (read(next)) logger.info(`--${flag}: new certificates are in force`, { path });
    },
    failed({ message: reason }) {
      const message = 'the new certificates cannot be used, the ones before stay in force';
      logger.error(`--${flag}: ${message}`, { path, reason });
    },
  });
  started.defer(() => file.close());
  void file.look(); // it may have changed since the flags were read
}
