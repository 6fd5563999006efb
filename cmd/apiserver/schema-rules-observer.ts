// Carries what the rules of custom resources cost into metrics.
import type { SchemaRulesObserver } from '../../lib/registry/schema-object-rules.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';

export function schemaRulesObserver({ series }: Metrics): SchemaRulesObserver {
  const compilation = series.apiserver_cel_compilation_duration_seconds.child();
  const evaluation = series.apiserver_cel_evaluation_duration_seconds.child();
  const ratcheting = series.apiextensions_apiserver_validation_ratcheting_seconds.child();
  return {
    compiled: (seconds) => compilation.observe(seconds),
    evaluated: (seconds) => evaluation.observe(seconds),
    ratcheted: (seconds) => ratcheting.observe(seconds),
  };
}
