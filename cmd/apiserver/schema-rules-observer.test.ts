import { expect, test } from '@jest/globals';
import { loadResourceSchema } from '../../lib/api/load-schema.ts';
import { namingProfile } from '../../lib/api/vendor.ts';
import { builtInScheme } from '../../lib/kinds/built-in-kinds.ts';
import type { WriteContext } from '../../lib/kinds/strategy.ts';
import { schemaObjectRules } from '../../lib/registry/schema-object-rules.ts';
import { testMetrics } from '../../lib/telemetry/testing/test-metrics.ts';
import { schemaRulesObserver } from './schema-rules-observer.ts';

const naming = namingProfile('svc');
const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: { a: { type: 'string' } },
      'x-svc-validations': [{ rule: "self.a != 'no'" }],
    },
  },
};

test('rules of custom resources are timed: compiled once, evaluated at each write', async () => {
  const metrics = testMetrics();
  const objectMeta = builtInScheme({ profile: naming }).type('meta/v1.ObjectMeta');
  const source = { id: 'example.com/v1.Gear', objectMeta, profile: naming };
  const observer = schemaRulesObserver(metrics);
  const options = { naming, isOn: () => true, observer };
  const rules = schemaObjectRules({ type: loadResourceSchema(schema, source) }, {}, options);
  const context: WriteContext = {
    user: { name: 'u', uid: '', groups: [], extra: {} },
    ...{ dryRun: false, fieldManager: '', subresource: '', warnings: [], nowMs: 0 },
    apiVersion: 'example.com/v1',
  };
  const object = (a: string) => ({ metadata: { name: 'x' }, spec: { a } });
  await rules.validate(object('1'), undefined, context, []);
  await rules.validate(object('2'), object('1'), context, []);
  const { body } = await metrics.text();
  const countOf = (name: string): string =>
    new RegExp(`^${name}_count (\\d+)$`, 'm').exec(body)?.[1] ?? '';
  expect([
    countOf('apiserver_cel_compilation_duration_seconds'),
    countOf('apiserver_cel_evaluation_duration_seconds'),
    countOf('apiextensions_apiserver_validation_ratcheting_seconds'),
  ]).toEqual(['1', '2', '1']);
});
