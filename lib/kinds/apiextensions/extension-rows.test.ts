// Each rule of the product's own words in a schema, with the path and the text of its error.
import { describe, expect, test } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../api/type-info.ts';
import { created, inSpec, prefix, schemaOf, withVersion } from './testing/definitions.ts';

type Row = [claim: string, schema: JsonObject, errors: readonly string[]];

/** Of a schema of `spec.a`. */
const errorsOf = (a: JsonObject): readonly string[] =>
  created(withVersion({ schema: schemaOf({ a }) }));
const a = `${inSpec}[a]`;
const x = (words: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(words).map(([word, value]) => [prefix + word, value]));
const invalid = (field: string, value: JsonValue, detail: string): string =>
  `${field}: Invalid value: ${JSON.stringify(value)}: ${detail}`;
const required = (field: string, detail: string): string => `${field}: Required value: ${detail}`;
const forbidden = (field: string, detail: string): string => `${field}: Forbidden: ${detail}`;
const text = { type: 'string' };
const oneText = { type: 'object', properties: { b: text } };

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
