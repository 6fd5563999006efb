// Keys of service-account tokens, from PEM: which algorithm a key is for, and what it is called in
// the header of a token. An algorithm comes from the key alone, never from a token.
import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

export type TokenAlgorithm = 'RS256' | 'ES256' | 'ES384' | 'ES512';

export interface TokenKey {
  /** The public half. */
  readonly key: KeyObject;
  readonly algorithm: TokenAlgorithm;
  /** As kube-apiserver has it: base64url of the SHA-256 of the public key in DER (SPKI). */
  readonly id: string;
}

export interface SigningKey extends TokenKey {
  readonly privateKey: KeyObject;
}

const curves: Readonly<Record<string, TokenAlgorithm>> = {
  prime256v1: 'ES256',
  secp384r1: 'ES384',
  secp521r1: 'ES512',
};
/** What JSON Web Algorithms (RFC 7518) demand of RS256. */
const rsaBitsMin = 2048;

const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----[^-]*-----END \1-----/g;

/**
 * All keys of a file: public ones, certificates, and the public halves of private ones.
 * @throws Error that says which block is wrong and what would be right
 */
export function readTokenKeys(pem: string): TokenKey[] {
  const blocks = [...pem.matchAll(pemBlock)].filter(
    ([, label = '']) => label.endsWith('KEY') || label === 'CERTIFICATE',
  );
  if (blocks.length === 0) {
    throw new Error('must hold public or private keys in PEM (-----BEGIN PUBLIC KEY-----)');
  }
  return blocks.map(([block], index) => {
    const at = `key ${String(index + 1)}`;
    return tokenKey(readBlock(block, at), at);
  });
}

/** @throws Error that says what would be right */
export function readSigningKey(pem: string): SigningKey {
  let privateKey: KeyObject;
  try {
    privateKey = createPrivateKey(pem);
  } catch (cause) {
    throw new Error('must hold a private key in PEM, without a passphrase', { cause });
  }
  return { ...tokenKey(createPublicKey(privateKey), 'the key'), privateKey };
}

function readBlock(block: string, at: string): KeyObject {
  try {
    return createPublicKey(block);
  } catch (cause) {
    throw new Error(`${at} cannot be read; keys have no passphrase`, { cause });
  }
}

function tokenKey(key: KeyObject, at: string): TokenKey {
  const der = key.export({ type: 'spki', format: 'der' });
  const id = createHash('sha256').update(der).digest('base64url');
  return { key, algorithm: algorithmOf(key, at), id };
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject, at: string) {
  const { modulusLength = 0, namedCurve = '' } = asymmetricKeyDetails ?? {};
  if (asymmetricKeyType === 'rsa') {
    if (modulusLength >= rsaBitsMin) return 'RS256';
    throw new Error(`${at} must be of ${String(rsaBitsMin)} bits or more`);
  }
  const algorithm = asymmetricKeyType === 'ec' ? curves[namedCurve] : undefined;
  if (algorithm !== undefined) return algorithm;
  throw new Error(`${at} must be RSA, or ECDSA with the curve P-256, P-384 or P-521`);
}

/** Each key once, in order. */
export function uniqueKeys(keys: readonly TokenKey[]): TokenKey[] {
  return [...new Map(keys.map((key) => [key.id, key])).values()];
}
