// Types of kinds, built in or from schemas, as type checks of policies see them.
import { expect, test } from '@jest/globals';
import { noKindRules } from '../../api/testing/no-kind-rules.ts';
import { typeOf } from '../../api/testing/schema-types.ts';
import type { TypeInfo } from '../../api/type-info.ts';
import { createScheme } from '../../api/scheme.ts';
import { typeText } from '../model/cel-type.ts';
import { naming } from '../testing/evaluate.ts';
import { atOnce } from '../../base/steps.ts';
import { typeCheckPolicy } from './type-check.ts';
import type { DeclaredType } from '../schema/declared-type.ts';
import { kindType } from '../schema/value-types.ts';

const scheme = createScheme({ rules: noKindRules, profile: naming });

/** The type at a path; `[]` steps into a list or map. */
function typeAt(kind: TypeInfo, path: string): string | undefined {
  let type: DeclaredType | undefined = kindType(kind);
  for (const part of path.split('.')) {
    type = part === '[]' ? type?.element : type?.fields?.get(part);
  }
  return type && typeText(type.celType);
}

test.each<[string, string, string | undefined]>([
  ['core/v1.Pod', 'apiVersion', 'string'],
  ['core/v1.Pod', 'metadata.name', 'string'],
  ['core/v1.Pod', 'metadata.labels', 'map(string, string)'],
  ['core/v1.Pod', 'metadata.creationTimestamp', 'google.protobuf.Timestamp'],
  ['core/v1.Pod', 'metadata.generation', 'int'],
  ['core/v1.Pod', 'spec.hostNetwork', 'bool'],
  ['core/v1.Pod', 'spec.containers.[].image', 'string'],
  ['core/v1.Pod', 'spec.containers.[].resources.limits', 'map(string, string)'],
  ['core/v1.Pod', 'spec.containers.[].livenessProbe.httpGet.port', 'dyn'],
  ['core/v1.Pod', 'spec.containers.[].missing', undefined],
  ['core/v1.Secret', 'data', 'map(string, bytes)'],
  ['apps/v1.Deployment', 'spec.template.__namespace__', undefined],
  ['apps/v1.Deployment', 'spec.template.metadata.__namespace__', 'string'],
])('%s: %s', (id, path, type) => {
  expect(typeAt(scheme.type(id), path)).toBe(type);
});

const text = { type: 'string' };
const inSchema = typeOf({
  properties: {
    spec: {
      type: 'object',
      properties: {
        port: { 'x-kubernetes-int-or-string': true },
        rows: { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
        loose: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        since: { type: 'string', format: 'date-time' },
        unseen: { 'x-kubernetes-preserve-unknown-fields': true },
        pod: { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: text } },
      },
    },
  },
});

test.each<[string, string | undefined]>([
  ['apiVersion', 'string'],
  ['metadata.name', 'string'],
  ['metadata.labels', undefined],
  ['spec.port', 'dyn'],
  ['spec.rows', 'list(list(int))'],
  ['spec.loose', 'example.com/v1.Thing.spec.loose'],
  ['spec.since', 'google.protobuf.Timestamp'],
  ['spec.unseen', undefined],
  ['spec.pod.metadata.generateName', 'string'],
  ['spec.pod.kind', 'string'],
])('of a type from a schema: %s', (path, type) => {
  expect(typeAt(inSchema, path)).toBe(type);
});

test('types that contain themselves end', () => {
  const kind = scheme.type('apiextensions/v1.CustomResourceDefinition');
  expect(typeAt(kind, 'spec.versions.[].schema.openAPIV3Schema.type')).toBe('string');
  expect(typeAt(kind, 'spec.versions.[].schema.openAPIV3Schema.properties')).toBe(
    'map(string, dyn)',
  );
});

test('policies are checked against them', () => {
  const kind = { group: 'apps', version: 'v1', kind: 'Deployment' };
  const warnings = atOnce(
    typeCheckPolicy({
      naming,
      kinds: [{ ...kind, type: scheme.type('apps/v1.Deployment') }],
      hasParams: false,
      variables: [{ name: 'pods', expression: 'object.spec.template.spec' }],
      expressions: [
        { fieldRef: 'spec.validations[0].expression', expression: 'object.spec.replicas < 5' },
        { fieldRef: 'spec.validations[1].expression', expression: 'object.spec.replicas < "5"' },
        { fieldRef: 'spec.validations[2].expression', expression: 'variables.pods.hostNetwrk' },
      ],
    }),
  );
  expect(warnings.map(({ fieldRef }) => fieldRef)).toEqual([
    'spec.validations[1].expression',
    'spec.validations[2].expression',
  ]);
  expect(warnings[0]?.warning).toMatch(/^apps\/v1, Kind=Deployment: ERROR: <input>:1:22: found no/);
  expect(warnings[1]?.warning).toContain("undefined field 'hostNetwrk'");
});
