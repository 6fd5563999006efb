// Flags of how those who ask are known, service accounts aside.
import { optional, required } from './flag.ts';
import { bool, path } from './flag-kinds.ts';

const identity = 'Authentication';

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
    'Treat requests without credentials as system:anonymous; otherwise they are 401.',
  ),
} as const;
