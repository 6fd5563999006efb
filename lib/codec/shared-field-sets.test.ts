import { expect, test } from '@jest/globals';
import { createScheme } from '../api/scheme.ts';
import { noKindRules } from '../api/testing/no-kind-rules.ts';
import type { JsonObject } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { invariant } from '../base/invariant.ts';
import type { ApiObject } from './codec.ts';
import { decodeCanonical, encodeText, jsonCodec } from './json.ts';
import { encodeStored } from './stored-form.ts';

const scheme = createScheme({ rules: noKindRules, profile: namingProfile('kubernetes') });
const deployments = scheme.resource({ group: 'apps', version: 'v1', resource: 'deployments' });
invariant(deployments !== undefined, 'deployments are served');

const entry = (fieldsV1: JsonObject, subresource?: string): JsonObject => ({
  manager: '"fieldsV1":0',
  operation: 'Update',
  apiVersion: 'apps/v1',
  time: '2026-01-02T03:04:05Z',
  fieldsType: 'FieldsV1',
  fieldsV1,
  ...(subresource === undefined ? {} : { subresource }),
});
const spec = { 'f:spec': { 'f:replicas': {}, 'f:paused': {} } };
const status = { 'f:status': { 'f:conditions': { 'k:{"type":"A"}': { '.': {} } } } };
const deployment = (managedFields: JsonObject[], template: JsonObject = {}): ApiObject => ({
  kind: 'Deployment',
  apiVersion: 'apps/v1',
  metadata: { name: 'a', annotations: { x: '"fieldsV1":{}}]' }, managedFields },
  spec: { selector: null, template: { metadata: template }, strategy: {} },
  status: {},
});
const stored = (object: ApiObject): Uint8Array => encodeStored(object, deployments).payload;
const managedOf = (object: ApiObject): JsonObject[] =>
  object.metadata?.managedFields as JsonObject[];

test.each<[string, ApiObject]>([
  ['of several managers', deployment([entry(spec), entry(status, 'status'), entry({})])],
  ['with keys that end like an entry', deployment([entry({ 'f:a': { 'v:"}}]"': {} } })])],
  ['that an object in it has, too', deployment([entry(spec)], { managedFields: [entry(spec)] })],
])('field sets %s are read and written as they are', (_name, object) => {
  const bytes = stored(object);
  expect(Buffer.from(bytes).toString()).toBe(encodeText(object, deployments.type));
  const decoded = decodeCanonical(bytes, deployments.type);
  expect(decoded).toEqual(jsonCodec.decode(bytes, deployments.type).object);
  expect(Buffer.from(stored(decoded)).equals(Buffer.from(bytes))).toBe(true);
});

test('objects with the same field sets share them', () => {
  const bytes = stored(deployment([entry(spec), entry(status, 'status')]));
  const [one, other] = [bytes, bytes].map((json) => decodeCanonical(json, deployments.type));
  invariant(one !== undefined && other !== undefined, 'both are decoded');
  for (const [at, { fieldsV1 }] of managedOf(one).entries()) {
    expect(fieldsV1).toBe(managedOf(other)[at]?.['fieldsV1']);
  }
});
