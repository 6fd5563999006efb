// Tokens are known by their digest: no comparison depends on a secret's bytes, and none is kept.
import { hash } from 'node:crypto';
import type { Credentials } from './authenticator.ts';

/** SHA-256 in base64. */
export const digestOf = (token: string): string => hash('sha256', token, 'base64');

/** Of a request's token: made for the first authenticator that asks, and kept for the others. */
export const tokenDigest = (credentials: Credentials, token: string): string =>
  (credentials.tokenDigest ??= digestOf(token));
