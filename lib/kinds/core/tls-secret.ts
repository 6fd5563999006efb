// Secrets of type tls: whether certificate and key can be read and belong together, in the words of
// Go's `tls.X509KeyPair`. Such a secret is stored all the same: who wrote it is told.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { recordAt, textAt } from '../../api/json-access.ts';
import type { Warnings } from '../validator.ts';

export const secretWarnings: Warnings = ({ object, naming }) => {
  if (textAt(object, 'type') !== naming.resolve('{kubernetes}.io/tls')) return [];
  const data = recordAt(object, 'data');
  const read = (name: string): string =>
    Buffer.from(textAt(data, name), 'base64').toString('latin1');
  const problem = pairProblem(read('tls.crt'), read('tls.key'));
  return problem === undefined ? [] : [`tls: ${problem}`];
};

interface PemBlock {
  readonly type: string;
  readonly text: string;
}

const pemBlock = /^-----BEGIN ([^\n]+)-----\r?$[^]*?^-----END \1-----[ \t\r]*$/gm;

const blocksOf = (text: string): readonly PemBlock[] =>
  [...text.matchAll(pemBlock)].map(([block, type = '']) => ({ type, text: block }));

const isCertificate = ({ type }: PemBlock): boolean => type === 'CERTIFICATE';
const isKey = ({ type }: PemBlock): boolean => type.endsWith('PRIVATE KEY');

/** undefined: the two are a pair. */
function pairProblem(certificateText: string, keyText: string): string | undefined {
  const certificates = blocksOf(certificateText);
  const keys = blocksOf(keyText);
  const certificate = certificates.find(isCertificate);
  if (certificate === undefined) return noCertificate(certificates);
  const key = keys.find(isKey);
  if (key === undefined) return noKey(keys);
  const leaf = parsed(() => new X509Certificate(certificate.text));
  if (leaf === undefined) return 'failed to parse certificate';
  const secret = parsed(() => createPrivateKey(key.text));
  if (secret === undefined) return 'failed to parse private key';
  const { publicKey } = leaf;
  if (publicKey.asymmetricKeyType !== secret.asymmetricKeyType) {
    return 'private key type does not match public key type';
  }
  if (leaf.checkPrivateKey(secret)) return undefined;
  return 'private key does not match public key';
}

function noCertificate(found: readonly PemBlock[]): string {
  if (found.length === 0) return 'failed to find any PEM data in certificate input';
  const [only] = found;
  if (found.length === 1 && only !== undefined && isKey(only)) {
    return (
      'failed to find certificate PEM data in certificate input, but did find a private key; ' +
      'PEM inputs may have been switched'
    );
  }
  return (
    'failed to find "CERTIFICATE" PEM block in certificate input after skipping PEM blocks of ' +
    `the following types: ${typesOf(found)}`
  );
}

function noKey(found: readonly PemBlock[]): string {
  if (found.length === 0) return 'failed to find any PEM data in key input';
  const [only] = found;
  if (found.length === 1 && only !== undefined && isCertificate(only)) {
    return 'found a certificate rather than a key in the PEM for the private key';
  }
  return (
    'failed to find PEM block with type ending in "PRIVATE KEY" in key input after skipping ' +
    `PEM blocks of the following types: ${typesOf(found)}`
  );
}

const typesOf = (found: readonly PemBlock[]): string =>
  `[${found.map(({ type }) => type).join(' ')}]`;

function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
