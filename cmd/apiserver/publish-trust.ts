// Tells the API servers behind this one whom it believes, as long as it runs.
import type { NamingProfile } from '../../lib/api/vendor.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/log.ts';
import { serverUser } from '../../lib/base/user.ts';
import type { Flags } from '../../lib/config/flags.ts';
import { AuthenticationTrust } from '../../lib/controllers/authentication-trust.ts';
import type { FrontProxyTrust } from '../../lib/controllers/authentication-trust.ts';
import type { QueueObserver } from '../../lib/controllers/controller.ts';
import { internalClient } from '../../lib/registry/internal-client.ts';
import type { ResourceMapHolder } from '../../lib/registry/resource-map.ts';
import type { TrustedCertificates } from './trusted-certificates.ts';

export interface PublishTrustOptions {
  readonly flags: Flags;
  readonly trusted: TrustedCertificates;
  readonly resources: ResourceMapHolder;
  readonly naming: NamingProfile;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: QueueObserver;
}

/** Every replica does; the returned function resolves when nothing of it runs any more. */
export function publishTrust(options: PublishTrustOptions): () => Promise<void> {
  const { flags, trusted, resources, logger: log } = options;
  const configMaps = resources.current.find({ group: '', version: 'v1', resource: 'configmaps' });
  if (configMaps === undefined) return () => Promise.resolve();
  const own = () => ({
    clientCa: trusted.clients.current.pem,
    frontProxy: frontProxyTrust(flags, trusted),
  });
  const client = internalClient(serverUser);
  const trust = new AuthenticationTrust({ ...options, configMaps, own, client, log });
  trusted.clients.onChange(() => trust.changed());
  trusted.frontProxies?.onChange(() => trust.changed());
  const leaving = new AbortController();
  const running = trust.run(leaving.signal).catch((error: unknown) => {
    log.error('what this server believes is not published any more', { error });
  });
  return async () => {
    leaving.abort(new Error('the server stops'));
    await running;
  };
}

const frontProxyTrust = (
  flags: Flags,
  { frontProxies }: TrustedCertificates,
): FrontProxyTrust | undefined =>
  frontProxies && {
    ca: frontProxies.current.pem,
    allowedNames: flags['requestheader-allowed-names'],
    usernameHeaders: flags['requestheader-username-headers'],
    uidHeaders: flags['requestheader-uid-headers'],
    groupHeaders: flags['requestheader-group-headers'],
    extraPrefixes: flags['requestheader-extra-headers-prefix'],
  };
