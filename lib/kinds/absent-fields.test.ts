import { expect, test } from '@jest/globals';
import { isRecord } from '../api/json-value.ts';
import type { JsonObject, JsonValue, TypeInfo } from '../api/type-info.ts';
import { validateDeclared } from '../api/validate.ts';
import { namingProfile } from '../api/vendor.ts';
import { canonicalObject } from '../codec/normalise.ts';
import { ObjectGenerator } from '../codec/testing/object-generator.ts';
import { builtInScheme } from './built-in-kinds.ts';

const scheme = builtInScheme({ profile: namingProfile('svc') });

/** The same with null for each absent field, of which every rule is asked. */
function withNulls(object: JsonObject, type: TypeInfo): JsonObject {
  const made: JsonObject = { ...object };
  for (const { jsonName, message, cardinality } of type.fieldByJsonName.values()) {
    if (jsonName === '' || jsonName === '-') continue;
    const value = (made[jsonName] ??= null);
    if (message === undefined || message.special !== undefined || message.isNamedList) continue;
    const below = (one: JsonValue): JsonValue => (isRecord(one) ? withNulls(one, message) : one);
    if (cardinality === 'single') made[jsonName] = below(value);
    else if (cardinality === 'list' && Array.isArray(value)) made[jsonName] = value.map(below);
  }
  return made;
}

test('what is absent is found as wrong as what is null (seeded)', () => {
  let found = 0;
  for (const [index, { type }] of scheme.storedResources.entries()) {
    for (let round = 0; round < 4; round += 1) {
      const [object, old] = [0, 1].map((half) => {
        const made = new ObjectGenerator(index * 8 + round * 2 + half).message(type, 0);
        return canonicalObject(made as JsonObject, type);
      });
      if (object === undefined) throw new Error('two objects');
      for (const before of [undefined, old]) {
        for (const stage of ['plain', 'migrated'] as const) {
          const run = { stage, isOn: () => round % 2 === 0 };
          const [errors, ofNulls] = [object, withNulls(object, type)].map((one) =>
            // Values that are quoted hold the nulls.
            validateDeclared(one, before, type, run).map(
              ({ field, reason, detail }) => `${field}: ${reason} ${detail}`,
            ),
          );
          found += errors?.length ?? 0;
          expect([type.id, errors]).toEqual([type.id, ofNulls]);
        }
      }
    }
  }
  expect(found).toBeGreaterThan(100);
});
