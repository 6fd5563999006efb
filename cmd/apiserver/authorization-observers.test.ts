import { expect, test } from '@jest/globals';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { webhookObserver } from './authorization-observers.ts';

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
