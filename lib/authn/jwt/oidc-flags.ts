// The flags of OpenID Connect as one authenticator of the configuration file: there is one
// implementation (specification 3, OpenID Connect flags).
import type { Flags } from '../../config/flags.ts';
import type { JwtConfiguration } from './configuration.ts';

export type OidcFlags = Pick<
  Flags,
  | 'oidc-issuer-url'
  | 'oidc-client-id'
  | 'oidc-username-claim'
  | 'oidc-username-prefix'
  | 'oidc-groups-claim'
  | 'oidc-groups-prefix'
  | 'oidc-required-claim'
>;

/** @param ca PEM of `--oidc-ca-file`; '' without the flag */
export function oidcConfiguration(flags: OidcFlags, ca: string): JwtConfiguration {
  const url = flags['oidc-issuer-url'] ?? '';
  const groupsClaim = flags['oidc-groups-claim'];
  return {
    issuer: {
      url,
      discoveryURL: '',
      certificateAuthority: ca,
      audiences: [flags['oidc-client-id'] ?? ''],
      audienceMatchPolicy: '',
      egressSelectorType: '',
    },
    claimValidationRules: [...flags['oidc-required-claim']].map(([claim, requiredValue]) => ({
      claim,
      requiredValue,
      expression: '',
      message: '',
    })),
    claimMappings: {
      username: {
        claim: flags['oidc-username-claim'],
        prefix: usernamePrefix(flags, url),
        expression: '',
      },
      groups:
        groupsClaim === ''
          ? { claim: '', prefix: undefined, expression: '' }
          : { claim: groupsClaim, prefix: flags['oidc-groups-prefix'], expression: '' },
      uid: { claim: '', expression: '' },
      extra: [],
    },
    userValidationRules: [],
  };
}

/** Names of different issuers stay apart unless `-` says otherwise; addresses are their own. */
function usernamePrefix(flags: OidcFlags, url: string): string {
  const prefix = flags['oidc-username-prefix'];
  if (prefix === '-') return '';
  if (prefix !== '') return prefix;
  return flags['oidc-username-claim'] === 'email' ? '' : `${url}#`;
}
