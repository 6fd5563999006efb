// The end of every list of authenticators: a token that none of them knows is bad, and whoever
// sends it is not anonymous (specification 3, States and transitions).
import type { Authentication, Authenticator } from './authenticator.ts';

const absent: Authentication = { outcome: 'absent' };
const rejected: Authentication = { outcome: 'rejected', reason: 'nobody knows the token' };

export const unknownTokenAuthenticator: Authenticator = {
  name: 'unknown-token',
  authenticate: ({ token }) => (token === undefined ? absent : rejected),
};
