// Verification of one token by the keys of its issuer. The signature is checked in another thread
// (WebCrypto), by algorithms that the configuration fixes: the token's header chooses among those.
import { errors, jwtVerify } from 'jose';
import type { JWTPayload } from 'jose';
import { limits } from '../../base/limits.ts';
import type { IssuerKeys, KeySet } from './issuer-keys.ts';

export interface TokenRules {
  readonly issuer: string;
  /** One of them is in `aud`. */
  readonly audiences: readonly string[];
  readonly algorithms: readonly string[];
}

export interface VerifiedToken {
  readonly payload: JWTPayload;
  /** Of the keys that verified it. */
  readonly generation: number;
}

/** @throws Error that says why the token is not good; of jose, or of this file. */
export async function verifyToken(
  token: string,
  rules: TokenRules,
  { keys, nowMs }: { readonly keys: IssuerKeys; readonly nowMs: number },
): Promise<VerifiedToken> {
  const { current, generation } = keys;
  if (current === undefined) throw new Error('authenticator not initialized');
  try {
    return { payload: await verifyBy(current, token, rules, nowMs), generation };
  } catch (error) {
    if (!mayBeOfNewKey(error)) throw error;
    await keys.readAfterMiss();
    const { current: newer = current, generation: newerGeneration } = keys;
    if (newerGeneration === generation) throw error;
    return { payload: await verifyBy(newer, token, rules, nowMs), generation: newerGeneration };
  }
}

const mayBeOfNewKey = (error: unknown): boolean =>
  error instanceof errors.JWKSNoMatchingKey ||
  error instanceof errors.JWSSignatureVerificationFailed;

async function verifyBy(
  keySet: KeySet,
  token: string,
  { issuer, audiences, algorithms }: TokenRules,
  nowMs: number,
): Promise<JWTPayload> {
  const options = {
    issuer,
    audience: [...audiences],
    algorithms: [...algorithms],
    requiredClaims: ['exp'],
    currentDate: new Date(nowMs),
    clockTolerance: limits.jwtNotBeforeToleranceSeconds,
  };
  const payload = await verifyWithAny(keySet, token, options);
  // The tolerance is for tokens of a clock that is ahead: what has expired stays expired.
  if ((payload.exp ?? 0) * 1_000 <= nowMs) throw new errors.JWTExpired('token is expired', payload);
  return payload;
}

/** A token that names no key may be of any that its algorithm fits. */
async function verifyWithAny(
  keySet: KeySet,
  token: string,
  options: Parameters<typeof jwtVerify>[2],
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, keySet, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (other) {
        if (!(other instanceof errors.JWSSignatureVerificationFailed)) throw other;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}
