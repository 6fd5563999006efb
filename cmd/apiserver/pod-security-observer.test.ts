import { expect, test } from '@jest/globals';
import type { AdmissionRequest } from '../../lib/admission/plugin.ts';
import { latest } from '../../lib/admission/pod-security/policy.ts';
import { resourceNamed } from '../../lib/registry/testing/rule-script.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { podSecurityObserver } from './observers.ts';

const requestFor = (name: string, subresource = ''): AdmissionRequest => {
  const of = { operation: 'UPDATE', resource: resourceNamed(name), subresource };
  return of as unknown as AdmissionRequest; // What the observer looks at.
};

test('evaluations are counted by what was asked for and said', async () => {
  const metrics = testMetrics();
  const observer = podSecurityObserver(metrics);
  const pod = requestFor('pods', 'resize');
  const counted = async (labels: string): Promise<number> => {
    const { body } = await metrics.text();
    const line = `pod_security_evaluations_total{${labels}} `;
    return Number(body.split(line)[1]?.split('\n')[0]);
  };
  const asked = 'request_operation="update",resource="pod",subresource="resize"';
  for (const [level, version, shown] of [
    ['baseline', 20, 'v1.20'],
    ['baseline', 36, 'v1.36'],
    ['baseline', 37, 'future'],
    ['restricted', latest, 'latest'],
    ['privileged', 20, 'latest'],
  ] as const) {
    observer.onEvaluation(pod, 'enforce', { level, version }, 'deny');
    const policy = `policy_level="${level}",policy_version="${shown}"`;
    expect(await counted(`decision="deny",mode="enforce",${policy},${asked}`)).toBe(1);
  }
});

test('writes that are exempt, and labels that say nothing, are counted', async () => {
  const metrics = testMetrics();
  const observer = podSecurityObserver(metrics);
  observer.onExemption(requestFor('apps/deployments'));
  observer.onError(requestFor('pods'), false);
  observer.onError(requestFor('namespaces'), true);
  const { body } = await metrics.text();
  const labels = (resource: string): string =>
    `request_operation="update",resource="${resource}",subresource=""`;
  expect(body).toContain(`pod_security_exemptions_total{${labels('controller')}} 1\n`);
  expect(body).toContain(`pod_security_errors_total{fatal="false",${labels('pod')}} 1\n`);
  expect(body).toContain(`pod_security_errors_total{fatal="true",${labels('namespace')}} 1\n`);
});
