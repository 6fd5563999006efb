// What is told of certificates is what is in force, and changes with it.
import { afterAll, expect, test } from '@jest/globals';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { collectCertificates } from './certificate-metrics.ts';
import { makeCa, makeLeaf } from './pki.ts';
import { TrustedBundle } from './trusted-certificates.ts';

const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
afterAll(() => rmSync(folder, { recursive: true }));

const endOf = (pem: string): number => new X509Certificate(pem).validToDate.getTime() / 1000;

test('each use has the end of its certificates, as they are in force', async () => {
  const [shared, given, proxy] = await Promise.all([makeCa('a'), makeCa('b'), makeCa('c')]);
  const leaf = await makeLeaf(shared, { use: 'server', commonName: 's', names: ['localhost'] });
  const client = await makeLeaf(given, { use: 'client', commonName: 'c', organizations: [] });
  const certFile = join(folder, 'etcd.crt');
  writeFileSync(certFile, client.cert);
  const trusted = { clients: new TrustedBundle(shared.cert), frontProxies: undefined };
  const metrics = testMetrics();
  let serving = shared.cert;
  const inForce = { serving: () => serving, shared: { ca: shared }, trusted };
  collectCertificates({ metrics, files: { etcdTls: { certFile } } }, inForce);
  const told = async (): Promise<Record<string, number>> => {
    const { body } = await metrics.text();
    const line = /^apiserver_certificate_expiration_timestamp_seconds\{use="(\w+)"\} (\d+)$/gm;
    return Object.fromEntries(
      [...body.matchAll(line)].map(([, use = '', end]) => [use, Number(end)] as const),
    );
  };
  const [ca, clientEnd] = [endOf(shared.cert), endOf(client.cert)];
  expect(await told()).toEqual({ serving: ca, shared_ca: ca, etcd_client: clientEnd });

  serving = `${leaf.cert}${shared.cert}`; // the path ends with its leaf
  trusted.clients.replace(`${shared.cert}${client.cert}${given.cert}`); // the set with its last
  writeFileSync(certFile, shared.cert);
  const after = { serving: endOf(leaf.cert), shared_ca: ca, client_ca: endOf(given.cert) };
  expect(await told()).toEqual({ ...after, etcd_client: ca });

  const other = testMetrics();
  const proxies = { ...trusted, frontProxies: new TrustedBundle(proxy.cert) };
  collectCertificates({ metrics: other, files: { etcdTls: {} } }, { ...inForce, trusted: proxies });
  const { body } = await other.text();
  expect(body).toContain(`{use="front_proxy_ca"} ${String(endOf(proxy.cert))}\n`);
  expect(body).not.toContain('use="etcd_client"');
});
