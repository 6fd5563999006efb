import { expect, test } from '@jest/globals';
import { Attempts } from '../telemetry/attempts.ts';
import { testMetrics } from '../telemetry/testing/test-metrics.ts';
import type { Authentication } from './authenticator.ts';
import { authenticationResults, measuredAuthenticator } from './measured.ts';
import { testCredentials } from './testing/credentials.ts';

const user = { name: 'u', uid: '', groups: [], extra: {} };
const { signal } = new AbortController();

test.each<[result: string, answer: Authentication | Error, allowsAnonymous: boolean]>([
  ['success', { outcome: 'accepted', user }, false],
  ['success', { outcome: 'absent' }, true],
  ['failure', { outcome: 'absent' }, false],
  ['error', { outcome: 'rejected', reason: 'no' }, true],
  ['error', new Error('the issuer does not answer'), true],
])('a %s is counted, at once and later: %j', async (result, answer, allowsAnonymous) => {
  const metrics = testMetrics();
  const { authentication_attempts: count, authentication_duration_seconds: seconds } =
    metrics.series;
  const { apiserver_request_filter_duration_seconds: filters } = metrics.series;
  const attempts = new Attempts(
    authenticationResults,
    count,
    seconds,
    filters.child('authentication'),
  );
  const isLate = answer instanceof Error ? [true] : [true, false];
  for (const late of isLate) {
    const inner = {
      name: 'inner',
      authenticate: () => {
        if (answer instanceof Error) return Promise.reject(answer);
        return late ? Promise.resolve(answer) : answer;
      },
    };
    const measured = measuredAuthenticator(inner, attempts, { allowsAnonymous });
    const asked = async () => measured.authenticate(testCredentials(), signal);
    if (answer instanceof Error) await expect(asked()).rejects.toBe(answer);
    else expect(await asked()).toBe(answer);
  }
  const { body } = await metrics.text();
  const times = String(isLate.length);
  expect(body).toContain(`authentication_attempts{result="${result}"} ${times}\n`);
  expect(body).toContain(`authentication_duration_seconds_count{result="${result}"} ${times}\n`);
});
