// Tokens of issuers that flags or the configuration file name, followed as the file changes.
import { ConfigurationFollower } from '../../lib/authn/jwt/follow-configuration.ts';
import { ReloadingJwt } from '../../lib/authn/jwt/reloading-jwt.ts';
import type { Base } from './base.ts';
import { collectIssuerKeys, verifiedObserver } from './jwt-observer.ts';
import { hostAndPort } from './own-address.ts';
import { reloadObserver } from './reload-observer.ts';
import type { SharedState } from './shared-state.ts';

/**
 * undefined: neither flags nor a file name any.
 * @throws FlagError for issuers of the configuration that are not allowed.
 */
export function openIssuers(base: Base, shared: SharedState): ReloadingJwt | undefined {
  const { flags, clock, logger, metrics, authentication, started } = base;
  const { followed, algorithms } = authentication;
  const address = hostAndPort(base.address, flags['secure-port']);
  const context = authentication.contextOf([
    ...new Set([...(flags['service-account-issuer'] ?? []), shared.serviceAccountIssuer]),
  ]);
  const compiled = authentication.compile(context);
  if (followed === undefined && compiled.length === 0) return undefined;
  const jwt = new ReloadingJwt(compiled, algorithms, {
    clock,
    logger,
    metrics: base.calls.metrics,
    ...(base.calls.proxyFor === undefined ? {} : { proxyFor: base.calls.proxyFor }),
    onVerified: verifiedObserver(metrics),
  });
  started.defer(() => jwt.close());
  if (base.gates.isOn('StructuredAuthenticationConfigurationJWKSMetrics')) {
    collectIssuerKeys(metrics, address, () => jwt.issuers);
  }
  if (followed !== undefined) {
    const { text } = followed;
    const onReload = reloadObserver(metrics, 'authentication', { clock, address, text });
    const follower = new ConfigurationFollower(jwt, followed, { clock, logger, context, onReload });
    started.defer(() => follower.close());
  }
  return jwt;
}
