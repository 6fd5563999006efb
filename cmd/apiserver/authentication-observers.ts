// Carries what is known of users, and of the tokens that others are asked about, into the metrics
// table.
import { STATUS_CODES } from 'node:http';
import type { TokenCacheObserver } from '../../lib/authn/token-webhook/cached-tokens.ts';
import { noAnswerCode } from '../../lib/authn/token-webhook/token-webhook.ts';
import type { TokenWebhookOptions } from '../../lib/authn/token-webhook/token-webhook.ts';
import { authenticationResults } from '../../lib/authn/measured.ts';
import type { AuthenticationResult } from '../../lib/authn/measured.ts';
import type { TokenObserver } from '../../lib/authn/service-account.ts';
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

export function tokenCacheObserver({ series }: Metrics): TokenCacheObserver {
  const count = series.authentication_token_cache_request_total;
  const seconds = series.authentication_token_cache_request_duration_seconds;
  const looks = {
    hit: { count: count.child('hit'), seconds: seconds.child('hit') },
    miss: { count: count.child('miss'), seconds: seconds.child('miss') },
  };
  const fetches = series.authentication_token_cache_fetch_total;
  const ends = { ok: fetches.child('ok'), error: fetches.child('error') };
  const active = series.authentication_token_cache_active_fetch_count;
  const [blocked, inFlight] = [active.child('blocked'), active.child('in_flight')];
  return {
    looked(status, fromMs) {
      looks[status].count.value++;
      looks[status].seconds.observe((performance.now() - fromMs) / 1_000);
    },
    waiting: (change) => void (blocked.value += change),
    fetching: (change) => void (inFlight.value += change),
    fetched(status) {
      ends[status].value++;
    },
  };
}

/** Calls of the token webhook; their codes are statuses of HTTP. */
export function tokenWebhookObserver({ series }: Metrics): TokenWebhookOptions['called'] {
  const count = series.apiserver_delegated_authn_request_total;
  const times = series.apiserver_delegated_authn_request_duration_seconds;
  return (given, seconds) => {
    const code = isCode(given) ? given : 'other';
    count.child(code).value++;
    times.child(code).observe(seconds);
  };
}

/** Whoever answers chooses its status. */
const isCode = (code: string): boolean =>
  code === noAnswerCode || Object.hasOwn(STATUS_CODES, code);
