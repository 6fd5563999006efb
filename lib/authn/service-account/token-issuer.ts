// Makes tokens of service accounts, signed off the event loop: those that TokenRequests ask for,
// and those that lie in Secrets. What they are tied to is the caller's to check.
import { randomUUID } from 'node:crypto';
import { SignJWT } from 'jose';
import type { JWTPayload } from 'jose';
import type { NamingProfile } from '../../api/vendor.ts';
import { boundPayload, legacyPayload } from './claims.ts';
import type { LegacyTokenClaims, NamedObject, TokenBinding } from './claims.ts';
import type { SigningKey } from './keys.ts';

export interface TokenIssuerOptions {
  readonly issuer: string;
  /** `--api-audiences`. */
  readonly audiences: readonly string[];
  /** `--service-account-max-token-expiration`; undefined: as long as is asked for. */
  readonly secondsMax: number | undefined;
  /** `--service-account-extend-token-expiration`. */
  readonly extendsExpiration: boolean;
  readonly key: SigningKey;
  readonly naming: NamingProfile;
}

export interface AskedToken extends TokenBinding {
  readonly namespace: string;
  readonly account: NamedObject;
  /** Not empty. */
  readonly audiences: readonly string[];
  readonly expirationSeconds: number;
  /** Milliseconds since the epoch. */
  readonly nowMs: number;
}

export interface IssuedToken {
  readonly token: string;
  /** `jti`: what audit events call the token. */
  readonly id: string;
  /** After which who asked should use another one. */
  readonly expirationSeconds: number;
}

export interface TokenIssuer {
  /** Whom tokens are for where nobody is named. */
  readonly audiences: readonly string[];
  issue(asked: AskedToken): Promise<IssuedToken>;
  issueLegacy(claims: LegacyTokenClaims): Promise<string>;
}

/** What pods ask for: their tokens may be used for a year, so that old clients go on to work. */
const podTokenSeconds = 3_607;
const extendedSeconds = 365 * 24 * 3_600;

export function tokenIssuer(options: TokenIssuerOptions): TokenIssuer {
  const { audiences, secondsMax = Infinity, naming, issuer } = options;
  const { privateKey, algorithm: alg, id: kid } = options.key;
  const sign = (payload: JWTPayload): Promise<string> =>
    new SignJWT(payload).setProtectedHeader({ alg, kid }).sign(privateKey);
  const own = new Set(audiences);
  return {
    audiences,
    async issue(asked) {
      const expirationSeconds = Math.min(asked.expirationSeconds, secondsMax);
      const isExtended =
        options.extendsExpiration &&
        asked.pod !== undefined &&
        expirationSeconds === podTokenSeconds &&
        asked.audiences.every((audience) => own.has(audience));
      const id = randomUUID();
      const issuedAtSeconds = Math.floor(asked.nowMs / 1000);
      const payload = boundPayload(
        {
          ...asked,
          issuer,
          id,
          issuedAtSeconds,
          expiresAtSeconds: issuedAtSeconds + (isExtended ? extendedSeconds : expirationSeconds),
          warnAfterSeconds: isExtended ? issuedAtSeconds + expirationSeconds : undefined,
        },
        naming,
      );
      return { token: await sign(payload), id, expirationSeconds };
    },
    issueLegacy: (claims) => sign(legacyPayload(claims, naming)),
  };
}
