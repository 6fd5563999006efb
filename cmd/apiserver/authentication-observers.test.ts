import { expect, test } from '@jest/globals';
import type { Item } from '../../lib/cacher/resource-view.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import {
  tokenCacheObserver,
  tokenObserver,
  tokenWebhookObserver,
} from './authentication-observers.ts';

test('uses of service-account tokens are counted by age and by where they lie', async () => {
  const metrics = testMetrics();
  const noted: Item[] = [];
  const observer = tokenObserver(metrics, (secret) => void noted.push(secret));
  const secret = { name: 's' } as Item;
  observer.onAge('valid');
  observer.onAge('stale');
  observer.onUnaddressed();
  for (const use of ['manual', 'generated', 'invalidated'] as const) {
    observer.onLegacyUse(use, secret);
  }
  const { body } = await metrics.text();
  for (const name of [
    'valid_tokens',
    'stale_tokens',
    'legacy_tokens',
    'legacy_manual_token_uses',
    'legacy_auto_token_uses',
    'invalid_legacy_auto_token_uses',
  ]) {
    expect(body).toContain(`\nserviceaccount_${name}_total 1\n`);
  }
  expect(noted).toEqual([secret, secret, secret]);
});

test('tokens that others are asked about are counted', async () => {
  const metrics = testMetrics();
  const cache = tokenCacheObserver(metrics);
  cache.waiting(1);
  cache.waiting(1);
  cache.fetching(1);
  cache.fetched('ok');
  cache.fetched('error');
  cache.looked('miss', performance.now());
  cache.looked('hit', performance.now());
  cache.looked('hit', performance.now());
  cache.waiting(-1);
  const called = tokenWebhookObserver(metrics);
  called('200', 0.3);
  called('<error>', 3);
  called('299', 1);
  const { body } = await metrics.text();
  for (const line of [
    'authentication_token_cache_active_fetch_count{status="blocked"} 1',
    'authentication_token_cache_active_fetch_count{status="in_flight"} 1',
    'authentication_token_cache_fetch_total{status="ok"} 1',
    'authentication_token_cache_fetch_total{status="error"} 1',
    'authentication_token_cache_request_total{status="hit"} 2',
    'authentication_token_cache_request_total{status="miss"} 1',
    'authentication_token_cache_request_duration_seconds_count{status="hit"} 2',
    'apiserver_delegated_authn_request_total{code="200"} 1',
    'apiserver_delegated_authn_request_total{code="<error>"} 1',
    'apiserver_delegated_authn_request_total{code="other"} 1',
    'apiserver_delegated_authn_request_duration_seconds_count{code="200"} 1',
  ]) {
    expect(body).toContain(line);
  }
});
