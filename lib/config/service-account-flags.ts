// Flags of service accounts and their tokens.
import { optional } from './flag.ts';
import { list } from './flag-kinds.ts';

const identity = 'Authentication';

export const serviceAccountFlags = {
  'service-account-issuer': optional(
    identity,
    list,
    'Issuer of service-account tokens, the first one where several are given; default: the ' +
      'URL of this server. Tokens are not issued yet.',
  ),
  'api-audiences': optional(
    identity,
    list,
    'Audiences of tokens that are meant for this server; default: the issuers of its own tokens.',
  ),
} as const;
