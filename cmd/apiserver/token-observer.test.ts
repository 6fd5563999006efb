import { expect, test } from '@jest/globals';
import type { Item } from '../../lib/cacher/resource-view.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { tokenObserver } from './identity-observers.ts';

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
