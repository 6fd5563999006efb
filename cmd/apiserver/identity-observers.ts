// Carries what is known of users and of what they may do into the metrics table.
import type { AuditObserver } from '../../lib/audit/backend.ts';
import type { LostEvents } from '../../lib/audit/lost-events.ts';
import { levels } from '../../lib/audit/policy.ts';
import { authenticationResults } from '../../lib/authn/measured.ts';
import type { AuthenticationResult } from '../../lib/authn/measured.ts';
import type { TokenObserver } from '../../lib/authn/service-account.ts';
import { authorizationResults } from '../../lib/authz/measured.ts';
import type { AuthorizationResult } from '../../lib/authz/measured.ts';
import { Attempts } from '../../lib/telemetry/attempts.ts';
import type { User } from '../../lib/base/user.ts';
import type { Item } from '../../lib/cacher/resource-view.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';

export const authenticationAttempts = ({ series }: Metrics): Attempts<AuthenticationResult> =>
  new Attempts(
    authenticationResults,
    series.authentication_attempts,
    series.authentication_duration_seconds,
    series.apiserver_request_filter_duration_seconds.child('authentication'),
  );
export const authorizationAttempts = ({ series }: Metrics): Attempts<AuthorizationResult> =>
  new Attempts(
    authorizationResults,
    series.authorization_attempts_total,
    series.authorization_duration_seconds,
    series.apiserver_request_filter_duration_seconds.child('authorization'),
  );

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

/** How long client certificates are still good when somebody shows one. */
export function certificateObserver({ series }: Metrics): (remainingMs: number) => void {
  const child = series.apiserver_client_certificate_expiration_seconds.child();
  return (remainingMs) => child.observe(remainingMs / 1000);
}

/** Counts uses of service accounts' tokens; `note` is told of the Secrets that they lie in. */
export function tokenObserver({ series }: Metrics, note: (secret: Item) => void): TokenObserver {
  const ages = {
    valid: series.serviceaccount_valid_tokens_total.child(),
    stale: series.serviceaccount_stale_tokens_total.child(),
  };
  const unaddressed = series.serviceaccount_legacy_tokens_total.child();
  const uses = {
    manual: series.serviceaccount_legacy_manual_token_uses_total.child(),
    generated: series.serviceaccount_legacy_auto_token_uses_total.child(),
    invalidated: series.serviceaccount_invalid_legacy_auto_token_uses_total.child(),
  };
  return {
    onAge(age) {
      ages[age].value++;
    },
    onUnaddressed() {
      unaddressed.value++;
    },
    onLegacyUse(use, secret) {
      uses[use].value++;
      note(secret);
    },
  };
}

/** Names that metrics may have: those of others have no bound. */
const countedUsers: ReadonlySet<string> = new Set(['admin', 'client', 'kube_proxy']);

export function userObserver({ series }: Metrics): (user: User) => void {
  const requests = series.authenticated_user_requests;
  const known = new Map([...countedUsers].map((name) => [name, requests.child(name)]));
  const addresses = requests.child('email_id');
  const others = requests.child('other');
  return ({ name }) => {
    const child = known.get(name) ?? (name.includes('@') ? addresses : others);
    child.value++;
  };
}
