// Keys of service-account tokens for suites, one of each sort that is taken.
import { generateKeyPairSync } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { readSigningKey } from '../keys.ts';
import type { SigningKey } from '../keys.ts';

export const keySorts = ['RSA', 'P-256', 'P-384', 'P-521'] as const;
export type KeySort = (typeof keySorts)[number];

export interface KeyPair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export const newKeyPair = (sort: KeySort): KeyPair =>
  sort === 'RSA'
    ? generateKeyPairSync('rsa', { modulusLength: 2048 })
    : generateKeyPairSync('ec', { namedCurve: sort });

export const pemOf = (key: KeyObject): string =>
  key.export({ type: key.type === 'private' ? 'pkcs8' : 'spki', format: 'pem' }).toString();

export const newSigningKey = (sort: KeySort = 'P-256'): SigningKey =>
  readSigningKey(pemOf(newKeyPair(sort).privateKey));
