// Requests are made here as clients make them: signed with keys of every kind that is taken.
import { constants, generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { isSignedByItsKey } from './request-signature.ts';

/** A tag, a length, and what is in it. */
function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const bytes = Buffer.concat(content);
  const { length } = bytes;
  const head = length < 128 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), bytes]);
}

const id = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const version = der(0x02, Buffer.from([0]));
const nobody = der(0x30);

interface Keys {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

const infoOf = ({ publicKey }: Keys): Buffer =>
  der(0x30, version, nobody, publicKey.export({ format: 'der', type: 'spki' }), der(0xa0));
const requestOf = (info: Uint8Array, algorithm: Uint8Array, signature: Uint8Array): Buffer =>
  der(0x30, info, der(0x30, algorithm), der(0x03, Buffer.from([0]), signature));

const ec = (namedCurve: string): Keys => generateKeyPairSync('ec', { namedCurve });
const [p256, p384] = [ec('P-256'), ec('P-384')];
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ed = generateKeyPairSync('ed25519');
const pss = {
  key: rsa.privateKey,
  padding: constants.RSA_PKCS1_PSS_PADDING,
  saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
};
const sha256 = der(0x30, id('608648016503040201'));
const ofPss = (hash: Uint8Array): Buffer =>
  Buffer.concat([id('2a864886f70d01010a'), der(0x30, der(0xa0, hash))]);

test.each<[string, Keys, Uint8Array, (info: Uint8Array) => Uint8Array]>([
  ['ECDSA', p256, id('2a8648ce3d040302'), (info) => sign('sha256', info, p256.privateKey)],
  ['of another curve', p384, id('2a8648ce3d040303'), (i) => sign('sha384', i, p384.privateKey)],
  ['RSA', rsa, id('2a864886f70d01010d'), (info) => sign('sha512', info, rsa.privateKey)],
  ['RSA-PSS', rsa, ofPss(sha256), (info) => sign('sha256', info, pss)],
  ['Ed25519', ed, id('2b6570'), (info) => sign(null, info, ed.privateKey)],
])('a request is signed with its key: %s', (_claim, keys, algorithm, signed) => {
  const info = infoOf(keys);
  const signature = signed(info);
  expect(isSignedByItsKey(requestOf(info, algorithm, signature))).toBe(true);
  const other = der(0x30, version, der(0x30, nobody), info.subarray(info.length - 2));
  expect(isSignedByItsKey(requestOf(other, algorithm, signature))).toBe(false);
});

const info = infoOf(p256);
const algorithm = id('2a8648ce3d040302');
const good = requestOf(info, algorithm, sign('sha256', info, p256.privateKey));

test.each<[string, Uint8Array]>([
  ['with another key', requestOf(info, algorithm, sign('sha256', info, ec('P-256').privateKey))],
  ['by another algorithm', requestOf(info, id('2a8648ce3d040303'), good.subarray(-70))],
  ['by one that nobody knows', requestOf(info, id('2a03'), sign('sha256', info, p256.privateKey))],
  ['by RSA-PSS without its parameters', requestOf(info, id('2a864886f70d01010a'), good)],
  ['for a key that is none', requestOf(der(0x30, version, nobody, nobody), algorithm, good)],
  ['and more after it', Buffer.concat([good, nobody])],
  ['not at all', der(0x30, info)],
  ['and is no sequence', der(0x04, good)],
  ['and cut', good.subarray(0, -1)],
  ['and empty', Buffer.alloc(0)],
])('a request is refused that is signed %s', (_claim, request) => {
  expect(isSignedByItsKey(request)).toBe(false);
});
