import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import { fieldErrorMessage } from '../../base/status.ts';
import { structuralViolations } from './structural-violations.ts';

const naming = namingProfile('kubernetes');

const definition = (schemas: readonly (JsonObject | undefined)[], rest: JsonObject = {}) => ({
  spec: {
    ...rest,
    versions: schemas.map((schema, at) => ({
      name: `v${String(at + 1)}`,
      ...(schema === undefined ? {} : { schema: { openAPIV3Schema: schema } }),
    })),
  },
});

const textsOf = (object: JsonObject): readonly string[] =>
  structuralViolations(object, naming).errors.map(
    (error) => `${error.field}: ${fieldErrorMessage(error)}`,
  );

describe('what is not structural in a definition', () => {
  test('nothing, where all schemas are structural or absent', () => {
    const found = structuralViolations(definition([{ type: 'object' }, undefined]), naming);
    expect(found).toEqual({ errors: [] });
  });

  test('is told at each version, also where versions are equal', () => {
    const wrong = { type: 'object', properties: { a: {} } };
    expect(textsOf(definition([wrong, wrong]))).toEqual(
      [0, 1].map(
        (at) =>
          `spec.versions[${String(at)}].schema.openAPIV3Schema.properties[a].type: ` +
          'Required value: must not be empty for specified object fields',
      ),
    );
  });

  test('includes that unknown fields are kept everywhere', () => {
    const object = definition([{ type: 'object' }], { preserveUnknownFields: true });
    expect(textsOf(object)).toEqual([
      'spec.preserveUnknownFields: Invalid value: true: must be false',
    ]);
  });

  test('a word that structure does not have makes a version unreadable', () => {
    const found = structuralViolations(
      definition([{ type: 'object' }, { type: 'object', $ref: '#' }]),
      naming,
    );
    expect(found.unreadable).toEqual({
      version: 'v2',
      problem: "OpenAPIV3Schema '$ref' is not supported",
    });
  });
});
