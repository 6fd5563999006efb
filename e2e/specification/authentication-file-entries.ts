// Authentication configuration files of issuers that run: an entry that maps claims, one that maps
// by expressions, one that has what is required alone.

interface Running {
  readonly url: string;
  /** Of its serving certificate, PEM. */
  readonly ca: string;
}

/** An entry of an issuer that runs: its subjects with a prefix. */
export const minimal = ({ url, ca }: Running, prefix: string): object => ({
  issuer: { url, certificateAuthority: ca, audiences: ['client'] },
  claimMappings: { username: { claim: 'sub', prefix } },
});

/** The whole file. */
export const fileOf = (jwt: readonly object[], more: object = {}): string =>
  JSON.stringify({
    ...{ apiVersion: 'apiserver.config.svc.io/v1', kind: 'AuthenticationConfiguration', jwt },
    anonymous: { enabled: true, conditions: [{ path: '/livez' }, { path: '/version' }] },
    ...more,
  });

export const byClaims = ({ url, ca }: Running): object => ({
  issuer: {
    ...{ url, certificateAuthority: ca },
    ...{ audiences: ['client', 'second'], audienceMatchPolicy: 'MatchAny' },
  },
  claimValidationRules: [
    { claim: 'hd', requiredValue: 'a.b' },
    { expression: 'claims.exp - claims.iat <= 86400', message: 'too long' },
  ],
  claimMappings: {
    username: { claim: 'sub', prefix: 'a:' },
    groups: { claim: 'groups', prefix: 'g-' },
    uid: { claim: 'id' },
    extra: [{ key: 'example.com/tenant', valueExpression: 'claims.tenant' }],
  },
  userValidationRules: [
    { expression: "!user.username.startsWith('a:system:')", message: 'no system users' },
    { expression: "user.groups.all(group, group != 'g-root')", message: 'no root' },
  ],
});

export const byExpressions = ({ url, ca }: Running): object => ({
  issuer: {
    url,
    certificateAuthority: ca,
    audiences: ['client'],
  },
  claimValidationRules: [{ expression: 'claims.?email_verified.orValue(true) == true' }],
  claimMappings: {
    username: { expression: 'claims.email' },
    groups: { expression: "claims.roles.split(',')" },
    uid: { expression: 'claims.sub' },
    extra: [{ key: 'example.com/list', valueExpression: "['x', claims.sub]" }],
  },
});
