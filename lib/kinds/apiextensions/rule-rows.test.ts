// Each rule about expressions and defaults in schemas, with the path and the text of its error.
import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { created, inSpec, prefix, rulePath, rules, withProperties } from './testing/definitions.ts';

type Row = [claim: string, schema: JsonObject, errors: readonly string[]];
const a = `${inSpec}[a]`;
const at = rulePath(0);
const errorsOf = (schema: JsonObject): readonly string[] => created(withProperties({ a: schema }));
const invalid = (field: string, value: JsonValue, detail: string): string =>
  `${field}: Invalid value: ${JSON.stringify(value)}: ${detail}`;
const text = { type: 'string' };
const matching = (pattern: RegExp): string => expect.stringMatching(pattern) as unknown as string;
const validations = (...given: readonly JsonObject[]): JsonObject => ({
  [`${prefix}validations`]: [...given],
});

describe('a rule', () => {
  test.each<Row>([
    [
      'has a messageExpression that is not blank, if any',
      rules({ rule: 'true', messageExpression: ' ' }),
      [
        `${at}.messageExpression: Required value: ` +
          'messageExpression must be non-empty if specified',
      ],
    ],
    [
      'has one of four reasons',
      rules({ rule: 'true', reason: 'X' }),
      [
        `${at}.reason: Unsupported value: "X": supported values: "FieldValueDuplicate", ` +
          '"FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"',
      ],
    ],
    [
      'has a fieldPath that is not blank, if any',
      rules({ rule: 'true', fieldPath: ' ' }),
      [
        invalid(`${at}.fieldPath`, ' ', 'must be non-empty if specified'),
        invalid(`${at}.fieldPath`, ' ', 'must be a valid path'),
      ],
    ],
    [
      'has a fieldPath without line breaks',
      rules({ rule: 'true', fieldPath: '.\n' }),
      [
        invalid(`${at}.fieldPath`, '.\n', 'must not contain line breaks'),
        invalid(`${at}.fieldPath`, '.\n', 'must be a valid path'),
      ],
    ],
    [
      'compiles',
      rules({ rule: 'self +' }),
      [matching(/\.rule: Invalid value: .*: compilation failed: ERROR: <input>:1:\d+: /s)],
    ],
    [
      'has a messageExpression that compiles',
      rules({ rule: 'true', messageExpression: 'self +' }),
      [matching(/\.messageExpression: Invalid value: .*: messageExpression compilation failed: /s)],
    ],
    [
      'has a messageExpression that is a text',
      rules({ rule: 'true', messageExpression: '1' }),
      [
        matching(
          /\.messageExpression: Invalid value: .*: messageExpression must evaluate to a string$/,
        ),
      ],
    ],
    [
      'is not too dear; the factor has one place from 1.5 up',
      { ...rules({ rule: 'self.contains(self)' }), maxLength: 15_000 },
      [matching(/\.rule: Forbidden: .* exceeds budget by factor of \d+\.\dx \(try simplifying /)],
    ],
    [
      'that is more than 100 times too dear says so',
      {
        type: 'array',
        items: { ...text, ...validations({ rule: 'self.contains(self)' }) },
      },
      [
        matching(
          /\.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x /,
        ),
        matching(
          /\.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit/,
        ),
        matching(
          /estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of/,
        ),
      ],
    ],
    [
      'has a messageExpression that is not too dear',
      {
        type: 'array',
        maxItems: 1000,
        items: {
          ...{ ...text, maxLength: 5000 },
          ...validations({ rule: 'true', messageExpression: '"" + string(self.contains(self))' }),
        },
      },
      [
        matching(/Forbidden: estimated messageExpression cost exceeds budget by factor of /),
        ...['contributed to', 'estimated rule cost total for entire'].map((one) =>
          matching(new RegExp(one)),
        ),
      ],
    ],
    [
      'with a reason, and a fieldPath through properties and maps, is right',
      {
        type: 'object',
        maxProperties: 3,
        properties: { "q'\\": { type: 'object', additionalProperties: text } },
        ...validations({
          ...{ rule: 'true', reason: 'FieldValueForbidden' },
          fieldPath: "['q\\'\\\\']['any key']",
        }),
      },
      [],
    ],
    [
      'has a fieldPath that does not lead into lists',
      {
        type: 'object',
        properties: { l: { type: 'array', items: text } },
        ...validations({ rule: 'true', fieldPath: '.l[0]' }),
      },
      [invalid(`${at}.fieldPath`, '.l[0]', 'must be a valid path')],
    ],
    [
      'is not compiled where the schema is wrong at it or below',
      { type: 'object', properties: { b: { ...text, id: 'x' } }, ...validations({ rule: 'nope' }) },
      [`${a}.properties[b].id: Forbidden: id is not supported`],
    ],
    [
      'is not compiled where a default is wrong anywhere',
      { ...rules({ rule: 'nope' }), default: 5 },
      [invalid(`${a}.default`, 'integer', ' in body must be of type string: "integer"')],
    ],
    [
      'may use oldSelf in items of a keyed list',
      {
        type: 'array',
        maxItems: 3,
        ...{ [`${prefix}list-type`]: 'map', [`${prefix}list-map-keys`]: ['k'] },
        items: {
          ...{ type: 'object', required: ['k'], properties: { k: { ...text, maxLength: 5 } } },
          ...validations({ rule: 'self == oldSelf' }),
        },
      },
      [],
    ],
  ])('%s', (_claim, schema, errors) => {
    expect(errorsOf(schema)).toEqual(errors);
  });

  test('below 1.5 the factor has six places', () => {
    const factors = Array.from({ length: 60 }, (_item, step) =>
      errorsOf({ ...rules({ rule: 'self.contains(self)' }), maxLength: 9_000 + step * 100 }),
    ).flatMap(([error = '']) => /factor of (.*)x \(/.exec(error)?.[1] ?? []);
    const below = factors.filter((one) => Number(one) < 1.5);
    expect(below.length).toBeGreaterThan(0);
    for (const one of below) expect(one).toMatch(/^1\.\d{6}$/);
  });
});

const embeds = (metadata: JsonObject, more: JsonObject = {}): JsonObject => ({
  type: 'object',
  [`${prefix}embedded-resource`]: true,
  properties: { metadata },
  ...more,
});
const labels = (given: JsonValue): JsonObject => ({
  type: 'object',
  properties: {
    labels: { type: 'object', additionalProperties: text, default: given },
  },
});

describe('a default', () => {
  test.each<Row>([
    [
      'is pruned',
      { type: 'object', properties: { b: text }, default: { b: 'x', c: 1 } },
      [invalid(`${a}.default`, { b: 'x', c: 1 }, 'must not have unknown fields')],
    ],
    [
      'is valid by the schema, whose texts have an empty name',
      { type: 'integer', default: 'x' },
      [invalid(`${a}.default`, 'string', ' in body must be of type integer: "string"')],
    ],
    [
      'has bounds, too',
      { type: 'integer', maximum: 3, default: 5 },
      [invalid(`${a}.default`, 5, ' in body should be less than or equal to 3')],
    ],
    [
      'is right by the rules below it',
      { ...rules({ rule: 'self == "y"' }), default: 'x' },
      [invalid(`${a}.default`, 'x', 'failed rule: self == "y"')],
    ],
    [
      'is right by its rules without a stored value, too',
      { ...rules({ rule: 'oldSelf.hasValue()', optionalOldSelf: true }), default: 'x' },
      [invalid(`${a}.default`, 'x', 'failed rule: oldSelf.hasValue()')],
    ],
    ['that is null is none', { type: 'integer', default: null }, []],
    ['in metadata may be labels', embeds(labels({ 'example.com/a': 'b' })), []],
    [
      'in metadata is valid metadata',
      embeds(labels({ 'a b': 'c' })),
      [
        matching(
          /\.default: .*: must result in valid metadata: metadata\.labels: .* name part must/,
        ),
      ],
    ],
    [
      'in metadata has the types of metadata',
      embeds({
        type: 'object',
        properties: {
          labels: { type: 'object', additionalProperties: { type: 'integer' }, default: { a: 1 } },
        },
      }),
      [matching(/\.default: .*: must result in valid metadata: metadata: Invalid value: /)],
    ],
    [
      'that holds an embedded resource has all of it',
      { ...embeds({ type: 'object' }), default: { metadata: {} } },
      [`${a}.default.apiVersion: Required value`, `${a}.default.kind: Required value`],
    ],
    [
      'that holds an embedded resource has valid metadata',
      {
        ...embeds({ type: 'object' }),
        default: { apiVersion: 'v1', kind: 'A', metadata: { labels: { 'a b': 'c' } } },
      },
      [matching(/\.default\.metadata\.labels: Invalid value: "a b": name part must consist of/)],
    ],
    [
      'that holds an embedded resource has metadata of the right types',
      {
        ...embeds({ type: 'object' }),
        default: { apiVersion: 'v1', kind: 'A', metadata: { labels: { a: 1 } } },
      },
      [matching(/\.default\.metadata: Invalid value: \{"labels":\{"a":1\}\}: /)],
    ],
    [
      'may hold metadata with unknown fields',
      {
        ...embeds({ type: 'object' }),
        default: { apiVersion: 'v1', kind: 'A', metadata: { name: 'x', foo: 1 } },
      },
      [],
    ],
  ])('%s', (_claim, schema, errors) => {
    expect(errorsOf(schema)).toEqual(errors);
  });

  test('is not looked at in a schema that is not structural', () => {
    expect(errorsOf({ default: 5 })).toEqual([
      `${a}.type: Required value: must not be empty for specified object fields`,
    ]);
  });
});
