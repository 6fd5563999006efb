import { expect, test } from '@jest/globals';
import { Attempts } from '../telemetry/attempts.ts';
import { testMetrics } from '../telemetry/testing/test-metrics.ts';
import type { Decision } from './authorizer.ts';
import { authorizationResults, measuredAuthorizer } from './measured.ts';
import { attributesOf } from './testing/attributes.ts';

const { signal } = new AbortController();
const attributes = attributesOf({ path: '/livez' });

test.each<[result: string, effect: Decision['effect']]>([
  ['allowed', 'allow'],
  ['denied', 'deny'],
  ['no-opinion', 'noOpinion'],
])('%s is counted, at once and later', async (result, effect) => {
  const metrics = testMetrics();
  const { authorization_attempts_total: count, authorization_duration_seconds: seconds } =
    metrics.series;
  const { apiserver_request_filter_duration_seconds: filters } = metrics.series;
  const attempts = new Attempts(
    authorizationResults,
    count,
    seconds,
    filters.child('authorization'),
  );
  const decision: Decision = { effect, reason: '' };
  const answers = [() => decision, () => Promise.resolve(decision)];
  for (const authorize of answers) {
    const measured = measuredAuthorizer({ name: 'inner', authorize }, attempts);
    expect(await measured.authorize(attributes, signal)).toBe(decision);
  }
  const failing = { name: 'inner', authorize: () => Promise.reject(new Error('no answer')) };
  const asked = async () => measuredAuthorizer(failing, attempts).authorize(attributes, signal);
  await expect(asked()).rejects.toThrow('no answer');
  const { body } = await metrics.text();
  expect(body).toContain(`authorization_attempts_total{result="${result}"} 2\n`);
  expect(body).toContain(`authorization_duration_seconds_count{result="${result}"} 2\n`);
  expect(body).toContain('authorization_attempts_total{result="error"} 1\n');
  const filter = 'apiserver_request_filter_duration_seconds_count{filter="authorization"}';
  expect(body).toContain(`${filter} 3\n`);
});
