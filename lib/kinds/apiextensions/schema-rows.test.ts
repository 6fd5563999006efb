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
const required = (field: string, detail: string): string => `${field}: Required value: ${detail}`;
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

describe('extensions', () => {
  const set = x({ 'list-type': 'set' });
  const map = (words: JsonObject): JsonObject => ({
    type: 'array',
    ...x({ 'list-type': 'map', 'list-map-keys': ['k'] }),
    items: { type: 'object', required: ['k'], properties: { k: text } },
    ...words,
  });
  const atomic = `must be atomic as item of a list with ${prefix}list-type=set`;
  const keys = `${a}.${prefix}list-map-keys`;
  const keyed = `this property is in ${prefix}list-map-keys, so it`;
  test.each<Row>([
    [
      'preserve-unknown-fields is true or absent',
      { type: 'object', ...x({ 'preserve-unknown-fields': false }) },
      [invalid(`${a}.${prefix}preserve-unknown-fields`, false, 'must be true or undefined')],
    ],
    ...['preserve-unknown-fields', 'embedded-resource'].map((word): Row => [
      `${word} is not with int-or-string`,
      { ...x({ [word]: true, 'int-or-string': true }), properties: {} },
      [
        ...(word === 'embedded-resource'
          ? [
              required(
                `${a}.properties`,
                `must not be empty if ${prefix}embedded-resource is true without ` +
                  `${prefix}preserve-unknown-fields`,
              ),
              required(`${a}.type`, `must be object if ${prefix}embedded-resource is true`),
            ]
          : []),
        invalid(`${a}.${prefix}${word}`, true, `must be false if ${prefix}int-or-string is true`),
      ],
    ]),
    [
      'an embedded resource is an object',
      { type: 'string', ...x({ 'embedded-resource': true, 'preserve-unknown-fields': true }) },
      [invalid(`${a}.type`, 'string', `must be object if ${prefix}embedded-resource is true`)],
    ],
    [
      'an embedded resource has properties, or keeps what is unknown',
      { type: 'object', ...x({ 'embedded-resource': true }) },
      [
        required(
          `${a}.properties`,
          `must not be empty if ${prefix}embedded-resource is true without ` +
            `${prefix}preserve-unknown-fields`,
        ),
      ],
    ],
    [
      'an embedded resource is no map',
      {
        type: 'object',
        additionalProperties: text,
        ...x({ 'embedded-resource': true, 'preserve-unknown-fields': true }),
      },
      [
        forbidden(
          `${a}.additionalProperties`,
          `must not be used if ${prefix}embedded-resource is set`,
        ),
      ],
    ],
    [
      'no resource is embedded in metadata',
      {
        type: 'object',
        ...x({ 'embedded-resource': true }),
        properties: {
          metadata: {
            type: 'object',
            properties: {
              m: {
                type: 'object',
                ...x({ 'embedded-resource': true, 'preserve-unknown-fields': true }),
              },
            },
          },
        },
      },
      [
        forbidden(
          `${a}.properties[metadata].properties[m].${prefix}embedded-resource`,
          'must not be used inside of resource meta',
        ),
      ],
    ],
    [
      'a list type is for an array',
      { type: 'object', ...set },
      [invalid(`${a}.type`, 'object', `must be array if ${prefix}list-type is specified`)],
    ],
    [
      'a list type is one of three',
      { type: 'array', items: text, ...x({ 'list-type': 'x' }) },
      [
        `${a}.${prefix}list-type: Unsupported value: "x": ` +
          'supported values: "atomic", "set", "map"',
      ],
    ],
    [
      'objects of a set are atomic',
      { type: 'array', ...set, items: oneText },
      [invalid(`${a}.items.${prefix}map-type`, null, atomic)],
    ],
    [
      'arrays of a set are atomic',
      { type: 'array', ...set, items: { type: 'array', items: text, ...set } },
      [invalid(`${a}.items.${prefix}list-type`, 'set', atomic)],
    ],
    [
      'atomic objects and arrays may be in a set',
      {
        type: 'array',
        ...set,
        items: { type: 'array', items: text, ...x({ 'list-type': 'atomic' }) },
      },
      [],
    ],
    [
      'items of a set are not nullable',
      { type: 'array', ...set, items: { ...text, nullable: true } },
      [forbidden(`${a}.items.nullable`, `cannot be nullable when ${prefix}list-type is set`)],
    ],
    [
      'items of a map are not nullable',
      map({
        items: { type: 'object', nullable: true, required: ['k'], properties: { k: text } },
      }),
      [forbidden(`${a}.items.nullable`, `cannot be nullable when ${prefix}list-type is map`)],
    ],
    [
      'keys need the list type map: absent',
      { type: 'array', items: oneText, ...x({ 'list-map-keys': ['b'] }) },
      [required(`${a}.${prefix}list-type`, `must be map if ${prefix}list-map-keys is non-empty`)],
    ],
    [
      'keys need the list type map: another',
      { type: 'array', items: text, ...set, ...x({ 'list-map-keys': ['b'] }) },
      [
        invalid(
          `${a}.${prefix}list-type`,
          'set',
          `must be map if ${prefix}list-map-keys is non-empty`,
        ),
      ],
    ],
    [
      'a map needs keys',
      { type: 'array', items: oneText, ...x({ 'list-type': 'map' }) },
      [required(keys, `must not be empty if ${prefix}list-type is map`)],
    ],
    [
      'items of a map are objects',
      map({ items: text }),
      [
        invalid(
          `${a}.items.type`,
          'string',
          `must be object if parent array's ${prefix}list-type is map`,
        ),
      ],
    ],
    [
      'each key is a property',
      map({ items: oneText }),
      [invalid(keys, ['k'], 'entries must all be names of item properties')],
    ],
    [
      'each key is a scalar',
      map({ items: { type: 'object', required: ['k'], properties: { k: oneText } } }),
      [
        invalid(
          `${a}.items.properties[k].type`,
          'object',
          `must be a scalar type if parent array's ${prefix}list-type is map`,
        ),
      ],
    ],
    [
      'each key is there once',
      map(x({ 'list-map-keys': ['k', 'k'] })),
      [invalid(keys, ['k', 'k'], 'must not contain duplicate entries')],
    ],
    [
      'each key is required or has a default',
      map({ items: { type: 'object', properties: { k: text } } }),
      [
        required(
          `${a}.items.properties[k].default`,
          `${keyed} must have a default or be a required property`,
        ),
      ],
    ],
    [
      'a key with a default is right',
      map({ items: { type: 'object', properties: { k: { ...text, default: 'x' } } } }),
      [],
    ],
    [
      'no key is nullable',
      map({
        items: {
          type: 'object',
          required: ['k'],
          properties: { k: { ...text, nullable: true } },
        },
      }),
      [forbidden(`${a}.items.properties[k].nullable`, `${keyed} cannot be nullable`)],
    ],
    [
      'a map type is for an object',
      { type: 'string', ...x({ 'map-type': 'atomic' }) },
      [invalid(`${a}.type`, 'string', `must be object if ${prefix}map-type is specified`)],
    ],
    [
      'a map type is one of two',
      { ...oneText, ...x({ 'map-type': 'x' }) },
      [
        `${a}.${prefix}map-type: Unsupported value: "x": ` +
          'supported values: "atomic", "granular"',
      ],
    ],
  ])('%s', (_claim, schema, errors) => {
    expect(errorsOf(schema)).toEqual(errors);
  });

  test.each<Row>([
    ['list type', set, [required(`${a}.type`, `must be array if ${prefix}list-type is specified`)]],
    [
      'map type',
      x({ 'map-type': 'atomic' }),
      [required(`${a}.type`, `must be object if ${prefix}map-type is specified`)],
    ],
    [
      'embedded resource',
      x({ 'embedded-resource': true, 'preserve-unknown-fields': true }),
      [required(`${a}.type`, `must be object if ${prefix}embedded-resource is true`)],
    ],
  ])('the type beside a %s is there', (_claim, schema, errors) => {
    expect(errorsOf(schema)).toEqual(expect.arrayContaining([...errors]));
  });
});
