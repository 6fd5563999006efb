// Carries what is asked of others about tokens into the metrics table.
import { STATUS_CODES } from 'node:http';
import type { TokenCacheObserver } from '../../lib/authn/cached-tokens.ts';
import { noAnswerCode } from '../../lib/authn/token-webhook/token-webhook.ts';
import type { TokenWebhookOptions } from '../../lib/authn/token-webhook/token-webhook.ts';
import type { Metrics } from '../../lib/telemetry/metrics.ts';

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
