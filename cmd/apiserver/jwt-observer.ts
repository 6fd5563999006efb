// Carries what becomes of tokens and of issuers' keys into metrics.
import type { JwtIssuer, OnVerified } from '../../lib/authn/jwt/jwt-authenticator.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';
import { serverIdHash } from './reload-observer.ts';

export function verifiedObserver({ series }: Metrics): OnVerified {
  const { apiserver_authentication_jwt_authenticator_latency_seconds: latency } = series;
  return (issuerHash, result, seconds) => latency.child(issuerHash, result).observe(seconds);
}

/** Of the issuers in force alone, read at each scrape. */
export function collectIssuerKeys(
  { series }: Metrics,
  address: string,
  issuers: () => readonly JwtIssuer[],
): void {
  const {
    apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds: times,
    apiserver_authentication_jwt_authenticator_jwks_fetch_last_key_set_info: keySets,
  } = series;
  const id = serverIdHash(address);
  times.collect.add(() => {
    times.clear();
    for (const { hash: issuer, keys } of issuers()) {
      const { succeededAtMs, failedAtMs } = keys.fetches;
      for (const [result, atMs] of [
        ['success', succeededAtMs],
        ['failure', failedAtMs],
      ] as const) {
        if (atMs !== undefined) times.child(id, issuer, result).value = atMs / 1_000;
      }
    }
  });
  keySets.collect.add(() => {
    keySets.clear();
    for (const { hash: issuer, keys } of issuers()) {
      if (keys.fetches.hash !== '') keySets.child(issuer, id, keys.fetches.hash).value = 1;
    }
  });
}
