// Each rule of the schema of a definition, with the path, the kind and the text of its error.
import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { created, inSpec, prefix, root, schemaOf, withVersion } from './testing/definitions.ts';

type Row = [claim: string, schema: JsonObject, errors: readonly string[]];

/** Of a schema of `spec.a`. */
const errorsOf = (a: JsonObject): readonly string[] =>
  created(withVersion({ schema: schemaOf({ a }) }));
/** Of a whole schema. */
const errorsOfRoot = (openAPIV3Schema: JsonObject, more: JsonObject = {}): readonly string[] =>
  created(withVersion({ schema: { openAPIV3Schema }, ...more }));
const a = `${inSpec}[a]`;
const x = (words: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(words).map(([word, value]) => [prefix + word, value]));
const invalid = (field: string, value: JsonValue, detail: string): string =>
  `${field}: Invalid value: ${JSON.stringify(value)}: ${detail}`;
const forbidden = (field: string, detail: string): string => `${field}: Forbidden: ${detail}`;
const text = { type: 'string' };
const oneText = { type: 'object', properties: { b: text } };

describe('words', () => {
  test.each<Row>([
    [
      'a type is one of six',
      { type: 'x' },
      [
        `${a}.type: Unsupported value: "x": supported values: ` +
          '"array", "boolean", "integer", "number", "object", "string"',
      ],
    ],
    [
      'the type null is nullable instead',
      { type: 'null' },
      [
        `${a}.type: Unsupported value: "null": supported values: ` +
          '"array", "boolean", "integer", "number", "object", "string"',
        forbidden(`${a}.type`, 'type cannot be set to null, use nullable as an alternative'),
      ],
    ],
    ...(
      [
        ['id', 'x'],
        ['$ref', '#/x'],
        ['definitions', { d: text }],
        ['dependencies', { d: ['e'] }],
        ['patternProperties', { d: text }],
        ['additionalItems', true],
      ] as const
    ).map(([word, value]): Row => [
      `${word} is not supported`,
      { ...text, [word]: value as JsonValue },
      [forbidden(`${a}.${word}`, `${word} is not supported`)],
    ]),
    ['$schema is accepted and ignored', { ...text, $schema: 'x' }, []],
    [
      'items is no list of schemas',
      { type: 'array', items: [text] },
      [forbidden(`${a}.items`, 'items must be a schema object and not an array')],
    ],
    [
      'uniqueItems is not true',
      { type: 'array', items: text, uniqueItems: true },
      [
        forbidden(
          `${a}.uniqueItems`,
          'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
        ),
      ],
    ],
    ...[text, false].map((additionalProperties): Row => [
      `additionalProperties ${JSON.stringify(additionalProperties)} is not beside properties`,
      { ...oneText, additionalProperties },
      [
        forbidden(
          `${a}.additionalProperties`,
          'additionalProperties and properties are mutual exclusive',
        ),
      ],
    ]),
    [
      'additionalProperties true is beside properties',
      { ...oneText, additionalProperties: true },
      [],
    ],
    [
      'no default is below additionalProperties of metadata',
      {
        ...{ type: 'object', ...x({ 'embedded-resource': true }) },
        properties: {
          metadata: {
            type: 'object',
            properties: {
              labels: { type: 'object', additionalProperties: { ...text, default: 'x' } },
            },
          },
        },
      },
      [
        forbidden(
          `${a}.properties[metadata].properties[labels].additionalProperties.default`,
          'must not be set inside additionalProperties applying to object metadata',
        ),
      ],
    ],
  ])('%s', (_claim, schema, errors) => {
    expect(errorsOf(schema)).toEqual(errors);
  });

  test.each(['metadata', 'kind', 'apiVersion'])('no default is in %s of the root', (name) => {
    const given = name === 'metadata' ? { type: 'object', default: {} } : { ...text, default: 'x' };
    expect(errorsOfRoot({ type: 'object', properties: { [name]: given } })).toContain(
      forbidden(`${root}.properties[${name}].default`, `must not be set in top-level ${name}`),
    );
  });

  test('nor deeper in metadata of the root', () => {
    const metadata = { type: 'object', properties: { name: { ...text, default: 'x' } } };
    expect(errorsOfRoot({ type: 'object', properties: { metadata } })).toEqual([
      forbidden(
        `${root}.properties[metadata].properties[name].default`,
        'must not be set in top-level metadata',
      ),
    ]);
  });

  test('the root is not nullable', () => {
    expect(errorsOfRoot({ type: 'object', nullable: true })).toEqual([
      forbidden('spec.validation.openAPIV3Schema.nullable', 'nullable cannot be true at the root'),
    ]);
  });

  const status = { subresources: { status: {} } };
  test('beside a status subresource the root is an object', () => {
    expect(errorsOfRoot(text, status)).toContain(
      invalid(
        `${root}.type`,
        'string',
        'only "object" is allowed as the type at the root of the schema ' +
          'if the status subresource is enabled',
      ),
    );
  });

  test.each<[string, JsonObject]>([
    ['default', { default: {} }],
    ['enum', { enum: [{}] }],
    ['allOf', { allOf: [{ required: ['spec'] }] }],
    ['nullable', { nullable: true }],
    ['additionalProperties', { additionalProperties: true }],
    ['x-map-type', x({ 'map-type': 'granular' })],
  ])('beside a status subresource the root has no %s', (_word, words) => {
    expect(errorsOfRoot({ type: 'object', ...words }, status)).toContainEqual(
      expect.stringMatching(/: only \[Description .* if the status subresource is enabled$/),
    );
  });

  test.each<[string, JsonObject]>([
    ['words of texts', { description: 'd', title: 't', example: {}, externalDocs: { url: 'u' } }],
    ['required and properties', { required: ['spec'], properties: { spec: { type: 'object' } } }],
    ['rules', x({ validations: [{ rule: 'true' }] })],
    ['unknown fields', x({ 'preserve-unknown-fields': true })],
  ])('beside a status subresource the root has %s', (_word, words) => {
    expect(errorsOfRoot({ type: 'object', ...words }, status)).toEqual([]);
  });
});
