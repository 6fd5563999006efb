// Metrics of authorizers.
import type { AuthorizerConfig } from '../../lib/authz/configuration/configuration.ts';
import type { DecisionCounts } from '../../lib/authz/counted.ts';
import { authorizationResults } from '../../lib/authz/measured.ts';
import type { AuthorizationResult } from '../../lib/authz/measured.ts';
import type { WebhookObserver } from '../../lib/authz/webhook/webhook.ts';
import { Attempts } from '../../lib/telemetry/attempts.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';

export const authorizationAttempts = ({ series }: Metrics): Attempts<AuthorizationResult> =>
  new Attempts(
    authorizationResults,
    series.authorization_attempts_total,
    series.authorization_duration_seconds,
    series.apiserver_request_filter_duration_seconds.child('authorization'),
  );

export function decisionCounts(
  { series }: Metrics,
  { type, name }: Pick<AuthorizerConfig, 'type' | 'name'>,
): DecisionCounts {
  const { apiserver_authorization_decisions_total: decisions } = series;
  return {
    allowed: decisions.child('allowed', name, type),
    denied: decisions.child('denied', name, type),
  };
}

export function webhookObserver({ series }: Metrics, name: string): WebhookObserver {
  const type = 'Webhook';
  return {
    attempted(result, seconds) {
      series.apiserver_authorization_webhook_evaluations_total.child(name, result).value++;
      series.apiserver_authorization_webhook_duration_seconds.child(name, result).observe(seconds);
    },
    failedOpen(result) {
      const { apiserver_authorization_webhook_evaluations_fail_open_total: failures } = series;
      failures.child(name, result).value++;
    },
    conditionsEvaluated(outcome, seconds) {
      const {
        apiserver_authorization_match_condition_evaluation_seconds: times,
        apiserver_authorization_match_condition_exclusions_total: exclusions,
        apiserver_authorization_match_condition_evaluation_errors_total: errors,
      } = series;
      times.child(name, type).observe(seconds);
      if (outcome === 'excluded') exclusions.child(name, type).value++;
      if (outcome === 'error') errors.child(name, type).value++;
    },
  };
}
