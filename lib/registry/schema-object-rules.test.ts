// All rules of a kind from a schema, for whole writes: their order, what each write is judged by,
// what may stay as it is stored, and how much is done between two turns.
import { describe, expect, test } from '@jest/globals';
import { typeOf } from '../api/testing/schema-types.ts';
import type { JsonObject } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { fieldErrorMessage } from '../base/status.ts';
import type { FieldError } from '../base/status.ts';
import type { ResourceStrategy, WriteContext } from '../kinds/strategy.ts';
import { schemaObjectRules } from './schema-object-rules.ts';

const naming = namingProfile('kubernetes');
const extension = (name: string): string => `x-kubernetes-${name}`;
const text = { type: 'string' };
const integer = { type: 'integer' };
const withRules = (schema: object, ...rules: (string | object)[]): object => ({
  ...schema,
  [extension('validations')]: rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});
const object = (properties: object, more: object = {}): object => ({
  type: 'object',
  properties,
  ...more,
});

interface Written {
  readonly old?: JsonObject;
  readonly subresource?: string;
  readonly earlier?: readonly FieldError[];
  readonly strategy?: ResourceStrategy;
}

async function judge(schema: object, given: JsonObject, written: Written = {}) {
  const { old, subresource = '', earlier = [], strategy = {} } = written;
  const rules = schemaObjectRules({ type: typeOf(schema) }, strategy, { naming, isOn: () => true });
  const context: WriteContext = {
    ...{ user: { name: 'u', uid: '', groups: [], extra: {} }, dryRun: false, fieldManager: '' },
    ...{ subresource, warnings: [], nowMs: 0, apiVersion: '' },
  };
  const errors = await rules.validate(given, old, context, earlier);
  const lines = errors.map((error) => `${error.field}: ${fieldErrorMessage(error)}`);
  return { lines, warnings: context.warnings };
}

const failures = async (...of: Parameters<typeof judge>): Promise<readonly string[]> =>
  (await judge(...of)).lines;

const unchecked =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was ' +
  'invalid; correct the existing errors to complete validation';

describe('expressions are asked once the structure is right', () => {
  const schema = object({
    spec: withRules(
      object({ a: { ...integer, maximum: 5 }, b: text, l: { type: 'array' } }),
      'false',
    ),
  });
  test.each<[string, JsonObject, readonly string[]]>([
    ['a wrong type', { b: 1 }, ['spec.b: ', unchecked]],
    ['a bound that is passed does not count', { a: 9 }, ['spec.a: ', 'spec: ']],
    ['all is right', {}, ['spec: Invalid value: failed rule: false']],
  ])('%s', async (_claim, spec, beginnings) => {
    const lines = await failures(schema, { spec });
    expect(lines).toHaveLength(beginnings.length);
    for (const [at, line] of lines.entries()) expect(line).toContain(beginnings[at]);
  });

  test.each([
    ['FieldValueRequired', true],
    ['FieldValueTooLong', true],
    ['FieldValueNotSupported', true],
    ['FieldValueTooMany', true],
    ['FieldValueTypeInvalid', true],
    ['FieldValueInvalid', false],
    ['FieldValueForbidden', false],
    ['FieldValueDuplicate', false],
  ] as const)('metadata with a failure %s: %s', async (reason, isUnchecked) => {
    const earlier = [{ reason, field: 'metadata.x', detail: '' }];
    const lines = await failures(schema, { spec: {} }, { earlier });
    expect(lines).toEqual([isUnchecked ? unchecked : 'spec: Invalid value: failed rule: false']);
  });

  test('a schema without expressions does not speak of them', async () => {
    expect(await failures(object({ a: text }), { a: 1 })).toHaveLength(1);
  });

  test('in the order of words, strategy, embedded objects, lists, expressions', async () => {
    const embedded = { type: 'object', [extension('embedded-resource')]: true };
    const schema = object({
      a: { ...integer, maximum: 1 },
      e: { ...embedded, [extension('preserve-unknown-fields')]: true },
      s: { type: 'array', items: text, [extension('list-type')]: 'set' },
      r: withRules(integer, 'self > 5'),
    });
    const strategy: ResourceStrategy = {
      validate: () => [{ reason: 'FieldValueInvalid', field: 'x', badValue: 1, detail: 'own' }],
    };
    const e = { apiVersion: 'a/b/c', kind: 'K' };
    const lines = await failures(schema, { a: 2, e, s: ['x', 'x'], r: 1 }, { strategy });
    expect(lines.map((line) => line.slice(0, line.indexOf(':')))).toEqual([
      'a',
      'x',
      'e.apiVersion',
      's[1]',
      'r',
    ]);
  });

  test('the whole object has no path', async () => {
    const schema = withRules(object({ a: integer }, { minProperties: 3 }), 'self.a > 5');
    expect(await failures(schema, { kind: 'X', a: 1 })).toEqual([
      '<nil>: Invalid value: 2:  in body should have at least 3 properties',
      '<nil>: Invalid value: failed rule: self.a > 5',
    ]);
  });
});

describe('objects within others', () => {
  const schema = object({
    e: {
      type: 'object',
      [extension('embedded-resource')]: true,
      [extension('preserve-unknown-fields')]: true,
    },
    m: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        [extension('embedded-resource')]: true,
        properties: { x: text },
      },
    },
  });
  const right = { apiVersion: 'v1', kind: 'Kind' };
  test.each<[string, JsonObject, readonly string[]]>([
    ['any name or none, in a namespace or in none', { ...right, metadata: {} }, []],
    ['a name that is a segment of a path', { ...right, metadata: { name: 'A_b' } }, []],
    ['no kind', { apiVersion: 'v1' }, ['e.kind: Required value']],
    ['no apiVersion', { kind: 'Kind' }, ['e.apiVersion: Required value']],
    ['an empty kind', { ...right, kind: '' }, ['e.kind: Invalid value: "": must not be empty']],
    [
      'an empty apiVersion',
      { ...right, apiVersion: '' },
      ['e.apiVersion: Invalid value: "": must not be empty'],
    ],
    [
      'an apiVersion that is none',
      { ...right, apiVersion: 'a/b/c' },
      ['e.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
    ],
    ['a kind that is no label', { ...right, kind: 'a_b' }, ['e.kind: Invalid value: "a_b": ']],
    [
      'a name with a slash',
      { ...right, metadata: { name: 'a/b' } },
      [`e.metadata.name: Invalid value: "a/b": may not contain '/'`],
    ],
    [
      'labels',
      { ...right, metadata: { labels: { 'a b': 'x' } } },
      ['e.metadata.labels: Invalid value: "a b": name part'],
    ],
    [
      'a namespace',
      { ...right, metadata: { namespace: 'A' } },
      ['e.metadata.namespace: Invalid value: "A": '],
    ],
  ])('%s', async (_claim, e, expected) => {
    const lines = await failures(schema, { e });
    expect(lines).toHaveLength(expected.length);
    for (const [at, line] of lines.entries()) expect(line).toContain(expected[at]);
  });

  test('are named by the key of a map', async () => {
    expect(await failures(schema, { m: { k: { kind: 'K' } } })).toEqual([
      'm[k].apiVersion: Required value',
    ]);
  });

  test('are judged when they are stored just so, but not by who writes the status', async () => {
    const given = { e: { kind: 'K' } };
    expect(await failures(schema, given, { old: given })).toHaveLength(1);
    expect(await failures(schema, given, { old: given, subresource: 'status' })).toEqual([]);
  });
});

describe('a write of the status', () => {
  const status = object({ max: { ...integer, maximum: 3 }, r: withRules(integer, 'self > 0') });
  const spec = withRules(object({ a: { ...integer, maximum: 3 }, b: integer }), 'self.b > 0');
  const schema = object({ spec, status }, { required: ['never'] });

  test('is judged by the status, whose texts begin below it', async () => {
    const old = { spec: { a: 9, b: 1 }, status: {} };
    const given = { ...old, status: { max: 4 } };
    expect(await failures(schema, given, { old, subresource: 'status' })).toEqual([
      'status.max: Invalid value: 4: max in body should be less than or equal to 3',
    ]);
  });

  test('names the status where it is wrong as a whole', async () => {
    const more = object({ status: { ...status, anyOf: [{ required: ['x'] }] } });
    const wrong = await failures(more, { status: 'x' }, { old: {}, subresource: 'status' });
    expect(wrong[0]).toBe(
      'status: Invalid value: "string":  in body must be of type object: "string"',
    );
    const unfit = await failures(more, { status: {} }, { old: {}, subresource: 'status' });
    expect(unfit).toEqual([
      'status: Invalid value: "": "" must validate at least one schema (anyOf)',
      'status.x: Required value',
      unchecked,
    ]);
  });

  test('is judged by all expressions, what is unchanged only warns', async () => {
    const old = { spec: { b: 0 }, status: {} };
    const given = { spec: { b: 0 }, status: { r: 0 } };
    expect(await judge(schema, given, { old, subresource: 'status' })).toEqual({
      lines: ['status.r: Invalid value: 0: failed rule: self > 0'],
      warnings: ['spec: Invalid value: failed rule: self.b > 0'],
    });
  });

  test('that takes the status away is right', async () => {
    const old = { status: { max: 2 } };
    expect(await failures(schema, {}, { old, subresource: 'status' })).toEqual([]);
  });
});

describe('ratcheting', () => {
  const item = object({ k: text, n: { ...integer, maximum: 5 } });
  const small = (schema: object): object => withRules(schema, 'size(self) < 2');

  test.each<[string, object, JsonObject, JsonObject, readonly string[]]>([
    [
      'required of a changed object is never forgiven',
      { ...item, required: ['z'] },
      { k: 'b' },
      { k: 'a' },
      ['a.z: Required value'],
    ],
    ['an unchanged object may lack it', { ...item, required: ['z'] }, { k: 'a' }, { k: 'a' }, []],
    [
      'an error below a junctor stays unless what holds it is unchanged',
      { type: 'object', properties: { x: { ...item, anyOf: [{ required: ['z'] }] } } },
      { x: { k: 'a' }, y: 1 },
      { x: { k: 'a' }, y: 2 },
      [],
    ],
  ])('%s', async (_claim, schema, now, before, expected) => {
    expect(
      await failures(object({ a: schema, b: text }), { a: now, b: 'new' }, { old: { a: before } }),
    ).toEqual(expected);
  });

  test('rules that look at the stored value are never forgiven', async () => {
    const schema = object({ a: withRules(integer, 'self > oldSelf'), b: text });
    const found = await judge(schema, { a: 1, b: 'new' }, { old: { a: 1 } });
    expect(found).toEqual({
      lines: ['a: Invalid value: 1: failed rule: self > oldSelf'],
      warnings: [],
    });
  });

  test('apiVersion and kind of the object are never forgiven', async () => {
    const schema = object({ kind: withRules({ ...text, maxLength: 1 }, 'self == "x"') });
    const given = { kind: 'Thing', a: 1 };
    expect(await failures(schema, given, { old: { kind: 'Thing' } })).toEqual([
      'kind: Too long: may not be more than 1 byte',
      unchecked,
    ]);
    const ruled = object({ kind: withRules(text, 'self == "x"') });
    expect(await judge(ruled, given, { old: { kind: 'Thing' } })).toEqual({
      lines: ['kind: Invalid value: "Thing": failed rule: self == "x"'],
      warnings: [],
    });
  });

  test('items of sets and plain lists are forgiven with their list alone', async () => {
    const list = { type: 'array', items: small(text) };
    const schema = object({ a: list, b: text });
    const old = { a: ['long', 'x'] };
    const changed = await judge(schema, { a: ['x', 'long'], b: 'new' }, { old });
    expect(changed.lines).toEqual(['a[1]: Invalid value: "long": failed rule: size(self) < 2']);
    const kept = await judge(schema, { a: ['long', 'x'], b: 'new' }, { old });
    expect(kept).toEqual({
      lines: [],
      warnings: ['a[0]: Invalid value: "long": failed rule: size(self) < 2'],
    });
  });

  test('items of keyed lists are forgiven wherever they are', async () => {
    const keyed = { [extension('list-type')]: 'map', [extension('list-map-keys')]: ['k'] };
    const schema = object({ a: { type: 'array', items: withRules(item, 'self.n < 3'), ...keyed } });
    const old = {
      a: [
        { k: 'x', n: 4 },
        { k: 'y', n: 1 },
      ],
    };
    const given = {
      a: [
        { k: 'y', n: 4 },
        { k: 'x', n: 4 },
      ],
    };
    expect(await judge(schema, given, { old })).toEqual({
      lines: ['a[0]: Invalid value: failed rule: self.n < 3'],
      warnings: ['a[1]: Invalid value: failed rule: self.n < 3'],
    });
  });

  test('items that exclude each other may once any such list is stored', async () => {
    const set = { type: 'array', items: text, [extension('list-type')]: 'set' };
    const schema = object({ a: set, b: set });
    const given = { a: ['x', 'x'] };
    expect(await failures(schema, given, { old: { a: ['x'] } })).toEqual([
      'a[1]: Duplicate value: "x"',
    ]);
    expect(await failures(schema, given, { old: { b: ['y', 'y'] } })).toEqual([]);
    expect(await failures(schema, given)).toHaveLength(1);
  });

  test('a value that went away and came back is new', async () => {
    const schema = object({ a: { ...integer, maximum: 5 }, b: text });
    expect(await failures(schema, { a: 9 }, { old: { b: 'x' } })).toHaveLength(1);
  });
});

describe('the cost of all expressions of an object is bounded', () => {
  const heavy = 'self.all(x, self.all(y, x <= y || x > y))';
  const list = withRules({ type: 'array', items: integer }, heavy);
  const numbers = Array.from({ length: 250 }, (_item, at) => at);

  test('one call', async () => {
    const more = Array.from({ length: 1_000 }, (_item, at) => at);
    const lines = await failures(object({ a: list, b: withRules(integer, 'false') }), {
      a: more,
      b: 1,
    });
    expect(lines).toEqual([
      `a: Invalid value: "array": 'operation cancelled: actual cost limit exceeded': no further ` +
        `validation rules will be run due to call cost exceeds limit for rule: ${heavy}`,
    ]);
  });

  test('all calls', async () => {
    const schema = object({ a: { type: 'object', additionalProperties: list } });
    const given = Object.fromEntries(numbers.slice(0, 60).map((at) => [`k${String(at)}`, numbers]));
    const lines = await failures(schema, { a: given });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(
      /^a\[k\d+\]: Invalid value: "array": validation failed due to running out of cost budget, no/,
    );
  });
});
