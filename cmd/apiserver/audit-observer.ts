// Counts audit events in the metrics table.
import type { AuditObserver } from '../../lib/audit/backend.ts';
import type { LostEvents } from '../../lib/audit/lost-events.ts';
import { levels } from '../../lib/audit/policy.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';

export function auditObserver({ series }: Metrics, lostEvents: LostEvents): AuditObserver {
  const events = series.apiserver_audit_event_total.child();
  const rejections = series.apiserver_audit_requests_rejected_total.child();
  const requests = new Map(
    levels.map((level) => [level, series.apiserver_audit_level_total.child(level)]),
  );
  return {
    evaluated(level) {
      const child = requests.get(level);
      if (child !== undefined) child.value++;
    },
    recorded() {
      events.value++;
    },
    rejected() {
      rejections.value++;
    },
    lost(plugin, count, reason) {
      series.apiserver_audit_error_total.child(plugin).value += count;
      lostEvents.add(plugin, count, reason);
    },
  };
}
