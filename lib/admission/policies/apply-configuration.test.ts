// Apply configurations of mutating policies, merged by the schema, and what they may not state.
import { describe, expect, test } from '@jest/globals';
import type { JsonObject, TypeInfo } from '../../api/type-info.ts';
import { loadResourceSchema } from '../../api/load-schema.ts';
import { sourceOf } from '../../api/testing/schema-types.ts';
import { canonicalObject } from '../../codec/normalise.ts';
import { resourceOf } from '../testing/asked.ts';
import { writtenBy } from '../testing/written.ts';
import { applyConfiguration } from './apply-configuration.ts';
import { MutationFailure } from './mutation-result.ts';

const deployments = resourceOf('deployments', 'apps').type;
const pods = resourceOf('pods').type;
const services = resourceOf('services').type;
const configMaps = resourceOf('configmaps').type;
const widgets = loadResourceSchema(
  {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        properties: {
          tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
          any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          map: { type: 'object', additionalProperties: { type: 'integer' } },
          whole: {
            type: 'object',
            'x-kubernetes-map-type': 'atomic',
            properties: { a: { type: 'string' } },
          },
          list: { type: 'array', items: { type: 'integer' } },
        },
      },
    },
  },
  sourceOf('Widget'),
);

function merged(type: TypeInfo, object: JsonObject, text: string): unknown {
  const live = canonicalObject(object, type);
  const before = JSON.stringify(live);
  const result = applyConfiguration(live, writtenBy(text, live), type);
  expect(JSON.stringify(live)).toBe(before);
  if (result instanceof MutationFailure) return result.message;
  // Merging twice is merging once.
  expect(applyConfiguration(result, writtenBy(text, live), type)).toBe(result);
  return JSON.parse(JSON.stringify(result));
}

const pod = (spec: JsonObject): JsonObject => ({ spec });
const containers = (...list: JsonObject[]): JsonObject => pod({ containers: list });

describe('m.apply: an Object is merged by the schema', () => {
  test.each<[string, TypeInfo, JsonObject, string, unknown]>([
    [
      'maps by their entries',
      configMaps,
      { data: { a: '1', b: '2' } },
      'Object{data: {"b": "3", "c": "4"}}',
      { data: { a: '1', b: '3', c: '4' } },
    ],
    [
      'structs by their fields',
      deployments,
      { spec: { replicas: 2, paused: true } },
      'Object{spec: Object.spec{replicas: object.spec.replicas + 1}}',
      { spec: { replicas: 3, paused: true } },
    ],
    [
      'keyed lists by their keys, what is new at the end',
      pods,
      containers({ name: 'a', image: 'x' }, { name: 'b', image: 'y' }),
      `Object{spec: Object.spec{containers: [
        Object.spec.containers{name: "b", image: "z"}, Object.spec.containers{name: "c"}]}}`,
      { spec: { containers: [{ name: 'a' }, { name: 'b', image: 'z' }, { name: 'c' }] } },
    ],
    [
      'keys that have a default by that',
      services,
      { spec: { ports: [{ port: 80, protocol: 'TCP' }] } },
      'Object{spec: Object.spec{ports: [Object.spec.ports{port: 80, name: "n"}]}}',
      { spec: { ports: [{ port: 80, protocol: 'TCP', name: 'n' }] } },
    ],
    [
      'sets as a union',
      widgets,
      { spec: { tags: ['a', 'b'] } },
      'Object{spec: Object.spec{tags: ["b", "c"]}}',
      { spec: { tags: ['a', 'b', 'c'] } },
    ],
    [
      'what has no schema by its members, lists in it as a whole',
      widgets,
      { spec: { any: { a: { x: 1 }, l: [1, 2] } } },
      'Object{spec: Object.spec{any: Object.spec.any{a: Object.spec.any.a{y: 2}, l: [3]}}}',
      { spec: { any: { a: { x: 1, y: 2 }, l: [3] } } },
    ],
    [
      'null states nothing',
      deployments,
      { spec: { replicas: 2 } },
      'Object{spec: Object.spec{replicas: null, template: null}}',
      { spec: { replicas: 2 } },
    ],
    [
      'what is empty removes nothing',
      pods,
      containers({ name: 'a' }),
      'Object{metadata: Object.metadata{}, spec: Object.spec{containers: []}}',
      { spec: { containers: [{ name: 'a' }] } },
    ],
    [
      'kind and version are those of the object',
      configMaps,
      { kind: 'ConfigMap', apiVersion: 'v1' },
      'Object{kind: "Secret", apiVersion: "v2", data: {"a": "b"}}',
      { kind: 'ConfigMap', apiVersion: 'v1', data: { a: 'b' } },
    ],
    [
      'optional entries that are absent are not stated',
      configMaps,
      { data: { a: '1' } },
      'Object{?immutable: object[?"immutable"], data: {?"b": object.data[?"a"]}}',
      { data: { a: '1', b: '1' } },
    ],
    [
      'names that are no identifiers are escaped',
      widgets,
      { spec: { any: {} } },
      'Object{spec: Object.spec{any: Object.spec.any{a__dash__b: 1}}}',
      { spec: { any: { 'a-b': 1 } } },
    ],
    [
      'names of prototypes are names',
      configMaps,
      { data: {} },
      'Object{data: {"__proto__": "x", "constructor": "y"}}',
      JSON.parse('{"data":{"__proto__":"x","constructor":"y"}}'),
    ],
  ])('%s', (_claim, type, object, text, wanted) => {
    expect(merged(type, object, text)).toMatchObject(wanted as object);
  });

  test('an object that says the same already is the object', () => {
    const live = canonicalObject({ data: { a: '1' } }, configMaps);
    const text = 'Object{data: {"a": "1"}}';
    expect(applyConfiguration(live, writtenBy(text, live), configMaps)).toBe(live);
  });
});

describe('m.apply-say: what an apply configuration may not state', () => {
  const notTyped = 'error applying patch: failed to convert patch object to typed object: ';
  const whole =
    'error applying patch: invalid ApplyConfiguration: ' +
    'may not mutate atomic arrays, maps or structs: ';
  test.each<[string, TypeInfo, string, string]>([
    [
      'a part with the name of another path',
      deployments,
      'Object{spec: Object.specx{replicas: 1}}',
      'type mismatch: unexpected type name "Object.specx", expected "Object.spec", ' +
        'which matches field name path from root Object type',
    ],
    [
      'a field that is not there',
      deployments,
      'Object{spec: Object.spec{replicasx: 1}}',
      `${notTyped}.spec.replicasx: field not declared in schema`,
    ],
    [
      'fields that are not there, each',
      deployments,
      'Object{a: 1, b: 2}',
      `${notTyped}errors:\n  .a: field not declared in schema\n  .b: field not declared in schema`,
    ],
    [
      'a field of an element that is not there',
      pods,
      'Object{spec: Object.spec{containers: [Object.spec.containers{name: "a", x: 1}]}}',
      `${notTyped}.spec.containers[name="a"].x: field not declared in schema`,
    ],
    [
      'two elements with one key',
      pods,
      `Object{spec: Object.spec{containers: [
        Object.spec.containers{name: "a"}, Object.spec.containers{name: "a"}]}}`,
      `${notTyped}.spec.containers: duplicate entries for key [name="a"]`,
    ],
    [
      'one value twice in a set',
      widgets,
      'Object{spec: Object.spec{tags: ["a", "a"]}}',
      `${notTyped}.spec.tags: duplicate entries for key [="a"]`,
    ],
    [
      'an element without its key',
      pods,
      'Object{spec: Object.spec{containers: [Object.spec.containers{image: "a"}]}}',
      `${notTyped}.spec.containers: an element has none of its keys: name`,
    ],
    [
      'an atomic struct',
      deployments,
      'Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {"l": "v"}}}}',
      `${whole}.spec.selector`,
    ],
    [
      'atomic lists in elements, by their places',
      pods,
      `Object{spec: Object.spec{containers: [Object.spec.containers{name: "a", command: ["x"]},
        Object.spec.containers{name: "b", args: []}]}}`,
      `${whole}.spec.containers[0].command, .spec.containers[1].args`,
    ],
    [
      'atomic maps and lists of schemas',
      widgets,
      'Object{spec: Object.spec{whole: Object.spec.whole{a: "x"}, list: [1]}}',
      `${whole}.spec.whole, .spec.list`,
    ],
    [
      'a value of another type',
      deployments,
      'Object{spec: Object.spec{replicas: "1"}}',
      'error applying patch: Deployment cannot be read: ' +
        'spec.replicas must be an integer of 32 bits, not a string',
    ],
    [
      'what JSON has no form for',
      configMaps,
      'Object{data: {1: "x"}}',
      'error applying patch: map key 1 is of type int, not string',
    ],
    [
      'numbers that JSON does not have',
      widgets,
      'Object{spec: Object.spec{any: Object.spec.any{a: 1.0 / 0.0}}}',
      'error applying patch: the number Infinity cannot be written as JSON',
    ],
    [
      'types',
      widgets,
      'Object{spec: Object.spec{any: Object.spec.any{a: type(1)}}}',
      'error applying patch: a value of type type cannot be written as JSON',
    ],
  ])('%s', (_claim, type, text, wanted) => {
    expect(merged(type, {}, text)).toBe(wanted);
  });
});
