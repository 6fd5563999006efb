// Tokens of service accounts as one server issues and believes them, for suites.
import type { NamingProfile } from '../../../api/vendor.ts';
import { systemClock } from '../../../base/clock.ts';
import type { Item } from '../../../cacher/resource-view.ts';
import type { Authenticator } from '../../authenticator.ts';
import { serviceAccountAuthenticator } from '../../service-account.ts';
import type { ServiceAccountOptions } from '../../service-account.ts';
import type { SigningKey } from '../keys.ts';
import type { ViewOf } from '../live-object.ts';
import { tokenIssuer } from '../token-issuer.ts';
import type { TokenIssuer, TokenIssuerOptions } from '../token-issuer.ts';
import { newSigningKey } from './test-keys.ts';

export const testIssuerName = 'https://issuer.example.com';
/** One for all replicas of a suite. */
export const testKey: SigningKey = newSigningKey();

export const testIssuer = (
  naming: NamingProfile,
  more: Partial<TokenIssuerOptions> = {},
): TokenIssuer =>
  tokenIssuer({
    issuer: testIssuerName,
    audiences: [testIssuerName],
    secondsMax: undefined,
    extendsExpiration: true,
    key: testKey,
    naming,
    ...more,
  });

export interface TestAccounts {
  readonly authenticator: Authenticator;
  /** `valid`, `stale`, `unaddressed` and uses of Secrets, in order. */
  readonly told: string[];
  /** Secrets of those uses. */
  readonly used: Item[];
}

export function testAccounts(
  naming: NamingProfile,
  viewOf: ViewOf,
  more: Partial<ServiceAccountOptions> = {},
): TestAccounts {
  const told: string[] = [];
  const used: Item[] = [];
  const authenticator = serviceAccountAuthenticator({
    issuers: [testIssuerName],
    audiences: [testIssuerName],
    keys: [testKey],
    looksUp: true,
    viewOf,
    naming,
    clock: systemClock,
    observer: {
      onAge: (age) => void told.push(age),
      onUnaddressed: () => void told.push('unaddressed'),
      onLegacyUse(use, secret) {
        told.push(use);
        used.push(secret);
      },
    },
    ...more,
  });
  return { authenticator, told, used };
}
