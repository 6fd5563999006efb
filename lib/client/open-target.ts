// Opens a target of outgoing calls from its configuration: a client configuration file, which is
// followed, or the `clientConfig` of a webhook, which is opened again when it changes.
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { resolveBySystem } from './addresses.ts';
import type { Resolve } from './addresses.ts';
import type { ClientMetrics } from './client-metrics.ts';
import type { ExecPlugins } from './exec-credentials.ts';
import { HttpsTarget } from './https-target.ts';
import { KubeconfigFollower, readKubeconfig } from './kubeconfig-files.ts';
import type { ParseConfig } from './kubeconfig-files.ts';
import type { ProxyFor } from './proxy.ts';
import { makeSettings } from './target-settings.ts';
import type { SettingsSource, TargetSettings } from './target-settings.ts';
import type { Target } from './target.ts';
import type { Tracing } from '../telemetry/tracing.ts';
import { webhookSettings } from './webhook-config.ts';
import type { ServicesOfCluster, WebhookClientConfig } from './webhook-config.ts';

export type TargetConfig =
  { readonly kubeconfigFile: string } | { readonly webhook: WebhookClientConfig };

/** What all targets of a server share. */
export interface ClientParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: ClientMetrics;
  readonly parse: ParseConfig;
  readonly services: ServicesOfCluster;
  /** undefined: calls are not traced, and tell nobody of the trace that they are made in. */
  readonly tracing?: Tracing | undefined;
  /** Programs that say as whom the server calls. */
  readonly plugins: ExecPlugins;
  /** The proxy of the environment; not given: there is none. */
  readonly proxyFor?: ProxyFor;
  /** Not given: asks the system. */
  readonly resolve?: Resolve;
}

/** @throws SettingsError that names what is wrong with the configuration */
export async function openTarget(config: TargetConfig, parts: ClientParts): Promise<Target> {
  const { clock, log, metrics, parse, resolve = resolveBySystem, services, tracing } = parts;
  const { plugins, proxyFor } = parts;
  if ('webhook' in config) {
    const made = webhookSettings(config.webhook, { resolve, services, proxyFor });
    return new HttpsTarget(made.settings, { clock, resolve: made.resolve, metrics, tracing });
  }
  const { kubeconfigFile } = config;
  const settingsOf = (source: SettingsSource): TargetSettings => {
    const proxy = source.proxy ?? proxyFor?.(source.url);
    return makeSettings(proxy === undefined ? source : { ...source, proxy });
  };
  const { source, digest } = await readKubeconfig(kubeconfigFile, parse);
  const outgoing = { clock, resolve, metrics, plugins, tracing };
  const target = new HttpsTarget(settingsOf(source), outgoing);
  const follower = new KubeconfigFollower(kubeconfigFile, digest, {
    async read() {
      const files = await readKubeconfig(kubeconfigFile, parse);
      return { digest: files.digest, make: () => settingsOf(files.source) };
    },
    clock,
    log,
    use: (changed) => target.renew(changed),
  });
  return {
    call: (call) => target.call(call),
    close() {
      follower.close();
      target.close();
    },
  };
}
