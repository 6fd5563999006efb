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
  /** A CA below this one. */
  intermediate(commonName: string, options?: CaOptions): Promise<TestCa>;
}

export interface CaOptions extends Validity {
  /** CAs that may stand below it. */
  readonly pathLength?: number;
  /** Extended key usages. */
  readonly usages?: readonly string[];
  /** false: nothing says that it is one. */
  readonly isCa?: boolean;
}

interface Validity {
  readonly notBefore?: Date;
  readonly notAfter?: Date;
}

export interface LeafRequest extends Validity {
  /** 'any': without extended key usages. */
  readonly use: 'serverAuth' | 'clientAuth' | 'any';
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** In place of the two above: attributes in their order, by short name or object identifier. */
  readonly subject?: readonly Readonly<Record<string, string>>[];
  /** DNS names and IP addresses that it is good for; none: a certificate without such names. */
  readonly names?: readonly string[];
  /** The object identifier of a critical extension that nobody knows. */
  readonly critical?: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const dayMs = 86_400_000;
const ownNames = ['localhost', '127.0.0.1'];

export async function createTestCa(
  commonName = 'test-ca',
  options: CaOptions = {},
): Promise<TestCa> {
  x509.cryptoProvider.set(webcrypto as never);
  const keys = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ CN: [commonName] }],
    ...validity(options),
    keys,
    signingAlgorithm: algorithm,
    extensions: caExtensions(options),
  });
  return caOf(certificate, keys);
}

const caOf = (ca: x509.X509Certificate, caKeys: webcrypto.CryptoKeyPair): TestCa => ({
  cert: pem(ca),
  async issue(request) {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      subject: subjectOf(request),
      issuer: ca.subjectName,
      ...validity(request),
      signingKey: caKeys.privateKey,
      publicKey: keys.publicKey,
      signingAlgorithm: algorithm,
      extensions: leafExtensions(request),
    });
    const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' });
    return { key: String(key), cert: pem(certificate) };
  },
  async intermediate(commonName, options = {}) {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber: serialNumber(),
      subject: [{ CN: [commonName] }],
      issuer: ca.subjectName,
      ...validity(options),
      signingKey: caKeys.privateKey,
      publicKey: keys.publicKey,
      signingAlgorithm: algorithm,
      extensions: caExtensions(options),
    });
    return caOf(certificate, keys);
  },
});

const caExtensions = ({ pathLength, usages = [], isCa = true }: CaOptions): x509.Extension[] => [
  new x509.BasicConstraintsExtension(isCa, pathLength, true),
  ...(isCa ? [new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true)] : []),
  ...(usages.length === 0 ? [] : [new x509.ExtendedKeyUsageExtension([...usages])]),
];

function subjectOf({ commonName, organizations = [], subject }: LeafRequest): x509.JsonName {
  if (subject !== undefined) {
    return subject.map((attribute) =>
      Object.fromEntries(Object.entries(attribute).map(([key, value]) => [key, [value]])),
    );
  }
  const groups = organizations.length === 0 ? [] : [{ O: [...organizations] }];
  return [...groups, { CN: [commonName] }];
}

const leafExtensions = ({ use, names = ownNames, critical }: LeafRequest): x509.Extension[] => [
  new x509.BasicConstraintsExtension(false, undefined, true),
  ...(use === 'any' ? [] : [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage[use]])]),
  ...(names.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(names.map(named))]),
  ...(critical === undefined ? [] : [new x509.Extension(critical, true, Buffer.from([5, 0]))]),
];

const named = (value: string): { type: 'ip' | 'dns'; value: string } => ({
  type: isIP(value) === 0 ? 'dns' : 'ip',
  value,
});

const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

const validity = ({
  notBefore = new Date(Date.now() - 2 * dayMs),
  notAfter = new Date(Date.now() + dayMs),
}: Validity): { notBefore: Date; notAfter: Date } => ({ notBefore, notAfter });

const serialNumber = (): string =>
  `1${Buffer.from(webcrypto.getRandomValues(new Uint8Array(8)))
    .toString('hex')
    .slice(1)}`;

const pem = (certificate: x509.X509Certificate): string => `${certificate.toString('pem')}\n`;
