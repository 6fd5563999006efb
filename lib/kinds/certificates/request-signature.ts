// Whether a PKCS #10 certificate request is signed with the key that it names: who asks for a
// certificate holds its key.
import { constants, createPublicKey, verify } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { childrenOf, elements, idOf, sequence } from './der.ts';
import type { Element } from './der.ts';

const bitString = 0x03;

/** Hashes by the identifiers of the algorithms that sign with them, encoded in hexadecimal. */
const hashes: ReadonlyMap<string, string> = new Map([
  ['2a864886f70d010105', 'sha1'],
  ['2a864886f70d01010b', 'sha256'],
  ['2a864886f70d01010c', 'sha384'],
  ['2a864886f70d01010d', 'sha512'],
  ['2a8648ce3d0401', 'sha1'],
  ['2a8648ce3d040302', 'sha256'],
  ['2a8648ce3d040303', 'sha384'],
  ['2a8648ce3d040304', 'sha512'],
]);

/** RSA-PSS: the hash is among the parameters, and the salt is as long as it. */
const pssId = '2a864886f70d01010a';
const pssHashes: ReadonlyMap<string, string> = new Map([
  ['608648016503040201', 'sha256'],
  ['608648016503040202', 'sha384'],
  ['608648016503040203', 'sha512'],
]);

const edId = '2b6570';

/** `request`: DER. False: it is no request, or is signed in a way that nobody knows. */
export function isSignedByItsKey(request: Uint8Array): boolean {
  const [outer, ...more] = elements(request) ?? [];
  const [info, algorithm, signature] = childrenOf(outer, sequence) ?? [];
  const [, , key] = childrenOf(info, sequence) ?? [];
  if (more.length > 0 || info === undefined || key === undefined) return false;
  if (signature?.tag !== bitString || signature.content[0] !== 0) return false;
  const signed = { data: info.whole, signature: signature.content.subarray(1) };
  try {
    const der = Buffer.from(key.whole);
    return isVerified(
      createPublicKey({ key: der, format: 'der', type: 'spki' }),
      algorithm,
      signed,
    );
  } catch {
    return false; // The key, or the algorithm with it, is of no kind that is known.
  }
}

interface Signed {
  readonly data: Uint8Array;
  readonly signature: Uint8Array;
}

function isVerified(
  key: KeyObject,
  algorithm: Element | undefined,
  { data, signature }: Signed,
): boolean {
  const [id, parameters] = childrenOf(algorithm, sequence) ?? [];
  const name = idOf(id);
  if (name === edId) return verify(null, data, key, signature);
  const hash = hashes.get(name);
  if (hash !== undefined) return verify(hash, data, key, signature);
  const pssHash = name === pssId ? pssHashOf(parameters) : undefined;
  if (pssHash === undefined) return false;
  const pss = {
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  };
  return verify(pssHash, data, { key, ...pss }, signature);
}

const firstParameter = 0xa0;

function pssHashOf(parameters: Element | undefined): string | undefined {
  const [first] = childrenOf(parameters, sequence) ?? [];
  const [hash] = childrenOf(first, firstParameter) ?? [];
  const [id] = childrenOf(hash, sequence) ?? [];
  return pssHashes.get(idOf(id));
}
