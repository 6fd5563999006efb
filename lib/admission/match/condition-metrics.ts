// How match conditions of webhooks and policies are counted and timed.
import type { Metrics } from '../../telemetry/metrics.ts';
import type { AdmissionOperation } from '../plugin.ts';

/** Whose conditions: its kind, its name, and the phase as the metrics of that kind call it. */
export interface ConditionOwner {
  readonly kind: 'webhook' | 'policy';
  readonly name: string;
  readonly type: 'admit' | 'validate';
}

export interface ConditionMetrics {
  /** One evaluation of all conditions, with the number of those that failed. */
  evaluated(
    owner: ConditionOwner,
    operation: AdmissionOperation,
    ended: { readonly errorCount: number; readonly isExcluded: boolean; readonly seconds: number },
  ): void;
}

export function conditionMetrics({ series }: Pick<Metrics, 'series'>): ConditionMetrics {
  const errors = series.apiserver_admission_match_condition_evaluation_errors_total;
  const times = series.apiserver_admission_match_condition_evaluation_seconds;
  const exclusions = series.apiserver_admission_match_condition_exclusions_total;
  return {
    evaluated({ kind, name, type }, operation, { errorCount, isExcluded, seconds }) {
      // As upstream: of webhooks that validate, only what is left out is told by the phase.
      const timed = kind === 'webhook' && type === 'validate' ? 'validating' : type;
      times.child(kind, name, operation, timed).observe(seconds);
      if (errorCount > 0) errors.child(kind, name, operation, timed).value += errorCount;
      if (isExcluded) exclusions.child(kind, name, operation, type).value++;
    },
  };
}
