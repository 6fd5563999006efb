import { describe, expect, test } from '@jest/globals';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { readSigningKey, readTokenKeys, uniqueKeys } from './keys.ts';
import { keySorts, newKeyPair, pemOf } from './testing/test-keys.ts';
import type { KeySort } from './testing/test-keys.ts';

const algorithms: Readonly<Record<KeySort, string>> = {
  RSA: 'RS256',
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
};

describe.each(keySorts)('a key of %s', (sort) => {
  const { privateKey, publicKey } = newKeyPair(sort);
  const id = createHash('sha256')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest('base64url');
  const older = sort === 'RSA' ? 'pkcs1' : 'sec1';
  const exported = { type: older, format: 'pem' } as const;

  test.each([
    ['public', pemOf(publicKey)],
    ['private', pemOf(privateKey)],
    ['private in the older form', privateKey.export(exported as never).toString()],
  ])('is read from a %s PEM, with the algorithm and name that it has', (_form, pem) => {
    expect(readTokenKeys(pem)).toMatchObject([{ algorithm: algorithms[sort], id }]);
    expect(readTokenKeys(pem)[0]?.key.type).toBe('public');
  });

  test('signs with the same name', () => {
    expect(readSigningKey(pemOf(privateKey))).toMatchObject({ algorithm: algorithms[sort], id });
  });
});

test('a file may hold several keys, and each counts once', () => {
  const [one, two] = [newKeyPair('RSA'), newKeyPair('P-256')];
  const parameters =
    '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
  const text = `words\n${pemOf(one.publicKey)}${parameters}${pemOf(two.privateKey)}`;
  const keys = readTokenKeys(text);
  expect(keys.map(({ algorithm }) => algorithm)).toEqual(['RS256', 'ES256']);
  expect(uniqueKeys([...keys, ...readTokenKeys(pemOf(one.privateKey))])).toEqual(keys);
});

const small = generateKeyPairSync('rsa', { modulusLength: 1024 });
const ed25519 = generateKeyPairSync('ed25519');
const secp256k1 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
const encryption = { cipher: 'aes-256-cbc', passphrase: 'secret' };
const locked = newKeyPair('P-256')
  .privateKey.export({ type: 'pkcs8', format: 'pem', ...encryption })
  .toString();

test.each([
  ['', 'must hold public or private keys in PEM'],
  [
    '-----BEGIN CERTIFICATE REQUEST-----\nAA\n-----END CERTIFICATE REQUEST-----',
    'must hold public',
  ],
  [pemOf(ed25519.publicKey), 'key 1 must be RSA, or ECDSA with the curve P-256'],
  [pemOf(secp256k1.publicKey), 'key 1 must be RSA, or ECDSA'],
  [pemOf(small.publicKey), 'key 1 must be of 2048 bits or more'],
  [`${pemOf(newKeyPair('RSA').publicKey)}${locked}`, 'key 2 cannot be read'],
])('%j is no file of keys', (pem, message) => {
  expect(() => readTokenKeys(pem)).toThrow(message);
});

test.each([
  [pemOf(newKeyPair('RSA').publicKey), 'must hold a private key in PEM'],
  [locked, 'must hold a private key in PEM, without a passphrase'],
  [pemOf(ed25519.privateKey), 'the key must be RSA, or ECDSA'],
])('%j cannot sign', (pem, message) => {
  expect(() => readSigningKey(pem)).toThrow(message);
});
