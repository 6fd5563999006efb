import { describe, expect, test } from '@jest/globals';
import type { JsonObject } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import { limits } from '../../base/limits.ts';
import { structureCondition } from './structures.ts';

const naming = namingProfile('svc');
const definitionOf = (schemas: readonly JsonObject[], rest: JsonObject = {}): JsonObject => ({
  spec: {
    ...rest,
    versions: schemas.map((openAPIV3Schema, at) => ({
      name: `v${String(at + 1)}`,
      schema: { openAPIV3Schema },
    })),
  },
});

describe('the condition about schemas', () => {
  test('is absent when there is nothing to say', () => {
    expect(structureCondition(definitionOf([{ type: 'object' }]), naming)).toBeUndefined();
  });

  test('is True with all violations, each at its version', () => {
    const wrong = { type: 'object', properties: { a: {} } };
    const text = (at: number): string =>
      `spec.versions[${String(at)}].schema.openAPIV3Schema.properties[a].type: ` +
      'Required value: must not be empty for specified object fields';
    expect(structureCondition(definitionOf([wrong]), naming)).toEqual({
      type: 'NonStructuralSchema',
      status: 'True',
      reason: 'Violations',
      message: text(0),
    });
    const kept = 'spec.preserveUnknownFields: Invalid value: true: must be false';
    const all = structureCondition(
      definitionOf([wrong, wrong], { preserveUnknownFields: true }),
      naming,
    );
    expect(all?.message).toBe(`[${[kept, text(0), text(1)].join(', ')}]`);
  });

  test('is Unknown where a schema cannot be read', () => {
    const schemas = [{ type: 'object' }, { type: 'object', $ref: '#' }];
    expect(structureCondition(definitionOf(schemas), naming)).toMatchObject({
      status: 'Unknown',
      reason: 'StructuralError',
      message:
        'failed to check validation schema for version v2: ' +
        "OpenAPIV3Schema '$ref' is not supported",
    });
  });

  test('tells as many violations as a definition can hold, and how many more there are', () => {
    const names = Array.from({ length: 10_000 }, (_, at) => [`a${String(at)}`, {}] as const);
    const wrong = { type: 'object', properties: Object.fromEntries(names) };
    const { message = '' } = structureCondition(definitionOf([wrong]), naming) ?? {};
    expect(message.length).toBeLessThan(limits.violationsTextLengthMax + 1_000);
    expect(message).toMatch(/, and \d+ more\]$/);
  });
});
