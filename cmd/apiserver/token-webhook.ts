// The service that is asked about tokens that nothing here knows.
import type { Authenticator } from '../../lib/authn/authenticator.ts';
import { CachedTokens } from '../../lib/authn/token-webhook/cached-tokens.ts';
import { tokenWebhook } from '../../lib/authn/token-webhook/token-webhook.ts';
import { openTarget } from '../../lib/client/open-target.ts';
import { SettingsError } from '../../lib/client/target-settings.ts';
import type { Target } from '../../lib/client/target.ts';
import type { Base } from './base.ts';
import { clientParts } from './client-parts.ts';
import { fileError } from './file-problem.ts';
import { tokenCacheObserver, tokenWebhookObserver } from './authentication-observers.ts';

/**
 * The service of `--authentication-token-webhook-config-file`; undefined without the flag.
 * @throws FlagError for a file that cannot be used.
 */
export async function openTokenWebhook(
  base: Pick<Base, 'flags' | 'clock' | 'logger' | 'metrics' | 'started'>,
): Promise<Target | undefined> {
  const { flags, started } = base;
  const kubeconfigFile = flags['authentication-token-webhook-config-file'];
  if (kubeconfigFile === undefined) return undefined;
  const target = await openTarget({ kubeconfigFile }, clientParts(base)).catch((cause: unknown) => {
    if (!(cause instanceof SettingsError)) throw cause;
    throw fileError('authentication-token-webhook-config-file', kubeconfigFile, cause);
  });
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
