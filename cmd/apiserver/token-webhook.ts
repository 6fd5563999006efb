// The service that is asked about tokens that nothing here knows.
import type { Authenticator } from '../../lib/authn/authenticator.ts';
import { CachedTokens } from '../../lib/authn/token-webhook/cached-tokens.ts';
import { tokenWebhook } from '../../lib/authn/token-webhook/token-webhook.ts';
import type { Target } from '../../lib/client/target.ts';
import type { Base } from './base.ts';
import { openConfigured } from './client-parts.ts';
import { tokenCacheObserver, tokenWebhookObserver } from './authentication-observers.ts';

/**
 * The service of `--authentication-token-webhook-config-file`; undefined without the flag.
 * @throws FlagError for a file that cannot be used.
 */
export async function openTokenWebhook(
  base: Pick<Base, 'calls' | 'flags' | 'started'>,
): Promise<Target | undefined> {
  const { flags, started } = base;
  const kubeconfigFile = flags['authentication-token-webhook-config-file'];
  if (kubeconfigFile === undefined) return undefined;
  const flag = 'authentication-token-webhook-config-file';
  const target = await openConfigured(base, flag, kubeconfigFile);
  started.defer(() => target.close());
  return target;
}

/** What comes last: what leaves the server is what nobody here knows. */
export function reviewedTokens(
  { flags, clock, logger, naming, metrics }: Base,
  target: Target,
  ownAudiences: readonly string[],
): Authenticator {
  const version = flags['authentication-token-webhook-version'];
  const ttlMs = flags['authentication-token-webhook-cache-ttl'];
  return new CachedTokens({
    name: 'token-webhook',
    judge: tokenWebhook({
      target,
      apiVersion: `${naming.resolve('authentication.{v}')}/${version}`,
      ownAudiences,
      clock,
      logger,
      called: tokenWebhookObserver(metrics),
    }),
    ownAudiences,
    goodTtlMs: ttlMs,
    badTtlMs: ttlMs,
    clock,
    observer: tokenCacheObserver(metrics),
  });
}
