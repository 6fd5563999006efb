// What schemas say of values, through the validation that serves all kinds: field, reason and text.
import { describe, expect, test } from '@jest/globals';
import { fieldErrorMessage } from '../base/status.ts';
import { typeOf } from './testing/schema-types.ts';
import type { JsonObject, JsonValue } from './type-info.ts';
import { hasMigratedRules, validateDeclared } from './validate.ts';

const options = { stage: 'plain', isOn: () => true } as const;

const failures = (schema: object, object: JsonObject, old?: JsonObject): string[] =>
  validateDeclared(object, old, typeOf(schema), options).map(
    (error) => `${error.field}: ${fieldErrorMessage(error)}`,
  );

/** Failures of `value` as the field `a`. */
const failuresOf = (schema: object, value: JsonValue): string[] =>
  failures({ properties: { a: schema } }, { a: value });

const text = { type: 'string' };
const integer = { type: 'integer' };
const number = { type: 'number' };
const inBody = (detail: string): string => `a: Invalid value: ${detail}`;

describe('values that are right', () => {
  test.each<[object, JsonValue]>([
    [{ ...integer, minimum: 1, maximum: 3 }, 3],
    [integer, 9223372036854775807n],
    [integer, 1],
    [number, 1],
    [{ ...number, multipleOf: 0.5 }, 1.5],
    [{ ...integer, multipleOf: 3n }, 9007199254740993n],
    [{ ...text, nullable: true }, null],
    [{ ...text, nullable: true, enum: ['x', null] }, null],
    [{ ...text, maxLength: 2, minLength: 2, pattern: 'b' }, 'ab'],
    [{ ...text, maxLength: 1 }, '😀'],
    [{ ...text, format: 'unknown' }, 'x'],
    [{ 'x-kubernetes-int-or-string': true, format: 'uuid', maximum: 5 }, 3],
    [{ type: 'array', items: { 'x-kubernetes-int-or-string': true } }, [1, 'x']],
    [{ 'x-kubernetes-preserve-unknown-fields': true }, [{ x: null }]],
    [{ type: 'object', enum: [{ b: [1] }] }, { b: [1] }],
    [{ type: 'object', additionalProperties: false }, {}],
    [{ ...text, not: { pattern: 'x' }, anyOf: [{ minLength: 9 }, { maxLength: 2 }] }, 'ab'],
    [{ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }, 'x'],
  ])('%j: %j', (schema, value) => {
    expect(failuresOf(schema, value)).toEqual([]);
  });
});

test.each<[object, JsonValue, string]>([
  [text, 1, 'a: Invalid value: "integer": a in body must be of type string: "integer"'],
  [text, null, 'a: Invalid value: "null": a in body must be of type string: "null"'],
  [
    { 'x-kubernetes-int-or-string': true },
    true,
    'a: Invalid value: "boolean": a in body must be of type integer,string: "boolean"',
  ],
  [
    { ...text, format: 'uuid' },
    1,
    'a: Invalid value: "int64": a in body must be of type uuid: "int64"',
  ],
  [
    { ...text, format: 'uuid' },
    ['x'],
    'a: Invalid value: "array": a in body must be of type string: "array"',
  ],
  [{ ...text, enum: ['b', 'a'] }, 'c', 'a: Unsupported value: "c": supported values: "b", "a"'],
  [{ ...integer, enum: [1, 2] }, 3, 'a: Unsupported value: 3: supported values: "1", "2"'],
  [
    { ...integer, enum: [9007199254740993n] },
    3,
    'a: Unsupported value: 3: supported values: "9007199254740993"',
  ],
  [{ ...text, maxLength: 2, pattern: '^x' }, 'abc', 'a: Too long: may not be more than 2 bytes'],
  [{ ...text, maxLength: 1 }, 'ab', 'a: Too long: may not be more than 1 byte'],
  [{ ...text, minLength: 2 }, '😀', inBody('"😀": a in body should be at least 2 chars long')],
  [{ ...text, pattern: '^x$' }, 'y', inBody('"y": a in body should match \'^x$\'')],
  [{ ...text, format: 'ipv4' }, 'x', inBody('"x": a in body must be of type ipv4: "x"')],
  [{ ...text, format: 'date-time' }, 'x', inBody('"x": a in body must be of type date-time: "x"')],
  [{ ...integer, multipleOf: 2 }, 3, inBody('3: a in body should be a multiple of 2')],
  [
    { ...integer, multipleOf: 0 },
    3,
    '<nil>: Invalid value: "": factor MultipleOf declared for a must be positive: 0',
  ],
  [{ ...integer, maximum: 2 }, 3, inBody('3: a in body should be less than or equal to 2')],
  [
    { ...integer, maximum: 3, exclusiveMaximum: true },
    3,
    inBody('3: a in body should be less than 3'),
  ],
  [{ ...integer, minimum: 0.5 }, 0, inBody('0: a in body should be greater than or equal to 0.5')],
  [
    { ...number, minimum: 1000000, exclusiveMinimum: true },
    0.5,
    inBody('0.5: a in body should be greater than 1e+06'),
  ],
  [
    { ...integer, minimum: 9007199254740993n },
    9007199254740992n,
    inBody('9007199254740992: a in body should be greater than or equal to 9007199254740993'),
  ],
  [
    { ...integer, format: 'int32' },
    2147483648,
    '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in a',
  ],
  [
    { type: 'array', items: text, maxItems: 1 },
    ['x', 'y'],
    'a: Too many: 2: must have at most 1 item',
  ],
  [
    { type: 'array', items: text, minItems: 3 },
    ['x'],
    inBody('1: a in body should have at least 3 items'),
  ],
  [
    { type: 'object', additionalProperties: text, maxProperties: 0 },
    { k: 'x' },
    'a: Too many: 1: must have at most 0 items',
  ],
  [
    { type: 'object', minProperties: 1 },
    {},
    inBody('0: a in body should have at least 1 properties'),
  ],
  [
    { type: 'object', additionalProperties: false },
    { x: 1 },
    inBody('"x": a.x in body is a forbidden property'),
  ],
  [{ type: 'object', required: ['b'] }, {}, 'a.b: Required value'],
  [
    { type: 'object', additionalProperties: text },
    { k: 1 },
    'a.k: Invalid value: "integer": a.k in body must be of type string: "integer"',
  ],
  [
    { type: 'array', items: { type: 'array', items: text } },
    [['x'], ['y', 1]],
    'a[1][1]: Invalid value: "integer": a[1][1] in body must be of type string: "integer"',
  ],
  [
    { type: 'array', items: { type: 'object', required: ['b'], properties: { b: text } } },
    { b: 1 },
    'a: Invalid value: "object": a in body must be of type array: "object"',
  ],
  [
    { type: 'array', items: text },
    [null],
    'a[0]: Invalid value: "null": a[0] in body must be of type string: "null"',
  ],
])('%j: %j', (schema, value, failure) => {
  expect(failuresOf(schema, value)).toEqual([failure]);
});

describe('numbers of a type integer that are none', () => {
  const wrong = (found: string, named = '(default format)', wanted = 'integer'): string[] => [
    `a: Invalid value: "${found}": a in body must be of type ${wanted}: "${found}"`,
    `<nil>: Invalid value: "": Checked value must be of type integer ${named} in a`,
  ];
  test.each<[string, object, JsonValue, readonly string[]]>([
    ['a fraction', integer, 1.5, wrong('number')],
    ['beyond 64 bits', integer, 1e19, wrong('number')],
    ['an unknown format says nothing', { ...integer, format: 'uuid' }, 1.5, wrong('number')],
    [
      'a format is named',
      { ...integer, format: 'int32' },
      1.5,
      wrong('float64', 'with format int32', 'int32'),
    ],
    [
      'bounds come after',
      { ...integer, multipleOf: 3, maximum: 1 },
      1.5,
      [
        ...wrong('number'),
        inBody('1.5: a in body should be a multiple of 3'),
        inBody('1.5: a in body should be less than or equal to 1'),
      ],
    ],
  ])('%s', (_claim, schema, value, expected) => {
    expect(failuresOf(schema, value)).toEqual(expected);
  });
});

describe('junctors', () => {
  const short = { maxLength: 1 };
  const whole = (detail: string): string => `<nil>: Invalid value: "": "a" ${detail}`;
  test.each<[object, JsonValue, readonly string[]]>([
    [{ anyOf: [{ pattern: '^x', maxLength: 1 }, { properties: { b: integer } }] }, 'ab', []],
    [
      { anyOf: [{ enum: ['x'] }, { minLength: 5 }] },
      'ab',
      [
        whole('must validate at least one schema (anyOf)'),
        'a: Unsupported value: "ab": supported values: "x"',
      ],
    ],
    [{ oneOf: [short, { enum: ['ab'] }] }, 'ab', []],
    [
      { oneOf: [short, { pattern: 'x' }] },
      'ab',
      [
        whole('must validate one and only one schema (oneOf). Found none valid'),
        'a: Too long: may not be more than 1 byte',
      ],
    ],
    [
      { oneOf: [short, { pattern: 'x' }, {}] },
      'x',
      [whole('must validate one and only one schema (oneOf). Found 3 valid alternatives')],
    ],
    [
      { allOf: [short, { pattern: 'a' }] },
      'ab',
      ['a: Too long: may not be more than 1 byte', whole('must validate all the schemas (allOf)')],
    ],
    [
      { allOf: [short] },
      'ab',
      [
        'a: Too long: may not be more than 1 byte',
        whole('must validate all the schemas (allOf). None validated'),
      ],
    ],
    [{ not: { maxLength: 5 } }, 'ab', [whole('must not validate the schema (not)')]],
  ])('%j: %j', (schema, value, expected) => {
    expect(failuresOf({ ...text, ...schema }, value)).toEqual(expected);
  });

  test('reach into objects and lists', () => {
    const schema = {
      type: 'object',
      properties: { b: integer, c: { type: 'array', items: integer } },
      allOf: [{ required: ['b'], properties: { c: { items: { maximum: 3 } } } }],
    };
    expect(failuresOf(schema, { c: [1, 4] })).toEqual([
      'a.c[1]: Invalid value: 4: a.c[1] in body should be less than or equal to 3',
      'a.b: Required value',
      whole('must validate all the schemas (allOf). None validated'),
    ]);
  });
});

test('failures of a value come in order, before those of what it holds', () => {
  const schema = {
    type: 'object',
    minProperties: 5,
    required: ['z'],
    properties: { b: integer },
    not: {},
  };
  expect(failuresOf(schema, { b: 'x' }).map((line) => line.replace(/: .*? in body/, ''))).toEqual([
    '<nil>: Invalid value: "": "a" must not validate the schema (not)',
    'a should have at least 5 properties',
    'a.b must be of type integer: "string"',
    'a.z: Required value',
  ]);
});

test('conditions on kind and metadata; the rest of metadata is not for schemas', () => {
  const schema = {
    properties: {
      kind: { ...text, enum: ['Thing'] },
      metadata: { type: 'object', properties: { name: { ...text, maxLength: 3 } } },
    },
  };
  const object = { kind: 'Other', metadata: { name: 'long', labels: { a: 'b' } } };
  expect(failures(schema, object)).toEqual([
    'kind: Unsupported value: "Other": supported values: "Thing"',
    'metadata.name: Too long: may not be more than 3 bytes',
  ]);
});

describe('what is stored stays acceptable where it is unchanged', () => {
  const item = { type: 'object', properties: { k: text, n: { ...integer, maximum: 5 } } };
  const keyed = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };
  const atomic = { 'x-kubernetes-map-type': 'atomic' };
  const tooBig = (path: string): string =>
    `${path}: Invalid value: 9: ${path} in body should be less than or equal to 5`;
  test.each<[string, object, JsonValue, JsonValue, readonly string[]]>([
    ['a member', item, { n: 9, k: 'x' }, { n: 9, k: 'y' }, []],
    ['a changed member', item, { n: 9 }, { n: 8 }, [tooBig('a.n')]],
    [
      'items of keyed lists, wherever they are',
      { type: 'array', items: item, ...keyed },
      [
        { k: 'b', n: 9 },
        { k: 'a', n: 9 },
      ],
      [
        { k: 'a', n: 9 },
        { k: 'b', n: 1 },
      ],
      [tooBig('a[0].n')],
    ],
    [
      'no items of other lists',
      { type: 'array', items: item },
      [{ n: 9 }, { n: 1 }],
      [{ n: 9 }],
      [tooBig('a[0].n')],
    ],
    ['other lists as a whole', { type: 'array', items: item }, [{ n: 9 }], [{ n: 9 }], []],
    [
      'entries',
      { type: 'object', additionalProperties: item },
      { x: { n: 9 }, y: { n: 9 } },
      { x: { n: 9 } },
      [tooBig('a.y.n')],
    ],
    [
      'no part of an atomic map',
      { ...item, ...atomic },
      { n: 9, k: 'x' },
      { n: 9 },
      [tooBig('a.n')],
    ],
    [
      'no part below a junctor',
      { ...item, allOf: [{ properties: { n: { maximum: 5 } } }] },
      { n: 9, k: 'x' },
      { n: 9 },
      [
        tooBig('a.n'),
        '<nil>: Invalid value: "": "a" must validate all the schemas (allOf). None validated',
      ],
    ],
  ])('%s', (_claim, schema, value, stored, expected) => {
    expect(
      failures({ properties: { a: schema, b: text } }, { a: value, b: 'new' }, { a: stored }),
    ).toEqual(expected);
  });
});

test('names that every JavaScript object has are no members', () => {
  const schema = { properties: { a: { type: 'object', required: ['constructor'] } } };
  expect(failures(schema, { a: {} })).toEqual(['a.constructor: Required value']);
});

test('there are no migrated rules', () => {
  expect(hasMigratedRules(typeOf({ properties: { a: text } }))).toBe(false);
});

describe('a hundred thousand failures', () => {
  const list = Array.from({ length: 100_000 }, (_item, at) => at);

  test('are told as far as an answer can, and counted', () => {
    const schema = { type: 'array', items: text, anyOf: [{ items: { enum: ['x'] } }] };
    const found = failuresOf(schema, list);
    const told = found.length - 1;
    expect(told).toBeGreaterThan(10_000);
    expect(found.at(-1)).toBe(
      `<nil>: Invalid value: "": ${String(200_001 - told)} more failures are not shown`,
    );
  });

  test('of many values to choose from', () => {
    const values = Array.from({ length: 50_000 }, (_item, at) => at + 200_000);
    const found = failuresOf({ type: 'array', items: { ...integer, enum: values } }, list);
    expect(found.length).toBeLessThan(10);
  });

  test('are none where they are stored', () => {
    const schema = { properties: { a: { type: 'array', items: text }, b: text } };
    expect(failures(schema, { a: list, b: 'new' }, { a: [...list], b: 'old' })).toEqual([]);
  });
});
