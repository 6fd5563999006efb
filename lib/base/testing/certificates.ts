// Throw-away certificates for tests: a CA and what it signs, for 127.0.0.1 unless names are given.
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { KeyObject, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

export interface TestPair {
  readonly key: string;
  readonly cert: string;
}

export interface TestCa {
  readonly cert: string;
  issue(request: LeafRequest): Promise<TestPair>;
}

export interface LeafRequest {
  readonly use: 'serverAuth' | 'clientAuth';
  readonly commonName: string;
  readonly organizations?: readonly string[];
  readonly notAfter?: Date;
  /** DNS names and IP addresses that it is good for; none: a certificate without such names. */
  readonly names?: readonly string[];
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const dayMs = 86_400_000;
const ownNames = ['localhost', '127.0.0.1'];

export async function createTestCa(commonName = 'test-ca'): Promise<TestCa> {
  x509.cryptoProvider.set(webcrypto as never);
  const caKeys = await newKeys();
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ CN: [commonName] }],
    ...validity(),
    keys: caKeys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  return {
    cert: pem(ca),
    async issue({ use, commonName: name, organizations = [], notAfter, names = ownNames }) {
      const keys = await newKeys();
      const groups = organizations.length === 0 ? [] : [{ O: [...organizations] }];
      const certificate = await x509.X509CertificateGenerator.create({
        serialNumber: serialNumber(),
        subject: [...groups, { CN: [name] }],
        issuer: ca.subjectName,
        ...validity(notAfter),
        signingKey: caKeys.privateKey,
        publicKey: keys.publicKey,
        signingAlgorithm: algorithm,
        extensions: [
          new x509.BasicConstraintsExtension(false, undefined, true),
          new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[use]]),
          ...(names.length === 0
            ? []
            : [new x509.SubjectAlternativeNameExtension(names.map(named))]),
        ],
      });
      const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
      return { key: String(key), cert: pem(certificate) };
    },
  };
}

const named = (value: string): { type: 'ip' | 'dns'; value: string } => ({
  type: isIP(value) === 0 ? 'dns' : 'ip',
  value,
});

const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

function validity(notAfter = new Date(Date.now() + dayMs)): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(Date.now() - 2 * dayMs), notAfter };
}

const serialNumber = (): string =>
  `1${Buffer.from(webcrypto.getRandomValues(new Uint8Array(8)))
    .toString('hex')
    .slice(1)}`;

const pem = (certificate: x509.X509Certificate): string => `${certificate.toString('pem')}\n`;
