// A throw-away CA with one server and one client certificate for 127.0.0.1, written as PEM files.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { KeyObject, webcrypto } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface TestTlsFiles {
  readonly caFile: string;
  readonly serverCertFile: string;
  readonly serverKeyFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const dayMs = 24 * 3_600_000;

interface Issued {
  readonly certificate: x509.X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
}

/** Writes the files into `folder`. */
export async function writeTlsFiles(folder: string): Promise<TestTlsFiles> {
  x509.cryptoProvider.set(webcrypto);
  const ca = await issue('etcd-test-ca', undefined);
  const server = await issue('etcd-member', ca);
  const client = await issue('etcd-client', ca);
  const path = (name: string): string => join(folder, name);
  writeFileSync(path('ca.crt'), pem(ca.certificate));
  writeFileSync(path('server.crt'), pem(server.certificate));
  writeFileSync(path('server.key'), await keyPem(server.keys), { mode: 0o600 });
  writeFileSync(path('client.crt'), pem(client.certificate));
  writeFileSync(path('client.key'), await keyPem(client.keys), { mode: 0o600 });
  return {
    caFile: path('ca.crt'),
    serverCertFile: path('server.crt'),
    serverKeyFile: path('server.key'),
    certFile: path('client.crt'),
    keyFile: path('client.key'),
  };
}

async function issue(commonName: string, issuer: Issued | undefined): Promise<Issued> {
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const isCa = issuer === undefined;
  const usage = x509.ExtendedKeyUsage;
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: webcrypto.getRandomValues(Buffer.alloc(8)).toString('hex').replace(/^./, '1'),
    subject: [{ CN: [commonName] }],
    issuer: issuer?.certificate.subjectName ?? [{ CN: [commonName] }],
    notBefore: new Date(Date.now() - dayMs),
    notAfter: new Date(Date.now() + 7 * dayMs),
    signingKey: issuer?.keys.privateKey ?? keys.privateKey,
    publicKey: keys.publicKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(isCa, undefined, true),
      ...(isCa ? [new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true)] : []),
      ...(isCa ? [] : [new x509.ExtendedKeyUsageExtension([usage.serverAuth, usage.clientAuth])]),
      new x509.SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
      ]),
    ],
  });
  return { certificate, keys };
}

const pem = (certificate: x509.X509Certificate): string => `${certificate.toString('pem')}\n`;

function keyPem(keys: webcrypto.CryptoKeyPair): Promise<string> {
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
  return Promise.resolve(String(key));
}
