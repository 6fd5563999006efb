// Flags of service accounts and their tokens.
import { optional, required } from './flag.ts';
import { bool, durationMs, list, path, text } from './flag-kinds.ts';
import type { FlagKind } from './flag-kinds.ts';

const identity = 'Authentication';

/** The first one signs; each is named once. */
const issuers: FlagKind<readonly string[]> = {
  ...list,
  parse: (given) => {
    const names = list.parse(given);
    if (names.length === 0) throw new Error('must name an issuer');
    for (const [at, name] of names.entries()) {
      if (names.indexOf(name) !== at) throw new Error(`"${name}" is given twice`);
      if (name.includes(':') && !URL.canParse(name)) {
        throw new Error(`"${name}" has a colon and is no URL`);
      }
    }
    return names;
  },
};

const httpsUrl: FlagKind<string> = {
  ...text,
  placeholder: 'url',
  parse: (given) => {
    if (URL.canParse(given) && new URL(given).protocol === 'https:') return given;
    throw new Error('must be a URL that begins with https://');
  },
};

const hourMs = 3_600_000;
const longestMs = 2 ** 32 * 1000;

const tokenDurationMs: FlagKind<number> = {
  ...durationMs,
  parse: (given) => {
    const value = durationMs.parse(given);
    if (value === 0 || (value >= hourMs && value <= longestMs)) return value;
    throw new Error('must be from 1h to 2^32 seconds, or 0');
  },
};

export const serviceAccountFlags = {
  'service-account-issuer': optional(
    identity,
    issuers,
    'Issuer of service-account tokens; tokens of all that are given are accepted, the first one ' +
      'is stated in new ones. Default: the URL of this server.',
  ),
  'service-account-signing-key-file': optional(
    identity,
    path,
    'Private key (PEM; RSA, or ECDSA with P-256, P-384 or P-521) that signs service-account ' +
      'tokens. Default: a key that all replicas share through etcd.',
  ),
  'service-account-key-file': optional(
    identity,
    list,
    'Files of keys (PEM, public or private, several in a file) that service-account tokens may ' +
      'be signed with besides the signing key, which always counts. Default: ' +
      '--tls-private-key-file.',
  ),
  'api-audiences': optional(
    identity,
    list,
    'Audiences that this server is; tokens are for them unless they ask for others. Default: ' +
      '--service-account-issuer.',
  ),
  'service-account-max-token-expiration': required(
    identity,
    tokenDurationMs,
    '0s',
    'Longest life of a token that is asked for; who asks for more gets so much. From 1h on; ' +
      '0: as long as is asked for, at most 2^32 seconds.',
  ),
  'service-account-extend-token-expiration': required(
    identity,
    bool,
    'true',
    'Let tokens that pods ask for in the usual way (3607 seconds) be good for a year; their use ' +
      'after the time that was asked for is counted and audited.',
  ),
  'service-account-jwks-uri': optional(
    identity,
    httpsUrl,
    'URL (https) of the keys in the discovery document of the issuer. Default: ' +
      '/openid/v1/jwks of this server.',
  ),
  'service-account-lookup': required(
    identity,
    bool,
    'true',
    'Refuse tokens that lie in Secrets once Secret or account are gone. Others always end with ' +
      'what they are tied to.',
  ),
} as const;
