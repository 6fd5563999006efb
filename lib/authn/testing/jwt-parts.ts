// What authenticators of tokens are made of in tests: a configuration that lacks nothing but what a
// test is about, and the parts that a server shares.
import { namingProfile } from '../../api/vendor.ts';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/log.ts';
import { ClientMetrics } from '../../client/client-metrics.ts';
import { testMetrics } from '../../telemetry/testing/test-metrics.ts';
import type { Authentication, Authenticator } from '../authenticator.ts';
import type { ClaimMappings, IssuerConfiguration, JwtConfiguration } from '../jwt/configuration.ts';
import type { JwtParts } from '../jwt/jwt-authenticator.ts';
import type { ValidationContext } from '../jwt/validate.ts';
import { testCredentials } from './credentials.ts';
import type { TokenIssuer } from './token-issuer.ts';

export const testContext = (given: Partial<ValidationContext> = {}): ValidationContext => ({
  naming: namingProfile('kubernetes'),
  disallowedIssuers: ['https://accounts.tests'],
  hasEgressSelector: true,
  ...given,
});

interface GivenJwt {
  readonly issuer?: Partial<IssuerConfiguration>;
  readonly claimMappings?: Partial<ClaimMappings>;
  readonly claimValidationRules?: readonly Partial<JwtConfiguration['claimValidationRules'][0]>[];
  readonly userValidationRules?: readonly Partial<JwtConfiguration['userValidationRules'][0]>[];
}

/** A name from `sub` with the prefix `a:`, for the audience `client`. */
export function testJwt({ issuer, claimMappings, ...rules }: GivenJwt = {}): JwtConfiguration {
  const noRule = { claim: '', requiredValue: '', expression: '', message: '' };
  return {
    issuer: {
      url: 'https://issuer.tests',
      discoveryURL: '',
      certificateAuthority: '',
      audiences: ['client'],
      audienceMatchPolicy: '',
      egressSelectorType: '',
      ...issuer,
    },
    claimValidationRules: (rules.claimValidationRules ?? []).map((one) => ({ ...noRule, ...one })),
    claimMappings: {
      username: { claim: 'sub', prefix: 'a:', expression: '' },
      groups: { claim: '', prefix: undefined, expression: '' },
      uid: { claim: '', expression: '' },
      extra: [],
      ...claimMappings,
    },
    userValidationRules: (rules.userValidationRules ?? []).map((one) => ({
      expression: '',
      message: '',
      ...one,
    })),
  };
}

/** As testJwt, of an issuer that runs. */
export const jwtOf = ({ url, ca }: TokenIssuer, given: GivenJwt = {}): JwtConfiguration =>
  testJwt({ ...given, issuer: { url, certificateAuthority: ca, ...given.issuer } });

export const jwtParts = (given: Partial<JwtParts> = {}): JwtParts => ({
  clock: systemClock,
  logger: createLogger('error', () => undefined),
  metrics: new ClientMetrics(testMetrics().series),
  onVerified: () => undefined,
  ...given,
});

export const ask = async (
  authenticator: Authenticator,
  token: string | undefined,
): Promise<Authentication> =>
  authenticator.authenticate(testCredentials({ token }), AbortSignal.timeout(30_000));
