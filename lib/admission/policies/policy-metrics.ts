// What policies count: each finding, and the time of match conditions.
import type { Metrics } from '../../telemetry/metrics.ts';
import type { AdmissionOperation } from '../plugin.ts';
import type { Matching } from './match-conditions.ts';
import type { ErrorType } from './validate-one.ts';

/** `allow`: an error that the failure policy ignores. */
export type EnforcementAction = 'allow' | 'deny' | 'audit' | 'warn';

export interface CheckLabels {
  readonly action: EnforcementAction;
  readonly errorType: ErrorType;
  readonly policy: string;
  readonly binding: string;
}

export function countCheck({ series }: Metrics, of: CheckLabels, seconds: number): void {
  const labels = [of.action, of.errorType, of.policy, of.binding] as const;
  series.apiserver_validating_admission_policy_check_total.child(...labels).value++;
  series.apiserver_validating_admission_policy_check_duration_seconds
    .child(...labels)
    .observe(seconds);
}

/** One mutation. */
export function countMutation(
  { series }: Metrics,
  of: Omit<CheckLabels, 'action'>,
  seconds: number,
): void {
  const labels = [of.errorType, of.policy, of.binding] as const;
  series.apiserver_mutating_admission_policy_check_total.child(...labels).value++;
  series.apiserver_mutating_admission_policy_check_duration_seconds
    .child(...labels)
    .observe(seconds);
}

export interface ConditionLabels {
  /** What the conditions belong to, and its name. */
  readonly kind: 'policy' | 'webhook';
  readonly name: string;
  readonly operation: AdmissionOperation;
  readonly type: 'admit' | 'validate';
}

export function countConditions(
  { series }: Pick<Metrics, 'series'>,
  of: ConditionLabels,
  { kind, errorCount }: Matching,
  seconds: number,
): void {
  const named = [of.kind, of.name, of.operation] as const;
  // Upstream's dashboards know what is timed of validating webhooks by another name of the phase.
  const timedAs = of.kind === 'webhook' && of.type === 'validate' ? 'validating' : of.type;
  const labels = [...named, timedAs] as const;
  series.apiserver_admission_match_condition_evaluation_seconds.child(...labels).observe(seconds);
  if (errorCount > 0) {
    const errors = series.apiserver_admission_match_condition_evaluation_errors_total;
    errors.child(...labels).value += errorCount;
  }
  if (kind === 'excluded') {
    const exclusions = series.apiserver_admission_match_condition_exclusions_total;
    exclusions.child(...named, of.type).value++;
  }
}
