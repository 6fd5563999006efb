// Rules about one value: what `self` is in them, for types from schemas and for built-in kinds.
import { describe, expect, test } from '@jest/globals';
import { loadSchema } from '../../api/load-schema.ts';
import { sourceOf, typeOf } from '../../api/testing/schema-types.ts';
import type { ValidationRule, ValueInfo } from '../../api/type-info.ts';
import { memberOf, valueOf } from '../../api/value-info.ts';
import { naming } from '../testing/evaluate.ts';
import { UnsupportedSchemaError, compileSchemaRules } from './schema-rules.ts';

const ruleOf = (rule: string): ValidationRule => ({
  rule,
  message: undefined,
  messageExpression: undefined,
  reason: undefined,
  fieldPath: undefined,
  optionalOldSelf: undefined,
});

/** What a rule about `value` says of `self`: its result, or why there is none. */
function outcome(value: ValueInfo, rule: string, self: unknown): unknown {
  const [compiled] = compileSchemaRules(value, { naming }, [ruleOf(rule)]).rules;
  const result = compiled?.program?.evaluate({ self });
  if (result === undefined) return compiled?.error;
  return result.kind === 'value' ? result.value : result;
}

const schemaValue = (schema: object): ValueInfo => loadSchema(schema, sourceOf('Value'));

test.each<[string, object, string, unknown]>([
  ['sets have no order', { ...listOf('set'), items: text() }, 'self == ["b", "a"]', ['a', 'b']],
  [
    'keyed lists are told apart by keys',
    { ...listOf('map', ['k']), items: { type: 'object', properties: { k: text() } } },
    'self + self == self',
    [{ k: 'a' }, { k: 'b' }],
  ],
  ['bytes', { type: 'string', format: 'byte' }, 'self == b"hi"', 'aGk='],
  ['durations', { type: 'string', format: 'duration' }, 'self > duration("1h")', '2h'],
  [
    'names with dashes',
    { type: 'object', properties: { 'a-b': text() } },
    'self.a__dash__b == "x"',
    { 'a-b': 'x' },
  ],
  ['integers of 64 bits', { type: 'integer' }, 'self == 9007199254740993', 9007199254740993n],
])('%s', (_claim, schema, rule, self) => {
  expect(outcome(schemaValue(schema), rule, self)).toBe(true);
});

function text(): object {
  return { type: 'string' };
}

function listOf(type: string, keys: string[] = []): object {
  return {
    type: 'array',
    'x-kubernetes-list-type': type,
    'x-kubernetes-list-map-keys': keys,
  };
}

describe('whole resources', () => {
  const metadata = { name: 'a', labels: { b: 'c' } };
  test('have a name whatever their schema says, and labels are not for rules', () => {
    const value = valueOf(typeOf({}));
    expect(outcome(value, 'self.metadata.name == "a"', { metadata })).toBe(true);
    expect(outcome(value, 'self.metadata.labels == {}', { metadata })).toMatch(/undefined field/);
  });

  test('that are built in have the fields of their kind', () => {
    const { objectMeta } = sourceOf('Value');
    const value = valueOf(objectMeta);
    expect(outcome(value, 'self.labels.b == "c"', metadata)).toBe(true);
    const creationTimestamp = '2026-01-02T03:04:05Z';
    const rule = 'self.creationTimestamp.getFullYear() == 2026';
    expect(outcome(value, rule, { creationTimestamp })).toBe(true);
    const labels = memberOf(value, 'labels');
    expect(labels && outcome(labels, 'self.all(k, k != "z")', metadata.labels)).toBe(true);
  });
});

test('what no type is named for has no rules', () => {
  const value = schemaValue({ 'x-kubernetes-preserve-unknown-fields': true });
  expect(() => outcome(value, 'true', {})).toThrow(UnsupportedSchemaError);
  expect(() => outcome(value, 'true', {})).toThrow(
    "type: '' x-kubernetes-preserve-unknown-fields: 'true'",
  );
});
