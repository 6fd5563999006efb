import { expect, test } from '@jest/globals';
import type { Logger } from '../../lib/base/log.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { resourceNamed } from '../../lib/registry/testing/rule-script.ts';
import { mismatchObserver } from './observers.ts';

test('a difference between the forms of a rule is counted and logged', async () => {
  const lines: unknown[] = [];
  const log = (message: string, fields?: unknown): void => void lines.push([message, fields]);
  const logger: Logger = { debug: log, info: log, warn: log, error: log, with: () => logger };
  const metrics = testMetrics();
  const observe = mismatchObserver(metrics, logger);
  const resource = resourceNamed('scheduling.{v}/podgroups');
  observe(resource, 'how');
  observe(resource, 'how');
  const { body } = await metrics.text();
  expect(body).toContain('apiserver_validation_declarative_validation_mismatch_total 2\n');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toEqual([
    'validation differs',
    { group: 'scheduling.svc.io', version: 'v1alpha2', resource: 'podgroups', difference: 'how' },
  ]);
});
