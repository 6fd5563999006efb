// Tokens are known by their digest: no comparison depends on a secret's bytes, and none is kept but
// the one that a connection shows itself, for as long as it is open: ADR 0062.
import { hash } from 'node:crypto';
import type { ClientConnection, Credentials, ShownToken } from './authenticator.ts';

/** SHA-256 in base64. */
export const digestOf = (token: string): string => hash('sha256', token, 'base64');

/** Of a request's token: made for the first authenticator that asks, and kept for the others. */
export const tokenDigest = (credentials: Credentials, token: string): string =>
  (credentials.tokenDigest ??= digestOf(token));

/** What the connection's last good request has shown, where this one shows the same. */
export function shownAgain(
  connection: ClientConnection | undefined,
  header: string | undefined,
): ShownToken | undefined {
  const shown = connection?.shownToken;
  return shown !== undefined && shown.header === header ? shown : undefined;
}

/**
 * Remembers a token that was accepted for what it was judged by, which is all: who it is, and
 * whether it is good, is asked each time. One whose digest nobody asked for is not remembered.
 */
export function noteShown(
  { token, tokenDigest: digest, connection }: Credentials,
  header: string | undefined,
): void {
  if (connection === undefined || header === undefined) return;
  if (token === undefined || digest === undefined) return;
  if (connection.shownToken?.digest === digest && connection.shownToken.header === header) return;
  connection.shownToken = { header, token, digest };
}
