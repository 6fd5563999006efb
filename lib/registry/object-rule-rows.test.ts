// What rules of a schema are told of whole objects, and how their failures read.
import { describe, expect, test } from '@jest/globals';
import { typeOf } from '../api/testing/schema-types.ts';
import type { JsonObject } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { fieldErrorMessage } from '../base/status.ts';
import type { WriteContext } from '../kinds/strategy.ts';
import { schemaObjectRules } from './schema-object-rules.ts';

const naming = namingProfile('kubernetes');
const text = { type: 'string' };
const validations = (...rules: readonly (string | object)[]): object => ({
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});

async function failures(schema: object, given: JsonObject, old?: JsonObject): Promise<string[]> {
  const rules = schemaObjectRules({ type: typeOf(schema) }, {}, { naming, isOn: () => true });
  const context: WriteContext = {
    ...{ user: { name: 'u', uid: '', groups: [], extra: {} }, dryRun: false, fieldManager: '' },
    ...{ subresource: '', warnings: [], nowMs: 0, apiVersion: '' },
  };
  const errors = await rules.validate(given, old, context, []);
  return errors.map((error) => `${error.field}: ${fieldErrorMessage(error)}`);
}

const whole = { apiVersion: 'e.com/v1', kind: 'W', metadata: { name: 'n', generateName: 'g' } };

describe('a rule', () => {
  const known =
    'self.apiVersion == "e.com/v1" && self.kind == "W" && self.metadata.name == "n" && ' +
    'self.metadata.generateName == "g"';
  test('of the root sees apiVersion, kind, metadata.name and metadata.generateName', async () => {
    const schema = { type: 'object', properties: {}, ...validations(known, `!(${known})`) };
    expect(await failures(schema, whole)).toEqual([
      `<nil>: Invalid value: failed rule: !(${known})`,
    ]);
  });
  test('of an embedded resource sees them too', async () => {
    const a = {
      ...{ type: 'object', 'x-kubernetes-embedded-resource': true, properties: { b: text } },
      ...validations(known, `!(${known})`),
    };
    const schema = { type: 'object', properties: { a } };
    expect(await failures(schema, { ...whole, a: whole })).toEqual([
      `a: Invalid value: failed rule: !(${known})`,
    ]);
  });
  test('of a node comes before those of its allOf, then those of its children', async () => {
    const schema = {
      type: 'object',
      properties: { a: { ...text, ...validations('self == "child"') } },
      allOf: [{ 'x-kubernetes-validations': [{ rule: 'self.a == "allOf"' }] }],
      ...validations('self.a == "own"'),
    };
    expect(await failures(schema, { a: 'x' })).toEqual([
      '<nil>: Invalid value: failed rule: self.a == "own"',
      '<nil>: Invalid value: failed rule: self.a == "allOf"',
      'a: Invalid value: "x": failed rule: self == "child"',
    ]);
  });
  test('says nothing of null', async () => {
    const a = { ...text, nullable: true, ...validations('false') };
    expect(await failures({ type: 'object', properties: { a } }, { a: null })).toEqual([]);
  });

  const failing = (rule: object): object => ({
    type: 'object',
    properties: { a: { type: 'object', properties: { b: text }, ...validations(rule) } },
  });
  test.each<[string, object, string]>([
    [
      'fails at the node and its fieldPath, by its reason',
      { rule: 'false', fieldPath: '.b', reason: 'FieldValueForbidden', message: 'no' },
      'a.b: Forbidden: no',
    ],
    [
      'is required by its reason',
      { rule: 'false', reason: 'FieldValueRequired', message: 'no' },
      'a: Required value: no',
    ],
    [
      'has the text of its messageExpression before its message',
      { rule: 'false', message: 'no', messageExpression: '"b is " + self.b' },
      'a: Invalid value: b is x',
    ],
    [
      'has its message where the messageExpression fails',
      { rule: 'false', message: 'no', messageExpression: 'self.b.substring(9)' },
      'a: Invalid value: no',
    ],
    [
      'has its message where the messageExpression has several lines',
      { rule: 'false', message: 'no', messageExpression: '"a\\nb"' },
      'a: Invalid value: no',
    ],
    [
      'that goes wrong says so',
      { rule: 'self.b.substring(9) == ""', message: 'no' },
      'a: Invalid value: "object": ',
    ],
  ])('%s', async (_claim, rule, expected) => {
    const [found = ''] = await failures(failing(rule), { a: { b: 'x' } });
    expect(found.slice(0, expected.length)).toBe(expected);
  });

  test('with oldSelf runs only where there is an old value, an optional one always', async () => {
    const schema = failing({ rule: 'self == oldSelf' });
    expect(await failures(schema, { a: { b: 'x' } })).toEqual([]);
    expect(await failures(schema, { a: { b: 'x' } }, { a: { b: 'y' } })).toHaveLength(1);
    const optional = failing({ rule: 'oldSelf.hasValue()', optionalOldSelf: true });
    expect(await failures(optional, { a: { b: 'x' } })).toHaveLength(1);
    expect(await failures(optional, { a: { b: 'x' } }, { a: { b: 'y' } })).toEqual([]);
  });
});
