// Carries what becomes of tokens, issuers' keys and the authentication configuration into metrics.
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { JwtIssuer, OnVerified } from '../../lib/authn/jwt/jwt-authenticator.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';

const sha256Of = (text: string): string =>
  `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** Replicas are told apart by it: `address` is this one's, with its port. */
const serverIdHash = (address: string): string => sha256Of(`${hostname()}/${address}`);

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

/** `text` is in force at the start. */
export function reloadObserver(
  { series }: Metrics,
  {
    clock,
    address,
    text,
  }: { readonly clock: Clock; readonly address: string; readonly text: string },
): (result: { readonly text: string } | 'failure') => void {
  const {
    apiserver_authentication_config_controller_automatic_reloads_total: total,
    apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds: times,
    apiserver_authentication_config_controller_last_config_info: info,
  } = series;
  const id = serverIdHash(address);
  const inForce = (of: string): void => {
    info.clear();
    info.child(id, sha256Of(of)).value = 1;
  };
  inForce(text);
  return (result) => {
    const status = result === 'failure' ? result : 'success';
    total.child(id, status).value++;
    times.child(id, status).value = clock.nowMs() / 1_000;
    if (result !== 'failure') inForce(result.text);
  };
}
