// Until when the certificates are good that this replica shows and believes, told with each scrape:
// as they are in force, after a reload too.
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { certificateBlocks } from '../../lib/base/certificate-bundle.ts';
import type { Base } from './base.ts';
import type { SharedState } from './shared-state.ts';
import type { TrustedCertificates } from './trusted-certificates.ts';

/** What is in force, in PEM. */
interface InForce {
  readonly serving: () => string;
  readonly shared: Pick<SharedState, 'ca'>;
  readonly trusted: TrustedCertificates;
}

export function collectCertificates(
  { metrics, files }: Pick<Base, 'metrics'> & { readonly files: Pick<Base['files'], 'etcdTls'> },
  { serving, shared, trusted }: InForce,
): void {
  const ends = metrics.series.apiserver_certificate_expiration_timestamp_seconds;
  const own = endsOf(shared.ca.cert);
  const tell = (use: string, endsMs: readonly number[], pick: (...all: number[]) => number) => {
    // Without a certificate there is nothing that could end.
    if (endsMs.length > 0) ends.child(use).value = pick(...endsMs) / 1000;
  };
  ends.collect.add(() => {
    // What is shown is a path, and ends with the first of it; what is believed is a set.
    tell('serving', [...endsOf(serving()).values()], Math.min);
    tell('shared_ca', [...own.values()], Math.max);
    const clients = endsOf(trusted.clients.current.pem);
    const given = [...clients].filter(([fingerprint]) => !own.has(fingerprint));
    const givenEnds = given.map(([, endMs]) => endMs);
    tell('client_ca', givenEnds, Math.max);
    const proxies = trusted.frontProxies?.current.pem ?? '';
    tell('front_proxy_ca', [...endsOf(proxies).values()], Math.max);
  });
  const { certFile } = files.etcdTls;
  if (certFile === undefined) return;
  metrics.beforeText.add(async () => {
    const pem = await readFile(certFile, 'utf8'); // connections read it again, too
    tell('etcd_client', [...endsOf(pem).values()], Math.min);
  });
}

/** By fingerprint: when each certificate ends, milliseconds since the epoch. */
const endsOf = (pem: string): ReadonlyMap<string, number> =>
  new Map(
    certificateBlocks(pem).map((block) => {
      const certificate = new X509Certificate(block);
      return [certificate.fingerprint256, certificate.validToDate.getTime()];
    }),
  );
