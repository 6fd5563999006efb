// Who a token says that it is of, before anything of it is verified.

/** What the token says, unverified: good for a look-up and nothing else. */
export function claimedIssuer(token: string): string | undefined {
  const [, payload = ''] = token.split('.');
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    const issuer = (claims as { readonly iss?: unknown } | null)?.iss;
    return typeof issuer === 'string' ? issuer : undefined;
  } catch {
    return undefined;
  }
}
