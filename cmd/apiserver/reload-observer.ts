// Metrics of configuration files that are followed, and by what replicas are told apart in metrics.
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../../lib/base/clock.ts';
import type { OnReload } from '../../lib/config/followed-source.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';

const sha256Of = (text: string): string =>
  `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** Replicas are told apart by it: `address` is this one's, with its port. */
export const serverIdHash = (address: string): string => sha256Of(`${hostname()}/${address}`);

const reloadSeries = {
  authentication: ({ series }: Metrics) => ({
    total: series.apiserver_authentication_config_controller_automatic_reloads_total,
    times:
      series.apiserver_authentication_config_controller_automatic_reload_last_timestamp_seconds,
    info: series.apiserver_authentication_config_controller_last_config_info,
  }),
  authorization: ({ series }: Metrics) => ({
    total: series.apiserver_authorization_config_controller_automatic_reloads_total,
    times: series.apiserver_authorization_config_controller_automatic_reload_last_timestamp_seconds,
    info: series.apiserver_authorization_config_controller_last_config_info,
  }),
};

/** `text` is in force at the start. */
export function reloadObserver(
  metrics: Metrics,
  of: keyof typeof reloadSeries,
  given: { readonly clock: Clock; readonly address: string; readonly text: string },
): OnReload {
  const { total, times, info } = reloadSeries[of](metrics);
  const id = serverIdHash(given.address);
  const inForce = (text: string): void => {
    info.clear();
    info.child(id, sha256Of(text)).value = 1;
  };
  inForce(given.text);
  return (result) => {
    const status = result === 'failure' ? result : 'success';
    total.child(id, status).value++;
    times.child(id, status).value = given.clock.nowMs() / 1_000;
    if (result !== 'failure') inForce(result.text);
  };
}
