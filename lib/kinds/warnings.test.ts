import { expect, test } from '@jest/globals';
import type { JsonObject } from '../api/type-info.ts';
import { kindStrategies } from './built-in-kinds.ts';
import type { WriteContext } from './strategy.ts';
import { profile, scheme } from './testing/shown-cells.ts';

const context: WriteContext = {
  user: { name: 'tester', uid: '', groups: [], extra: {} },
  dryRun: false,
  fieldManager: '',
  subresource: '',
  warnings: [],
  nowMs: 0,
  apiVersion: 'v1',
};
const strategyOf = kindStrategies({ naming: profile, eventTtlSeconds: 1 });

function warningsOf(resource: string, object: JsonObject, old?: JsonObject): readonly string[] {
  const info = scheme.resources.find((one) => one.resource === resource);
  if (info === undefined) throw new Error(`${resource} is not known`);
  return strategyOf(info).warnings?.(object, old, context) ?? [];
}

const volumes = (source: JsonObject): JsonObject => ({ volumes: [{ name: 'v', ...source }] });
const scaleIO = { spec: volumes({ scaleIO: {} }) };
const since = 'spec.volumes[0].scaleIO: deprecated in v1.16, non-functional in v1.22+';

test.each<[string, JsonObject, readonly string[]]>([
  ['pods', scaleIO, [since]],
  ['podtemplates', { template: scaleIO }, [`template.${since}`]],
  ['replicationcontrollers', { spec: { template: scaleIO } }, [`spec.template.${since}`]],
  ['deployments', { spec: { template: scaleIO } }, [`spec.template.${since}`]],
  [
    'cronjobs',
    { spec: { jobTemplate: { spec: { template: scaleIO } } } },
    [`spec.jobTemplate.spec.template.${since}`],
  ],
  [
    'pods',
    { spec: volumes({ gitRepo: {} }) },
    ['spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+'],
  ],
  ['pods', { spec: volumes({ emptyDir: {} }) }, []],
])('a new one of %s with %j', (resource, object, expected) => {
  expect(warningsOf(resource, object)).toEqual(expected);
});

const deployment = (generation: number): JsonObject => ({
  metadata: { generation },
  spec: { template: scaleIO },
});

test('an update is warned of when it makes a generation of a template', () => {
  expect(warningsOf('deployments', deployment(2), deployment(1))).toHaveLength(1);
  expect(warningsOf('deployments', deployment(2), deployment(2))).toEqual([]);
  expect(warningsOf('pods', scaleIO, scaleIO)).toEqual([]);
});
