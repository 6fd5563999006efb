// What others need to check tokens of service accounts by themselves: where the keys are (OpenID
// Connect Discovery 1.0), and the keys (RFC 7517).
import type { TokenKey } from './keys.ts';

export interface OpenIdDocument {
  readonly path: string;
  readonly contentType: string;
  readonly text: string;
}

export const keysPath = '/openid/v1/jwks';

/** Empty: the issuer is no https URL, which discovery needs. */
export function openIdDocuments(options: {
  readonly issuer: string;
  /** Where the keys are served; https. */
  readonly keysUrl: string;
  readonly keys: readonly TokenKey[];
}): OpenIdDocument[] {
  const { issuer, keysUrl, keys } = options;
  if (!issuer.startsWith('https://') || !URL.canParse(issuer)) return [];
  const discovery = {
    issuer,
    jwks_uri: keysUrl,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithm }) => algorithm))],
  };
  const keySet = {
    keys: keys.map(({ key, algorithm, id }) => ({
      use: 'sig',
      kid: id,
      alg: algorithm,
      ...key.export({ format: 'jwk' }),
    })),
  };
  return [
    {
      path: '/.well-known/openid-configuration',
      contentType: 'application/json',
      text: JSON.stringify(discovery),
    },
    {
      path: keysPath,
      contentType: 'application/jwk-set+json',
      text: JSON.stringify(keySet),
    },
  ];
}
