import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { signingAlgorithms } from '../../lib/config/authentication-flags.ts';
import { ReloadingJwt } from '../../lib/authn/jwt/reloading-jwt.ts';
import { compileJwt } from '../../lib/authn/jwt/validate.ts';
import { ask, jwtOf, jwtParts, testContext } from '../../lib/authn/testing/jwt-parts.ts';
import { TokenIssuer, issuerKey } from '../../lib/authn/testing/token-issuer.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { collectIssuerKeys, verifiedObserver } from './jwt-observer.ts';

const hash = 'sha256:[0-9a-f]{64}';
const address = '192.0.2.1:6443';
let issuer: TokenIssuer;

beforeAll(async () => {
  issuer = await TokenIssuer.start([await issuerKey('1')]);
});
afterAll(() => issuer[Symbol.asyncDispose]());

test('the keys of issuers are shown while they are in force', async () => {
  const metrics = testMetrics();
  const parts = jwtParts({ onVerified: verifiedObserver(metrics) });
  const compiled = compileJwt(jwtOf(issuer), testContext());
  const jwt = new ReloadingJwt([compiled], signingAlgorithms, parts);
  collectIssuerKeys(metrics, address, () => jwt.issuers);
  await Promise.all(jwt.issuers.map(({ keys }) => keys.ready));
  const good = await issuer.sign();
  for (const token of [good, good, await issuer.sign({ aud: 'x' })]) await ask(jwt, token);
  const { body } = await metrics.text();
  const of = `jwt_issuer_hash="${jwt.issuers[0]?.hash ?? ''}"`;
  const prefix = 'apiserver_authentication_jwt_authenticator';
  for (const line of [
    `${prefix}_latency_seconds_count\\{${of},result="success"\\} 1`,
    `${prefix}_latency_seconds_count\\{${of},result="failure"\\} 1`,
    `${prefix}_jwks_fetch_last_timestamp_seconds\\{apiserver_id_hash="${hash}",${of},` +
      `result="success"\\} [\\d.]+`,
    `${prefix}_jwks_fetch_last_key_set_info\\{${of},apiserver_id_hash="${hash}",` +
      `hash="${jwt.issuers[0]?.keys.fetches.hash ?? ''}"\\} 1`,
  ]) {
    expect(body).toMatch(new RegExp(`^${line}$`, 'm'));
  }
  await jwt.replace([], AbortSignal.timeout(30_000));
  expect((await metrics.text()).body).not.toMatch(/^apiserver_.*_jwks_fetch_last_\w+\{/m);
});
