import { expect, test } from '@jest/globals';
import { importJWK } from 'jose';
import type { JWK } from 'jose';
import { openIdDocuments } from './openid-documents.ts';
import { keySorts, newSigningKey } from './testing/test-keys.ts';

const keys = keySorts.map((sort) => newSigningKey(sort));
const keysUrl = 'https://keys.example.com/jwks';

test('the documents tell issuer, algorithms and public keys, and no private one', async () => {
  const issuer = 'https://issuer.example.com';
  const [discovery, keySet] = openIdDocuments({ issuer, keysUrl, keys });
  expect(discovery).toMatchObject({
    path: '/.well-known/openid-configuration',
    contentType: 'application/json',
  });
  expect(JSON.parse(discovery?.text ?? '')).toEqual({
    issuer,
    jwks_uri: keysUrl,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'ES256', 'ES384', 'ES512'],
  });
  expect(keySet).toMatchObject({
    path: '/openid/v1/jwks',
    contentType: 'application/jwk-set+json',
  });
  const told = (JSON.parse(keySet?.text ?? '') as { keys: JWK[] }).keys;
  expect(told.map(({ kid, alg, use }) => [kid, alg, use])).toEqual(
    keys.map(({ id, algorithm }) => [id, algorithm, 'sig']),
  );
  for (const key of told) {
    expect(Object.keys(key)).not.toContain('d');
    expect(await importJWK(key)).toBeDefined();
  }
});

test.each(['svc/serviceaccount', 'http://issuer.example.com', 'https://'])(
  'an issuer %s has no documents: discovery needs https',
  (issuer) => expect(openIdDocuments({ issuer, keysUrl, keys })).toEqual([]),
);
