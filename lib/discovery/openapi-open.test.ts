// Types from schemas in the documents of OpenAPI, beside the built-in ones.
import { describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { widgetResource } from '../codec/testing/sample-types.ts';
import { typeOf } from '../api/testing/schema-types.ts';
import type { ResourceInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { openApiBytes } from './testing/open-api-bytes.ts';
import type { OpenApiBytes } from './testing/open-api-bytes.ts';

type Value = Record<string, unknown>;

const scheme = builtInScheme({ profile: namingProfile('kubernetes') });

/** The documents of a server that has things, of the schema, and nothing else. */
function openApiOf(schema: object): OpenApiBytes {
  const kind = { group: 'example.com', version: 'v1', kind: 'Thing' };
  const resource: ResourceInfo = {
    ...widgetResource,
    resource: 'things',
    kind,
    listKind: 'ThingList',
    type: typeOf(schema),
  };
  const groups = [{ group: kind.group, versions: [{ version: 'v1', resources: [resource] }] }];
  return openApiBytes({
    scheme,
    groups: () => groups,
    media: { objects: ['application/json'], streams: [], patches: ['application/json-patch+json'] },
    listsValues: true,
    serverVersion: 'v1.36.0',
    answersDeletedObject: () => false,
  });
}

const path = 'apis/example.com/v1';
const parse = (bytes: Uint8Array | undefined): Value =>
  JSON.parse(Buffer.from(bytes ?? []).toString()) as Value;
const inside = (value: unknown, ...steps: string[]): unknown =>
  steps.reduce<unknown>((at, step) => (at as Value | undefined)?.[step], value);

async function shown(schema: object): Promise<{ readonly v2: Value; readonly v3: Value }> {
  const openApi = openApiOf(schema);
  const v3 = parse((await openApi.part(path, 'json'))?.bytes);
  const v2 = parse((await openApi.whole('json')).bytes);
  return {
    v2: inside(v2, 'definitions', 'com.example.v1.Thing') as Value,
    v3: inside(v3, 'components', 'schemas', 'com.example.v1.Thing') as Value,
  };
}

/** How the member `a` of a thing is shown, given its schema. */
async function member(schema: object): Promise<{ readonly v2: unknown; readonly v3: unknown }> {
  const { v2, v3 } = await shown({ properties: { a: schema } });
  return { v2: inside(v2, 'properties', 'a'), v3: inside(v3, 'properties', 'a') };
}

const text = { type: 'string' };
const inner = { type: 'object', required: ['b'], properties: { b: text } };

test('the type of a resource is named by its kind; its metadata is that of all', async () => {
  const { v3 } = await shown({
    description: 'A thing.',
    properties: {
      kind: { ...text, maxLength: 5 },
      metadata: { type: 'object', properties: { name: { ...text, maxLength: 5 } } },
      spec: inner,
    },
  });
  expect(v3).toMatchObject({
    description: 'A thing.',
    type: 'object',
    'x-kubernetes-group-version-kind': [{ group: 'example.com', version: 'v1', kind: 'Thing' }],
    properties: {
      apiVersion: { type: 'string', description: expect.any(String) },
      kind: { type: 'string', description: expect.any(String) },
      metadata: { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
      spec: inner,
    },
  });
  expect(inside(v3, 'properties', 'kind')).not.toHaveProperty('maxLength');
});

describe('what is declared is shown in both', () => {
  test.each<[object]>([
    [{ ...text, title: 'T', description: 'D', format: 'uuid', minLength: 1, pattern: '^a' }],
    [{ ...text, enum: ['b', 'a'], default: 'a', example: 'b' }],
    [{ type: 'integer', maximum: 5, exclusiveMaximum: true, minimum: 1, multipleOf: 2 }],
    [{ type: 'array', items: { type: 'array', items: inner }, minItems: 1, maxItems: 2 }],
    [{ type: 'object', additionalProperties: inner, 'x-kubernetes-map-type': 'atomic' }],
    [{ ...inner, 'x-kubernetes-map-type': 'atomic' }],
    [{ type: 'object', additionalProperties: true, maxProperties: 3 }],
    [
      {
        type: 'array',
        items: inner,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['b'],
      },
    ],
    [{ ...text, 'x-kubernetes-validations': [{ rule: 'self != "x"', message: 'not x' }] }],
    [{ ...text, externalDocs: { url: 'https://example.com' } }],
  ])('%j', async (schema) => {
    expect(await member(schema)).toEqual({ v2: schema, v3: schema });
  });
});

describe('what clients of 2.0 cannot use is left out there', () => {
  const keeps = { 'x-kubernetes-preserve-unknown-fields': true };
  const either = [{ type: 'integer' }, { type: 'string' }];
  const intOrString = { 'x-kubernetes-int-or-string': true };
  test.each<[string, object, object, object]>([
    [
      'junctors',
      { ...text, anyOf: [{ pattern: 'a' }], not: { enum: ['x'] } },
      text,
      { ...text, anyOf: [{ pattern: 'a' }], not: { enum: ['x'] } },
    ],
    ['null', { ...inner, nullable: true }, { required: ['b'] }, { ...inner, nullable: true }],
    [
      'unknown fields',
      { ...inner, ...keeps },
      { required: ['b'], ...keeps },
      { ...inner, ...keeps },
    ],
    ['items that nobody knows', { type: 'array' }, {}, {}],
    ['two types', intOrString, intOrString, { ...intOrString, anyOf: either }],
    [
      'required members that may be null',
      { ...inner, properties: { b: { ...text, nullable: true } } },
      { type: 'object', properties: { b: {} } },
      { ...inner, properties: { b: { ...text, nullable: true } } },
    ],
  ])('%s', async (_claim, schema, v2, v3) => {
    expect(await member(schema)).toEqual({ v2, v3 });
  });

  test('everything of a resource with unknown fields', async () => {
    const { v2, v3 } = await shown({ ...keeps, properties: { a: text } });
    expect(Object.keys(v2)).toEqual([
      'type',
      'x-kubernetes-group-version-kind',
      'x-kubernetes-selectable-fields',
    ]);
    expect(v3).toMatchObject({ ...keeps, properties: { a: text } });
  });
});

test('embedded objects have kind, apiVersion and metadata', async () => {
  const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true };
  const { v2, v3 } = await member({ ...embedded, properties: { spec: inner } });
  for (const one of [v2, v3]) {
    expect(one).toMatchObject({ ...embedded, required: ['apiVersion', 'kind'] });
    expect(inside(one, 'properties', 'metadata', '$ref')).toMatch(/ObjectMeta$/);
    expect(inside(one, 'properties', 'spec')).toEqual(inner);
  }
});

const everything = {
  properties: {
    list: { type: 'array', items: inner, default: [], minItems: 1 },
    map: { type: 'object', additionalProperties: { type: 'integer', maximum: 2n ** 60n } },
    any: { type: 'object', additionalProperties: true, nullable: true, maxProperties: 3 },
    text: {
      ...text,
      not: { enum: ['x'] },
      anyOf: [{ maxLength: 3 }, { minLength: 9 }],
      example: ['a'],
      externalDocs: { description: 'd', url: 'https://example.com' },
    },
    number: { type: 'number', minimum: 0.5, exclusiveMinimum: true, multipleOf: 0.5 },
  },
};

test('documents are valid, and integers beyond doubles are exact', async () => {
  const openApi = openApiOf(everything);
  const [part, whole] = [await openApi.part(path, 'json'), await openApi.whole('json')];
  const validator = new Validator();
  for (const document of [part, whole]) {
    const result = await validator.validate(parse(document?.bytes));
    expect(result.errors ?? []).toEqual([]);
    expect(Buffer.from(document?.bytes ?? []).toString()).toContain('1152921504606846976');
  }
});

test('the Protobuf form has the same words', async () => {
  const openApi = openApiOf(everything);
  const read = (version: string, bytes: Uint8Array | undefined): Value => {
    const file = join(import.meta.dirname, `testdata/openapi-${version}.proto`);
    const { root } = protobuf.parse(readFileSync(file, 'utf8'), { keepCase: true });
    const type = root.lookupType(`${version}.Document`);
    return type.toObject(type.decode(bytes ?? new Uint8Array()), { longs: Number });
  };
  const named = (entries: unknown, name: string): unknown =>
    (entries as { name: string; value: unknown }[]).find((one) => one.name === name)?.value;
  const v3 = read('v3', (await openApi.part(path, 'protobuf'))?.bytes);
  const schemas = inside(v3, 'components', 'schemas', 'additional_properties');
  const thing = inside(named(schemas, 'com.example.v1.Thing'), 'schema');
  const property = (name: string): unknown =>
    inside(named(inside(thing, 'properties', 'additional_properties'), name), 'schema');
  expect(property('list')).toMatchObject({ type: 'array', min_items: 1 });
  expect(property('any')).toMatchObject({
    nullable: true,
    max_properties: 3,
    additional_properties: { boolean: true },
  });
  expect(property('text')).toMatchObject({
    any_of: [{ schema: { max_length: 3 } }, { schema: { min_length: 9 } }],
    not: { enum: [{ yaml: '"x"\n' }] },
    example: { yaml: '["a"]\n' },
    external_docs: { description: 'd', url: 'https://example.com' },
  });
  expect(property('number')).toMatchObject({
    minimum: 0.5,
    exclusive_minimum: true,
    multiple_of: 0.5,
  });
  const v2 = read('v2', (await openApi.whole('protobuf')).bytes);
  const definitions = inside(v2, 'definitions', 'additional_properties');
  const list = named(
    inside(named(definitions, 'com.example.v1.Thing'), 'properties', 'additional_properties'),
    'list',
  );
  expect(list).toMatchObject({ min_items: 1, default: { yaml: '[]\n' } });
});
