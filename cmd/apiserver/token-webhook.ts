// The service that is asked about tokens that nothing here knows.
import type { Authenticator } from '../../lib/authn/authenticator.ts';
import { CachedTokens } from '../../lib/authn/cached-tokens.ts';
import { tokenWebhook } from '../../lib/authn/token-webhook/token-webhook.ts';
import { openTarget } from '../../lib/client/open-target.ts';
import { SettingsError } from '../../lib/client/target-settings.ts';
import { FlagError } from '../../lib/config/flags.ts';
import type { Base } from './base.ts';
import { clientParts } from './client-parts.ts';
import { tokenCacheObserver, tokenWebhookObserver } from './token-observers.ts';

/** The last one: what leaves the server is what nobody here knows. */
export async function openTokenWebhook(
  base: Base,
  ownAudiences: readonly string[],
): Promise<Authenticator[]> {
  const { flags, clock, logger, naming, metrics, started } = base;
  const kubeconfigFile = flags['authentication-token-webhook-config-file'];
  if (kubeconfigFile === undefined) return [];
  const target = await openTarget({ kubeconfigFile }, clientParts(base)).catch((cause: unknown) => {
    if (!(cause instanceof SettingsError)) throw cause;
    const flag = `--authentication-token-webhook-config-file=${kubeconfigFile}`;
    throw new FlagError(`${flag}: ${cause.message}`, { cause });
  });
  started.defer(() => target.close());
  const version = flags['authentication-token-webhook-version'];
  const ttlMs = flags['authentication-token-webhook-cache-ttl'];
  const judge = tokenWebhook({
    target,
    apiVersion: `${naming.resolve('authentication.{v}')}/${version}`,
    ownAudiences,
    clock,
    logger,
    called: tokenWebhookObserver(metrics),
  });
  const ttl = { goodTtlMs: ttlMs, badTtlMs: ttlMs };
  const observer = tokenCacheObserver(metrics);
  return [
    new CachedTokens({ name: 'token-webhook', judge, ownAudiences, ...ttl, clock, observer }),
  ];
}
