// What outgoing calls of the server share.
import { ClientMetrics } from '../../lib/client/client-metrics.ts';
import { ExecPlugins } from '../../lib/client/exec-credentials.ts';
import type { ParseConfig } from '../../lib/client/kubeconfig-files.ts';
import { openTarget } from '../../lib/client/open-target.ts';
import type { ClientParts } from '../../lib/client/open-target.ts';
import { environmentProxies } from '../../lib/client/proxy.ts';
import type { Target } from '../../lib/client/target.ts';
import { readYaml } from '../../lib/codec/yaml-reader.ts';
import type { Clock } from '../../lib/base/clock.ts';
import type { Logger } from '../../lib/base/log.ts';
import type { Flags } from '../../lib/config/flags.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';
import type { Tracing } from '../../lib/telemetry/tracing.ts';
import { fileError } from './file-problem.ts';

/** @throws FlagError that names the flag of the file. */
export const openConfigured = (
  { calls }: { readonly calls: ClientParts },
  flag: keyof Flags,
  kubeconfigFile: string,
): Promise<Target> =>
  openTarget({ kubeconfigFile }, calls).catch((cause: unknown) => {
    throw fileError(flag, kubeconfigFile, cause);
  });

interface Parts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing?: Tracing | undefined;
}

/** Client configuration files are YAML or JSON. What is wrong with one may be a secret. */
export const parseClientConfig: ParseConfig = (text) => {
  try {
    return readYaml(text).value;
  } catch {
    throw new Error('it is not YAML');
  }
};

/**
 * One for all calls: what metrics tell of hosts is bounded by it. Of services that are named by URL
 * alone: no Service of the cluster is looked up.
 */
export const clientParts = ({ clock, logger, metrics, tracing }: Parts): ClientParts => ({
  clock,
  tracing,
  log: logger,
  plugins: new ExecPlugins({ clock, log: logger }),
  proxyFor: environmentProxies(process.env),
  metrics: new ClientMetrics(metrics.series),
  parse: parseClientConfig,
  services: {
    resolve: () => Promise.reject(new Error('services are not looked up for it')),
    places: () => undefined,
  },
});
