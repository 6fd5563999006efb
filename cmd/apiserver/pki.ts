// Certificates that a start makes by itself: a CA shared by all replicas, serving and client
// certificates below it. P-256 keys; the library is loaded only when something has to be made.
import { KeyObject, X509Certificate, createPrivateKey, randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

/** PEM texts. */
export interface KeyPair {
  readonly key: string;
  readonly cert: string;
}

const dayMs = 86_400_000;
/** Certificates begin a little in the past: clocks of machines differ. */
const backdateMs = 5 * 60_000;
const caDays = 3_650;
/** A certificate that is this close to its end is renewed at the next start. */
const renewBeforeMs = 30 * dayMs;
const leafDays = 365;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

type Library = typeof import('@peculiar/x509');
let loaded: Promise<Library> | undefined;

async function library(): Promise<Library> {
  loaded ??= (async () => {
    await import('reflect-metadata');
    const x509 = await import('@peculiar/x509');
    x509.cryptoProvider.set(webcrypto as never);
    return x509;
  })();
  return loaded;
}

export async function makeCa(commonName: string): Promise<KeyPair> {
  const x509 = await library();
  const keys = await newKeys();
  const usage = x509.KeyUsageFlags;
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    name: [{ CN: [commonName] }],
    ...validity(caDays),
    keys,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(usage.keyCertSign | usage.cRLSign | usage.digitalSignature, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { key: privatePem(keys.privateKey), cert: `${cert.toString('pem')}\n` };
}

export type LeafRequest =
  | {
      /** peer: shown on both sides of a connection. */
      readonly use: 'server' | 'peer';
      readonly commonName: string;
      readonly names: readonly string[];
    }
  | {
      readonly use: 'client';
      readonly commonName: string;
      readonly organizations: readonly string[];
    };

export async function makeLeaf(ca: KeyPair, request: LeafRequest): Promise<KeyPair> {
  const x509 = await library();
  const keys = await newKeys();
  const issuer = new x509.X509Certificate(ca.cert);
  const signingKey = await importSigningKey(ca.key);
  const isClient = request.use === 'client';
  const organizations =
    isClient && request.organizations.length > 0 ? [{ O: [...request.organizations] }] : [];
  const { serverAuth, clientAuth } = x509.ExtendedKeyUsage;
  const purposes = { server: [serverAuth], client: [clientAuth], peer: [serverAuth, clientAuth] };
  const names = isClient ? [] : request.names;
  const cert = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    subject: [...organizations, { CN: [request.commonName] }],
    issuer: issuer.subjectName,
    ...validity(leafDays),
    signingKey,
    publicKey: keys.publicKey,
    signingAlgorithm: algorithm,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(purposes[request.use]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ...(names.length === 0
        ? []
        : [
            new x509.SubjectAlternativeNameExtension(
              names.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value })),
            ),
          ]),
    ],
  });
  return { key: privatePem(keys.privateKey), cert: `${cert.toString('pem')}\n` };
}

/** Whether a kept pair still serves: signed by this CA, for these names, far from its end. */
export function stillServes(pair: KeyPair, ca: KeyPair, names: readonly string[]): boolean {
  try {
    const cert = new X509Certificate(pair.cert);
    const issuer = new X509Certificate(ca.cert);
    const covers = names.every((name) =>
      isIP(name) === 0 ? cert.checkHost(name) !== undefined : cert.checkIP(name) !== undefined,
    );
    const isOurs = cert.checkIssued(issuer) && cert.verify(issuer.publicKey);
    const isPair = cert.checkPrivateKey(createPrivateKey(pair.key));
    return covers && isOurs && isPair && cert.validToDate.getTime() - Date.now() > renewBeforeMs;
  } catch {
    return false; // unreadable: renewed
  }
}

const newKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

/** PEM (PKCS #8) of a new P-256 private key. */
export async function makeSigningKey(): Promise<string> {
  return privatePem((await newKeys()).privateKey);
}

function importSigningKey(pem: string): Promise<webcrypto.CryptoKey> {
  const der = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' });
  return webcrypto.subtle.importKey('pkcs8', der, algorithm, false, ['sign']);
}

const privatePem = (key: webcrypto.CryptoKey): string =>
  KeyObject.from(key).export({ type: 'pkcs8', format: 'pem' }).toString();

/** 127 random bits: positive, and never a second time. */
function serialNumber(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x01;
  return bytes.toString('hex');
}

function validity(days: number): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: new Date(now - backdateMs), notAfter: new Date(now + days * dayMs) };
}
