// Opens a target of outgoing calls from the `clientConfig` of a webhook, which is opened anew when
// it changes.
import type { Clock } from '../base/clock.ts';
import { resolveBySystem } from './addresses.ts';
import type { Resolve } from './addresses.ts';
import type { ClientMetrics } from './client-metrics.ts';
import { HttpsTarget } from './https-target.ts';
import type { Target } from './target.ts';
import { webhookSettings } from './webhook-config.ts';
import type { ResolveService, WebhookClientConfig } from './webhook-config.ts';

export interface TargetConfig {
  readonly webhook: WebhookClientConfig;
}

/** What all targets of a server share. */
export interface ClientParts {
  readonly clock: Clock;
  readonly metrics: ClientMetrics;
  readonly resolveService: ResolveService;
  /** Not given: asks the system. */
  readonly resolve?: Resolve;
}

/** @throws SettingsError that names what is wrong with the configuration */
export async function openTarget(config: TargetConfig, parts: ClientParts): Promise<Target> {
  const { clock, metrics, resolve = resolveBySystem, resolveService } = parts;
  const made = webhookSettings(config.webhook, { resolve, resolveService });
  return new HttpsTarget(made.settings, { clock, resolve: made.resolve, metrics });
}
