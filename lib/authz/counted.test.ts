import { expect, test } from '@jest/globals';
import { testMetrics } from '../telemetry/testing/test-metrics.ts';
import type { Decision } from './authorizer.ts';
import { countedAuthorizer } from './counted.ts';
import { attributesOf } from './testing/attributes.ts';

const { signal } = new AbortController();

test('what is allowed and denied is counted, at once and later', async () => {
  const { series, ...metrics } = testMetrics();
  const decisions = series.apiserver_authorization_decisions_total;
  const answers: Decision[] = [
    { effect: 'allow', reason: '' },
    { effect: 'deny', reason: '' },
    { effect: 'noOpinion', reason: '' },
  ];
  for (const decision of answers) {
    for (const answer of [decision, Promise.resolve(decision)]) {
      const inner = { name: 'inner', authorize: () => answer };
      const counted = countedAuthorizer(inner, () => ({
        allowed: decisions.child('allowed', 'a', 'RBAC'),
        denied: decisions.child('denied', 'a', 'RBAC'),
      }));
      expect(await counted.authorize(attributesOf(), signal)).toBe(decision);
    }
  }
  const { body } = await metrics.text();
  for (const decision of ['allowed', 'denied']) {
    const labels = `decision="${decision}",name="a",type="RBAC"`;
    expect(body).toContain(`apiserver_authorization_decisions_total{${labels}} 2\n`);
  }
});
