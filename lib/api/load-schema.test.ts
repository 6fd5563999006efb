// Types from schemas: how each form of a schema is found again in the description of a type.
import { expect, test } from '@jest/globals';
import { loadResourceSchema, loadSchema } from './load-schema.ts';
import { typeOf, sourceOf } from './testing/schema-types.ts';
import type { ValueInfo } from './type-info.ts';
import { elementOf, isAtomicMap, memberOf, typesBelow, valueOf } from './value-info.ts';

const value = (schema: object): ValueInfo => loadSchema(schema, sourceOf('example.com/v1.Thing'));
const text = { type: 'string' };

test.each<[string, object, object]>([
  ['a text', text, { cardinality: 'single', scalar: 'string', nullable: false }],
  ['an integer', { type: 'integer', nullable: true }, { scalar: 'int64', nullable: true }],
  ['a number', { type: 'number' }, { scalar: 'double' }],
  ['a boolean', { type: 'boolean' }, { scalar: 'bool' }],
  [
    'an integer or text',
    { 'x-kubernetes-int-or-string': true },
    { scalar: undefined, message: { special: 'intOrString' } },
  ],
  ['anything', {}, { cardinality: 'single', scalar: undefined, message: undefined }],
  ['a list', { type: 'array', items: text }, { cardinality: 'list', scalar: 'string' }],
  ['a list of anything', { type: 'array' }, { cardinality: 'list', message: undefined }],
  [
    'a keyed list',
    {
      type: 'array',
      items: { type: 'object', properties: { name: text } },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
    { listType: 'map', listMapKeys: ['name'], message: { id: 'example.com/v1.Thing.@items' } },
  ],
  [
    'a map',
    { type: 'object', additionalProperties: text, 'x-kubernetes-map-type': 'atomic' },
    { cardinality: 'map', scalar: 'string', mapType: 'atomic' },
  ],
  ['no fields', { type: 'object' }, { message: { open: { unknownFields: 'drop' }, fields: [] } }],
  [
    'unknown fields too',
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    { message: { open: { unknownFields: 'keep' }, hasTypeMeta: false } },
  ],
  [
    'any other properties',
    { type: 'object', additionalProperties: true },
    { cardinality: 'single', message: { open: { unknownFields: 'keep' } } },
  ],
  [
    'an embedded object',
    { type: 'object', 'x-kubernetes-embedded-resource': true, properties: { spec: text } },
    { message: { hasTypeMeta: true, fields: [{ jsonName: 'metadata' }, { jsonName: 'spec' }] } },
  ],
  [
    'no type, but properties and items',
    { 'x-kubernetes-preserve-unknown-fields': true, properties: { a: text }, items: text },
    {
      cardinality: 'single',
      message: { fields: [{ jsonName: 'a' }] },
      element: { scalar: 'string' },
    },
  ],
])('%s', (_form, schema, expected) => {
  expect(value(schema)).toMatchObject(expected);
});

test('what a schema says beside structure is kept in its words', () => {
  const words = {
    type: 'integer',
    format: 'int32',
    description: 'How many.',
    minimum: 1,
    exclusiveMinimum: true,
    maximum: 9007199254740993n,
    enum: [1, 2],
    default: 1,
  };
  expect(value(words).schema).toEqual({ ...words, required: [], rules: [], ...junctors });
});

const junctors = { allOf: [], anyOf: [], oneOf: [] };

test('absent, null and misshapen words say nothing', () => {
  const schema = { type: 5, default: null, pattern: 1, maxLength: '3', required: 'a', allOf: {} };
  expect(value(schema).schema).toEqual({
    type: '',
    format: '',
    enum: [],
    required: [],
    rules: [],
    ...junctors,
  });
});

test('rules are kept as written', () => {
  const rule = { rule: 'self > 1', message: 'more', fieldPath: '.a', optionalOldSelf: true };
  expect(value({ ...text, 'x-kubernetes-validations': [rule, 'no rule'] }).schema?.rules).toEqual([
    { ...rule, messageExpression: undefined, reason: undefined },
  ]);
});

test('junctors are conditions on the same value', () => {
  const { schema } = value({
    ...text,
    anyOf: [{ pattern: 'a' }, { properties: { b: { minLength: 1 } } }],
    not: { enum: ['x'] },
  });
  expect(schema?.anyOf.map((part) => part.schema?.pattern)).toEqual(['a', undefined]);
  const [, second] = schema?.anyOf ?? [];
  expect(second && memberOf(second, 'b')?.schema?.minLength).toBe(1);
  expect(schema?.not?.schema?.enum).toEqual(['x']);
});

test('a whole resource has kind, apiVersion and metadata; what is said of them is beside', () => {
  const type = typeOf({
    properties: {
      kind: text,
      metadata: { type: 'object', properties: { name: { ...text, maxLength: 5 } } },
      spec: { type: 'object', properties: { a: text }, required: ['a'] },
    },
  });
  expect(type.hasTypeMeta).toBe(true);
  expect(type.fields.map(({ jsonName }) => jsonName)).toEqual(['metadata', 'spec']);
  expect(type.fieldByJsonName.get('metadata')?.message?.open).toBeUndefined();
  expect([...(type.open?.typeMeta?.keys() ?? [])]).toEqual(['kind', 'metadata']);
  const metadata = memberOf(valueOf(type), 'metadata');
  expect(metadata && memberOf(metadata, 'name')?.schema?.maxLength).toBe(5);
  expect(type.fieldByJsonName.get('spec')?.message?.fieldByJsonName.get('a')?.required).toBe(true);
});

test('names that every JavaScript object has are names of fields like others', () => {
  const properties = JSON.parse(
    '{"__proto__": {"type": "string"}, "constructor": {"type": "integer"}}',
  ) as object;
  const { fields } = loadResourceSchema({ properties }, sourceOf('example.com/v1.Thing'));
  expect(fields.map(({ jsonName, scalar }) => [jsonName, scalar]).slice(1)).toEqual([
    ['__proto__', 'string'],
    ['constructor', 'int64'],
  ]);
});

test('elements, members and types below are found alike in built-in kinds', () => {
  const type = typeOf({
    properties: { rows: { type: 'array', items: { type: 'array', items: { type: 'object' } } } },
  });
  const rows = memberOf(valueOf(type), 'rows');
  const row = rows && elementOf(rows);
  expect(row && elementOf(row)?.message?.id).toBe('example.com/v1.Thing.rows.@items.@items');
  expect([...typesBelow(type)]).toContain(row && elementOf(row)?.message);
  const labels = sourceOf('a').objectMeta.fieldByJsonName.get('labels');
  expect(labels && elementOf(labels)).toMatchObject({ cardinality: 'single', scalar: 'string' });
  expect(labels && memberOf(labels, 'any')?.scalar).toBe('string');
  expect(isAtomicMap(value({ type: 'object', 'x-kubernetes-map-type': 'atomic' }))).toBe(true);
  expect(isAtomicMap(value({ type: 'object' }))).toBe(false);
});
