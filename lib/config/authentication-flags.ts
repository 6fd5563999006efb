// Flags of how those who ask are known, service accounts aside.
import { optional, required } from './flag.ts';
import { bool, choice, durationMs, headerNames, list, pairs, path, text } from './flag-kinds.ts';
import type { FlagKind } from './flag-kinds.ts';

const identity = 'Authentication';

/** Algorithms of tokens' signatures: of keys that are public. */
export const signingAlgorithms = [
  'RS256',
  'RS384',
  'RS512',
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
] as const;

const algorithms: FlagKind<readonly string[]> = {
  ...list,
  parse: (given) => {
    const names = list.parse(given);
    const known: readonly string[] = signingAlgorithms;
    const other = names.find((name) => !known.includes(name));
    if (other !== undefined) {
      throw new Error(`unsupported signing alg: "${other}"; there are ${known.join(', ')}`);
    }
    return names;
  },
};

const claims: FlagKind<ReadonlyMap<string, string>> = {
  ...pairs,
  parse: (given) => {
    const bare = given.split(',').find((entry) => entry !== '' && !/^[^=]+=/.test(entry));
    if (bare !== undefined) throw new Error(`"${bare}" must be a claim and its value: key=value`);
    return pairs.parse(given);
  },
};

export const authenticationFlags = {
  'client-ca-file': optional(
    identity,
    path,
    'CA bundle for client certificates. Without it the shared CA below the etcd prefix is used.',
  ),
  'token-auth-file': optional(
    identity,
    path,
    'CSV of static bearer tokens: token,user,uid,"group1,group2".',
  ),
  'anonymous-auth': required(
    identity,
    bool,
    'true',
    'Treat requests without credentials as system:anonymous; otherwise they are 401. Not with ' +
      'anonymous in the file of --authentication-config, and off with AlwaysAllow among the modes.',
  ),
  'authentication-config': optional(
    identity,
    path,
    'Issuers of tokens and what their claims mean: an AuthenticationConfiguration in YAML or ' +
      'JSON, followed as it changes. Not with flags --oidc-….',
  ),
  'oidc-issuer-url': optional(
    identity,
    text,
    'https URL of an OpenID provider whose ID tokens are accepted; needs --oidc-client-id.',
  ),
  'oidc-client-id': optional(
    identity,
    text,
    'Client that all tokens of the OpenID provider are issued to.',
  ),
  'oidc-username-claim': required(
    identity,
    text,
    'sub',
    'Claim that is the name of the user. Claims other than email get the URL of the issuer as ' +
      'prefix, unless --oidc-username-prefix says another one.',
  ),
  'oidc-username-prefix': required(
    identity,
    text,
    '',
    'Prefix of user names. Default: the issuer URL and # where the claim is not email; - for none.',
  ),
  'oidc-groups-claim': required(
    identity,
    text,
    '',
    'Claim with the groups of the user, a string or an array of strings.',
  ),
  'oidc-groups-prefix': required(identity, text, '', 'Prefix of the names of groups.'),
  'oidc-required-claim': required(
    identity,
    claims,
    '',
    'Claims that tokens must carry with these values.',
  ),
  'oidc-ca-file': optional(
    identity,
    path,
    'CA bundle for the certificate of the OpenID provider; default: the roots of the host.',
  ),
  'oidc-signing-algs': required(
    identity,
    algorithms,
    'RS256',
    'Algorithms that tokens of the OpenID provider may be signed with.',
  ),
  'enable-bootstrap-token-auth': required(
    identity,
    bool,
    'false',
    'Accept the tokens in Secrets of type bootstrap token in the system namespace.',
  ),
  'requestheader-client-ca-file': optional(
    identity,
    path,
    'CA bundle of front proxies, which name users in headers.',
  ),
  'requestheader-allowed-names': required(
    identity,
    list,
    '',
    'Common names of the certificates of front proxies; empty: any.',
  ),
  'requestheader-username-headers': required(
    identity,
    headerNames,
    '',
    'Headers with the name of a user; the first that has a value counts.',
  ),
  'requestheader-uid-headers': required(
    identity,
    headerNames,
    '',
    'Headers with the uid of a user; the first that has a value counts.',
  ),
  'requestheader-group-headers': required(
    identity,
    headerNames,
    '',
    'Headers with the groups of a user, one a value.',
  ),
  'requestheader-extra-headers-prefix': required(
    identity,
    headerNames,
    '',
    'What the names of headers with further attributes of a user begin with.',
  ),
  'authentication-token-webhook-config-file': optional(
    identity,
    path,
    'Client configuration of the service that is asked about tokens that nothing here knows.',
  ),
  'authentication-token-webhook-cache-ttl': required(
    identity,
    durationMs,
    '2m0s',
    'How long answers of that service are good; 0: it is asked each time.',
  ),
  'authentication-token-webhook-version': required(
    identity,
    choice('v1beta1', 'v1'),
    'v1beta1',
    'Version of the TokenReview that is sent to it, and answered.',
  ),
} as const;
