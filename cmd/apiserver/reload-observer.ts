// Metrics of configuration files that are followed, and by what replicas are told apart in metrics.
import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '../../lib/base/clock.ts';
import type { OnReload } from '../../lib/config/followed-file.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';

const sha256Of = (text: string): string =>
  `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** Replicas are told apart by it: `address` is this one's, with its port. */
export const serverIdHash = (address: string): string => sha256Of(`${hostname()}/${address}`);

/** `text` is in force at the start. */
export function reloadObserver(
  { series }: Metrics,
  of: 'authentication' | 'authorization',
  given: { readonly clock: Clock; readonly address: string; readonly text: string },
): OnReload {
  const total = series[`apiserver_${of}_config_controller_automatic_reloads_total`];
  const times = series[`apiserver_${of}_config_controller_automatic_reload_last_timestamp_seconds`];
  const info = series[`apiserver_${of}_config_controller_last_config_info`];
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
