import { expect, test } from '@jest/globals';
import { ManualClock } from '../../lib/base/testing/manual-clock.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { configurationObserver, webhookObserver } from './authorization-observers.ts';

test('questions to webhooks and their conditions are counted by name', async () => {
  const metrics = testMetrics();
  const observer = webhookObserver(metrics, 'hook');
  observer.attempted('success', 0.02);
  observer.attempted('timeout', 3);
  observer.failedOpen('timeout');
  observer.conditionsEvaluated('match', 0.002);
  observer.conditionsEvaluated('excluded', 0.002);
  observer.conditionsEvaluated('error', 0.002);
  const { body } = await metrics.text();
  const webhook = 'apiserver_authorization_webhook';
  const condition = 'apiserver_authorization_match_condition';
  for (const line of [
    `${webhook}_evaluations_total{name="hook",result="success"} 1`,
    `${webhook}_evaluations_total{name="hook",result="timeout"} 1`,
    `${webhook}_duration_seconds_sum{name="hook",result="timeout"} 3`,
    `${webhook}_evaluations_fail_open_total{name="hook",result="timeout"} 1`,
    `${condition}_evaluation_seconds_count{name="hook",type="Webhook"} 3`,
    `${condition}_exclusions_total{name="hook",type="Webhook"} 1`,
    `${condition}_evaluation_errors_total{name="hook",type="Webhook"} 1`,
  ]) {
    expect(body).toContain(`${line}\n`);
  }
});

const digestOfTwo = '3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3';

test('changes of the configuration file are counted, and its digest is told', async () => {
  const metrics = testMetrics();
  const clock = new ManualClock();
  const observer = configurationObserver(metrics, { clock, address: '127.0.0.1:6443' });
  observer.inForce('one');
  clock.pass(5_000);
  observer.inForce('two');
  observer.replaced();
  clock.pass(5_000);
  observer.failed();
  const { body } = await metrics.text();
  const controller = 'apiserver_authorization_config_controller';
  const id = 'apiserver_id_hash="sha256:[0-9a-f]{64}"';
  for (const line of [
    `${controller}_automatic_reloads_total{${id},status="success"} 1`,
    `${controller}_automatic_reloads_total{${id},status="failure"} 1`,
    `${controller}_automatic_reload_last_timestamp_seconds{${id},status="success"} 5`,
    `${controller}_automatic_reload_last_timestamp_seconds{${id},status="failure"} 10`,
    `${controller}_last_config_info{${id},hash="sha256:${digestOfTwo}"} 1`,
  ]) {
    expect(body).toMatch(new RegExp(`^${line}$`, 'm'));
  }
  expect(body.match(/_last_config_info\{/g)).toHaveLength(1);
});
