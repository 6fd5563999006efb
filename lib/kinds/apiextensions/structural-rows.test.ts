// Each rule of the structural form, with the path, the kind and the text of its error.
import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { created, inSpec, prefix, root, schemaOf, withVersion } from './testing/definitions.ts';

type Row = [claim: string, schema: JsonObject, errors: readonly string[]];

const a = `${inSpec}[a]`;
const invalid = (field: string, value: JsonValue, detail: string): string =>
  `${field}: Invalid value: ${JSON.stringify(value)}: ${detail}`;
const required = (field: string, detail: string): string => `${field}: Required value: ${detail}`;
const forbidden = (field: string, detail: string): string => `${field}: Forbidden: ${detail}`;
const text = { type: 'string' };
const pair = { anyOf: [{ type: 'integer' }, { type: 'string' }] };
const intOrString = { [`${prefix}int-or-string`]: true };
const structural = 'to be structural';
const undefinedWords: JsonObject = {
  default: 'x',
  additionalProperties: true,
  [`${prefix}list-type`]: 'atomic',
  [`${prefix}map-type`]: 'atomic',
};
const falseWords = ['nullable', `${prefix}preserve-unknown-fields`, `${prefix}int-or-string`];

describe('the root', () => {
  const all = (schema: JsonObject): readonly string[] =>
    created(withVersion({ schema: { openAPIV3Schema: schema } }));
  const onlyNames =
    'must not specify anything other than name and generateName, but metadata is ' +
    'implicitly specified';
  const withMetadata = (metadata: JsonObject): JsonObject => ({
    type: 'object',
    properties: { metadata },
  });
  test.each<Row>([
    ['has a type', { properties: {} }, [required(`${root}.type`, 'must not be empty at the root')]],
    [
      'is an object',
      { type: 'array', items: text },
      [invalid(`${root}.type`, 'array', 'must be object at the root')],
    ],
    [
      'is no map',
      { type: 'object', additionalProperties: text },
      [forbidden(`${root}.additionalProperties`, 'must not be used at the root')],
    ],
    ...['kind', 'apiVersion'].map((name): Row => [
      `has a text as ${name}`,
      { type: 'object', properties: { [name]: { type: 'integer' } } },
      [invalid(`${root}.properties[${name}].type`, 'integer', 'must be string')],
    ]),
    [
      'has an object as metadata',
      withMetadata(text),
      [invalid(`${root}.properties[metadata].type`, 'string', 'must be object')],
    ],
    [
      'says nothing of labels',
      withMetadata({ type: 'object', properties: { labels: { type: 'object' } } }),
      [forbidden(`${root}.properties[metadata]`, onlyNames)],
    ],
    [
      'says nothing more of metadata',
      withMetadata({ type: 'object', description: 'd' }),
      [forbidden(`${root}.properties[metadata]`, onlyNames)],
    ],
    [
      'may speak of names in metadata',
      withMetadata({ type: 'object', properties: { name: text, generateName: text } }),
      [],
    ],
    [
      'has no condition on fields that it does not specify',
      {
        type: 'object',
        properties: { b: { type: 'array', items: { type: 'object' } } },
        allOf: [{ properties: { c: {}, b: { items: { properties: { d: {} } } } } }],
        not: { items: {} },
      },
      [
        required(`${root}.items`, `because it is defined in ${root}.not.items`),
        required(
          `${root}.properties[b].items.properties[d]`,
          `because it is defined in ${root}.allOf[0].properties[b].items.properties[d]`,
        ),
        required(
          `${root}.properties[c]`,
          `because it is defined in ${root}.allOf[0].properties[c]`,
        ),
      ],
    ],
  ])('%s', (_claim, schema, errors) => {
    expect(all(schema)).toEqual(errors);
  });
});

describe('a field', () => {
  const condition = `${a}.anyOf[0]`;
  test.each<Row>([
    [
      'has a type',
      { description: 'd' },
      [required(`${a}.type`, 'must not be empty for specified object fields')],
    ],
    [
      'that is a list has items with a type',
      { type: 'array', items: {} },
      [required(`${a}.items.type`, 'must not be empty for specified array items')],
    ],
    ['that is a list has items', { type: 'array' }, [required(`${a}.items`, 'must be specified')]],
    ['that is an integer or a string has no type', intOrString, []],
    ['that keeps unknown fields needs no type', { [`${prefix}preserve-unknown-fields`]: true }, []],
    [
      'has a pattern that is a regular expression',
      { ...text, pattern: '(' },
      [
        invalid(
          `${a}.pattern`,
          '(',
          "must be a valid regular expression, but isn't: error parsing regexp: " +
            'missing closing ): `(`',
        ),
      ],
    ],
    [
      'has conditions whose patterns are regular expressions',
      { ...text, not: { pattern: '[' } },
      [
        invalid(
          `${a}.not.pattern`,
          '[',
          "must be a valid regular expression, but isn't: error parsing regexp: " +
            'missing closing ]: `[`',
        ),
      ],
    ],
    [
      'that is an integer or a string may say so in exactly these conditions',
      { ...intOrString, ...pair },
      [],
    ],
    [
      'that is an integer or a string may say so in the first of allOf',
      { ...intOrString, allOf: [pair, { pattern: 'x' }] },
      [],
    ],
    [
      'that is an integer or a string may not say so in another order',
      { ...intOrString, anyOf: [{ type: 'string' }, { type: 'integer' }] },
      [
        forbidden(`${a}.anyOf[0].type`, `must be empty ${structural}`),
        forbidden(`${a}.anyOf[1].type`, `must be empty ${structural}`),
      ],
    ],
    [
      'that is an integer or a string may not say so in the second of allOf',
      { ...intOrString, allOf: [{ pattern: 'x' }, pair] },
      [
        forbidden(`${a}.allOf[1].anyOf[0].type`, `must be empty ${structural}`),
        forbidden(`${a}.allOf[1].anyOf[1].type`, `must be empty ${structural}`),
      ],
    ],
    ...['type', 'title', 'description'].map((word): Row => [
      `has no condition with ${word}`,
      { ...text, anyOf: [{ [word]: 'string' }] },
      [forbidden(`${condition}.${word}`, `must be empty ${structural}`)],
    ]),
    [
      'has no condition on metadata',
      { type: 'object', properties: { b: text }, anyOf: [{ properties: { metadata: {} } }] },
      [forbidden(`${condition}.properties[metadata]`, 'must not be specified in a nested context')],
    ],
    [
      'below the root may have conditions on fields that are not specified',
      { type: 'object', properties: { b: text }, anyOf: [{ properties: { c: {} } }] },
      [],
    ],
  ])('%s', (_claim, schema, errors) => {
    expect(created(withVersion({ schema: schemaOf({ a: schema }) }))).toEqual(errors);
  });

  const told = (words: JsonObject): readonly string[] =>
    created(withVersion({ schema: schemaOf({ a: { ...text, anyOf: [words] } }) }));
  test.each(Object.entries(undefinedWords))('has no condition with %s', (word, value) => {
    expect(told({ [word]: value })).toContain(
      forbidden(`${condition}.${word}`, `must be undefined ${structural}`),
    );
  });
  test.each([...falseWords, `${prefix}embedded-resource`])('has no condition with %s', (word) => {
    expect(told({ [word]: true })).toContain(
      forbidden(`${condition}.${word}`, `must be false ${structural}`),
    );
  });
  test.each<[string, JsonValue]>([
    ['list-map-keys', ['k']],
    ['validations', [{ rule: 'true' }]],
  ])('has no condition with %s', (word, value) => {
    expect(told({ [prefix + word]: value })).toContain(
      forbidden(`${condition}.${prefix}${word}`, `must be empty ${structural}`),
    );
  });

  test('that embeds a resource has a text as kind and an object as metadata', () => {
    const schema = {
      type: 'object',
      [`${prefix}embedded-resource`]: true,
      properties: { kind: { type: 'integer' }, metadata: text },
    };
    expect(created(withVersion({ schema: schemaOf({ a: schema }) }))).toEqual([
      invalid(`${a}.properties[kind].type`, 'integer', 'must be string'),
      invalid(`${a}.properties[metadata].type`, 'string', 'must be object'),
    ]);
  });
});
