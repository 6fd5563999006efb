// Defaults of schemas, through the scheme that completes objects of all kinds.
import { describe, expect, test } from '@jest/globals';
import { createScheme } from './scheme.ts';
import { noKindRules } from './testing/no-kind-rules.ts';
import { typeOf } from './testing/schema-types.ts';
import type { JsonObject, JsonValue } from './type-info.ts';
import { namingProfile } from './vendor.ts';

const { defaults } = createScheme({ profile: namingProfile('kubernetes'), rules: noKindRules });

/** What `value` is as the field `a` of an object, given the field's schema. */
function completed(schema: object, value: JsonValue | undefined): JsonValue | undefined {
  const object: JsonObject = value === undefined ? {} : { a: value };
  defaults.apply(object, typeOf({ properties: { a: schema } }));
  return object['a'];
}

const text = { type: 'string', default: 'x' };
const inner = { type: 'object', properties: { b: text, c: { type: 'string' } } };

test.each<[string, object, JsonValue | undefined, JsonValue | undefined]>([
  ['what is absent', text, undefined, 'x'],
  ['null that is no value', text, null, 'x'],
  ['null that is one stays', { ...text, nullable: true }, null, null],
  ['absent and nullable', { ...text, nullable: true }, undefined, 'x'],
  ['zero values stay', text, '', ''],
  ['false, 0 and empty ones', { type: 'boolean', default: true }, false, false],
  ['null as default is none', { type: 'string', default: null }, undefined, undefined],
  ['never into an absent object', inner, undefined, undefined],
  ['into an empty one', inner, {}, { b: 'x' }],
  ['into a default', { ...inner, default: { c: 'y' } }, undefined, { b: 'x', c: 'y' }],
  ['into items', { type: 'array', items: inner }, [{}, { b: 'z' }], [{ b: 'x' }, { b: 'z' }]],
  ['null items', { type: 'array', items: text }, [null, 'y'], ['x', 'y']],
  [
    'null items that are values',
    { type: 'array', items: { ...text, nullable: true } },
    [null],
    [null],
  ],
  ['null items without a default stay', { type: 'array', items: inner }, [null], [null]],
  [
    'into lists in lists',
    { type: 'array', items: { type: 'array', items: text } },
    [[null]],
    [['x']],
  ],
  ['into entries', { type: 'object', additionalProperties: inner }, { k: {} }, { k: { b: 'x' } }],
  ['null entries', { type: 'object', additionalProperties: text }, { k: null }, { k: 'x' }],
  ['values of other types stay', inner, 'text', 'text'],
])('%s', (_claim, schema, value, expected) => {
  expect(completed(schema, value)).toEqual(expected);
});

test('each object has a default of its own', () => {
  const schema = { type: 'object', default: {}, properties: { c: { type: 'string' } } };
  const first = completed(schema, undefined) as JsonObject;
  first['c'] = 'changed';
  expect(completed(schema, undefined)).toEqual({});
});

test('names that every JavaScript object has', () => {
  const properties = JSON.parse(
    '{"__proto__":{"type":"string","default":"x"},"constructor":{"type":"integer","default":1}}',
  ) as object;
  const object: JsonObject = {};
  defaults.apply(object, typeOf({ properties }));
  expect(JSON.stringify(object)).toBe('{"__proto__":"x","constructor":1}');
});

test('kind and metadata of embedded objects', () => {
  const pod = {
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    properties: {
      kind: { type: 'string', default: 'Pod' },
      metadata: { type: 'object', properties: { name: text } },
      spec: inner,
    },
  };
  expect(completed(pod, { metadata: {}, spec: {} })).toEqual({
    kind: 'Pod',
    metadata: { name: 'x' },
    spec: { b: 'x' },
  });
});

describe('fields that metadata has not are dropped from defaults that are used', () => {
  const embeds = (more: object): object => ({
    type: 'object',
    'x-kubernetes-embedded-resource': true,
    ...more,
  });
  test('of a whole resource', () => {
    const pod = embeds({ default: { kind: 'Pod', metadata: { name: 'x', foo: 1 } } });
    const holder = { type: 'object', properties: { pod } };
    expect(completed(holder, {})).toEqual({ pod: { kind: 'Pod', metadata: { name: 'x' } } });
  });
  test('of what holds one', () => {
    const list = { type: 'array', items: embeds({}), default: [{ metadata: { foo: 1 } }] };
    expect(completed({ type: 'object', properties: { list } }, {})).toEqual({
      list: [{ metadata: {} }],
    });
  });
  test('of metadata, and in it', () => {
    const metadata = { type: 'object', default: { foo: 1, name: 'a' } };
    expect(completed(embeds({ properties: { metadata } }), {})).toEqual({
      metadata: { name: 'a' },
    });
    const inside = { type: 'object', properties: { name: text, foo: text } };
    expect(completed(embeds({ properties: { metadata: inside } }), { metadata: {} })).toEqual({
      metadata: { name: 'x' },
    });
  });
});
