import { expect, test } from '@jest/globals';
import { ManualClock } from '../../lib/base/testing/manual-clock.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { reloadObserver } from './reload-observer.ts';

const digests = {
  one: '7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed',
  three: '8b5b9db0c13db24256c829aa364aa90c6d2eba318b9232a4ab9313b954d3555f',
};
const id = 'apiserver_id_hash="sha256:[0-9a-f]{64}"';

test.each(['authentication', 'authorization'] as const)(
  'reloads of the %s configuration are counted by status, and what is in force is shown',
  async (of) => {
    const metrics = testMetrics();
    const clock = new ManualClock();
    const options = { clock, address: '192.0.2.1:6443', text: 'one' };
    const onReload = reloadObserver(metrics, of, options);
    const controller = `apiserver_${of}_config_controller`;
    const shows = async (...lines: readonly string[]): Promise<void> => {
      const { body } = await metrics.text();
      for (const line of lines) expect(body).toMatch(new RegExp(`^${controller}_${line}$`, 'm'));
      expect(body.match(new RegExp(`^${controller}_last_config_info\\{`, 'gm'))).toHaveLength(1);
    };
    const inForce = (digest: string) => `last_config_info{${id},hash="sha256:${digest}"} 1`;
    await shows(inForce(digests.one));
    clock.pass(2_000);
    onReload('failure');
    await shows(inForce(digests.one));
    clock.pass(3_000);
    onReload({ text: 'two' });
    onReload({ text: 'three' });
    await shows(
      inForce(digests.three),
      `automatic_reloads_total{${id},status="failure"} 1`,
      `automatic_reloads_total{${id},status="success"} 2`,
      `automatic_reload_last_timestamp_seconds{${id},status="failure"} 2`,
      `automatic_reload_last_timestamp_seconds{${id},status="success"} 5`,
    );
  },
);
