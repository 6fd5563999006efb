// Documents in Protobuf are read with messages written for the test, and compared with the JSON.
import { expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { namingProfile } from '../api/vendor.ts';
import { v3SchemaOrReference } from './openapi-messages.ts';
import { encodeMessage } from './openapi-protobuf.ts';
import { openApiBytes } from './testing/open-api-bytes.ts';

type Value = Record<string, unknown>;

const scheme = builtInScheme({ profile: namingProfile('kubernetes') });
const openApi = openApiBytes({
  scheme,
  groups: () => scheme.groups,
  media: { objects: ['application/json'], streams: [], patches: ['application/json-patch+json'] },
  listsValues: true,
  serverVersion: 'v1.36.0',
  answersDeletedObject: () => false,
});

function decode(version: 'v2' | 'v3', bytes: Uint8Array): Value {
  const file = join(import.meta.dirname, `testdata/openapi-${version}.proto`);
  const { root } = protobuf.parse(readFileSync(file, 'utf8'), { keepCase: true });
  const type = root.lookupType(`${version}.Document`);
  return type.toObject(type.decode(bytes));
}

const listOf = (value: unknown): Value[] => (value ?? []) as Value[];
const inside = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Value | undefined)?.[key], value);
const byName = (entries: unknown, read: (value: Value) => unknown): Value =>
  Object.fromEntries(
    listOf(entries).map(({ name, value }) => [name as string, read((value ?? {}) as Value)]),
  );
const anyOf = (value: Value): unknown => JSON.parse(value['yaml'] as string);
const given = (entries: [string, unknown][]): Value =>
  Object.fromEntries(entries.filter(([, value]) => value !== undefined));
const optional = (value: unknown, read: (value: unknown) => unknown): unknown =>
  value === undefined ? undefined : read(value);

function v2Schema(of: Value): Value {
  return {
    ...given([
      ['$ref', of['_ref']],
      ['format', of['format']],
      ['description', of['description']],
      ['required', of['required']],
      ['enum', optional(of['enum'], (list) => listOf(list).map(anyOf))],
      ['type', inside(of['type'], 'value', '0')],
      ['items', optional(inside(of['items'], 'schema', '0'), (one) => v2Schema(one as Value))],
      [
        'additionalProperties',
        optional(inside(of['additional_properties'], 'schema'), (one) => v2Schema(one as Value)),
      ],
      [
        'properties',
        optional(inside(of['properties'], 'additional_properties'), (list) =>
          byName(list, v2Schema),
        ),
      ],
    ]),
    ...byName(of['vendor_extension'], anyOf),
  };
}

function v3Schema(of: Value): Value {
  const reference = inside(of['reference'], '_ref');
  if (reference !== undefined) return { $ref: reference };
  const schema = (of['schema'] ?? {}) as Value;
  const schemas = (list: unknown): Value[] => listOf(list).map(v3Schema);
  return {
    ...given([
      ['format', schema['format']],
      ['description', schema['description']],
      ['required', schema['required']],
      ['enum', optional(schema['enum'], (list) => listOf(list).map(anyOf))],
      ['type', schema['type']],
      ['uniqueItems', schema['unique_items']],
      ['allOf', optional(schema['all_of'], schemas)],
      ['oneOf', optional(schema['one_of'], schemas)],
      ['items', optional(schema['items'], (one) => v3Schema(schemaIn(one)))],
      [
        'additionalProperties',
        optional(schema['additional_properties'], (one) =>
          v3Schema(inside(one, 'schema_or_reference') as Value),
        ),
      ],
      [
        'properties',
        optional(schema['properties'], (one) =>
          byName(inside(one, 'additional_properties'), v3Schema),
        ),
      ],
      ['default', optional(schema['default'], (one) => Object.values(one as Value)[0] ?? {})],
    ]),
    ...byName(schema['specification_extension'], anyOf),
  };
}
const schemaIn = (items: unknown): Value => inside(items, 'schema_or_reference', '0') as Value;

test('2.0: definitions are those of the JSON document', async () => {
  const json = JSON.parse(Buffer.from((await openApi.whole('json')).bytes).toString()) as Value;
  const document = decode('v2', (await openApi.whole('protobuf')).bytes);
  const definitions = inside(document, 'definitions', 'additional_properties');
  expect(byName(definitions, v2Schema)).toEqual(json['definitions']);
  expect(document).toMatchObject({
    swagger: '2.0',
    info: json['info'],
    security: [{ additional_properties: [{ name: 'BearerToken' }] }],
  });
  expect(inside(document, 'security_definitions', 'additional_properties', '0')).toMatchObject({
    name: 'BearerToken',
    value: { api_key_security: { type: 'apiKey', name: 'authorization', in: 'header' } },
  });
});

test('2.0: operations are those of the JSON document', async () => {
  const json = JSON.parse(Buffer.from((await openApi.whole('json')).bytes).toString()) as Value;
  const document = decode('v2', (await openApi.whole('protobuf')).bytes);
  const paths = byName(inside(document, 'paths', 'path'), (item) => item);
  expect(Object.keys(paths)).toEqual(Object.keys(json['paths'] as Value));
  const path = '/api/v1/namespaces/{namespace}/configmaps/{name}';
  const patch = inside(paths[path], 'patch') as Value;
  const expected = inside(json['paths'], path, 'patch') as Value;
  expect(patch).toMatchObject({
    operation_id: expected['operationId'],
    tags: expected['tags'],
    consumes: expected['consumes'],
    produces: expected['produces'],
    schemes: ['https'],
  });
  expect(byName(patch['vendor_extension'], anyOf)).toEqual({
    'x-kubernetes-action': 'patch',
    'x-kubernetes-group-version-kind': { group: '', kind: 'ConfigMap', version: 'v1' },
  });
  const references = listOf(patch['parameters']).map((one) =>
    inside(one, 'json_reference', '_ref'),
  );
  expect(references).toContain('#/parameters/fieldManager');
  expect(inside(patch, 'responses', 'response_code', '0')).toMatchObject({
    name: '200',
    value: { response: { description: 'OK' } },
  });
  const own = listOf(inside(paths[path], 'parameters'));
  expect(own.map((one) => inside(one, 'parameter', 'non_body_parameter') as Value)).toContainEqual({
    path_parameter_sub_schema: {
      required: true,
      in: 'path',
      name: 'name',
      type: 'string',
      unique_items: true,
    },
  });
});

test.each(['api/v1', 'apis/apps/v1', 'apis/apiextensions.k8s.io/v1'])(
  '3.0: schemas of %s are those of the JSON document',
  async (path) => {
    const [json, bytes] = [await openApi.part(path, 'json'), await openApi.part(path, 'protobuf')];
    if (json === undefined || bytes === undefined) throw new Error(path);
    expect(bytes.hash).toBe(json.hash);
    const document = decode('v3', bytes.bytes);
    const expected = JSON.parse(Buffer.from(json.bytes).toString()) as Value;
    const schemas = inside(document, 'components', 'schemas', 'additional_properties');
    expect(byName(schemas, v3Schema)).toEqual(
      withoutListDefaults(inside(expected, 'components', 'schemas')),
    );
    const paths = byName(inside(document, 'paths', 'path'), (item) => item);
    expect(Object.keys(paths)).toEqual(Object.keys(expected['paths'] as Value));
    const ids = Object.values(paths).flatMap((item) =>
      Object.values(item as Value).map((one) => inside(one, 'operation_id')),
    );
    expect(ids.filter((id) => typeof id === 'string').length).toBeGreaterThan(10);
  },
);

/** The messages have no place for defaults that are lists or objects with members. */
function withoutListDefaults(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, inner: unknown) =>
    key === 'default' && typeof inner === 'object' && inner !== null && !('description' in inner)
      ? {}
      : inner,
  ) as unknown;
}

test('a member that the tables do not know is a bug', () => {
  expect(() => encodeMessage(v3SchemaOrReference, { unheardOf: 1 })).toThrow(/unheardOf/);
});
