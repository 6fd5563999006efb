import { expect, test } from '@jest/globals';
import { isRecord } from '../api/json-value.ts';
import type { JsonObject, JsonValue, ResourceInfo } from '../api/type-info.ts';
import { namingProfile } from '../api/vendor.ts';
import { canonicalObject } from '../codec/normalise.ts';
import { ObjectGenerator } from '../codec/testing/object-generator.ts';
import { builtInScheme } from '../kinds/built-in-kinds.ts';
import { UnidentifiedElement } from './elements.ts';
import type { FieldSet } from './field-set.ts';
import { setOf, without } from './field-set.ts';
import { writeFieldsV1 } from './fields-v1.ts';
import { newFields } from './new-fields.ts';
import { writeOwners } from './owners.ts';
import { ownUpdate } from './ownership.ts';
import type { Change, Writing } from './ownership.ts';
import { shapeOf } from './shape.ts';
import { pathsOf, setOf as setOfTexts, shapeWith, struct, text } from './testing/schemas.ts';

const scheme = builtInScheme({ profile: namingProfile('svc') });
const ofStatus = setOf(['f:status']);
const settable = (fields: FieldSet): FieldSet => without(fields, ofStatus);

/** The owners of an object after its first write. */
function ownersOf({ type }: ResourceInfo, change: Change): JsonValue {
  const write: Writing = {
    writer: { manager: 'm', operation: 'Update', apiVersion: 'v1', subresource: '' },
    versions: {
      apiVersion: 'v1',
      shapeIn: () => shapeOf(type),
      to: () => {
        throw new Error('there is one version');
      },
    },
    settable,
    time: '2026-01-01T00:00:00Z',
  };
  try {
    const owners = ownUpdate(change, write, () => new Map());
    if (owners instanceof Promise) throw new Error('nothing is waited for');
    return owners === undefined ? null : (writeOwners(owners) ?? null);
  } catch (error) {
    if (error instanceof UnidentifiedElement) return error.message;
    throw error;
  }
}

/** The same fields with other texts. */
function otherTexts(value: JsonValue): JsonValue {
  if (typeof value === 'string') return `x${value}`;
  if (Array.isArray(value)) return value.map(otherTexts);
  if (!isRecord(value)) return value;
  const made = Object.create(null) as JsonObject;
  for (const name of Object.keys(value)) made[name] = otherTexts(value[name] ?? null);
  return made;
}

test('a new object has the owner that comparing it with an empty one gives it (seeded)', () => {
  for (const [index, resource] of scheme.storedResources.entries()) {
    const { type } = resource;
    const before = canonicalObject({ metadata: {} }, type);
    for (let round = 0; round < 6; round += 1) {
      const object = new ObjectGenerator(index * 6 + round).message(type, 0) as JsonObject;
      const given = canonicalObject(object, type);
      for (const after of [given, otherTexts(given) as JsonObject, given]) {
        const found = ownersOf(resource, { before, after, isNew: true });
        const compared = ownersOf(resource, { before, after });
        expect([type.id, round, JSON.stringify(found)]).toEqual([
          type.id,
          round,
          JSON.stringify(compared),
        ]);
      }
    }
  }
});

const shape = shapeWith({
  spec: struct({ x: text, y: text }),
  set: setOfTexts(text),
});
const empty: JsonObject = { spec: { x: '' }, set: null };
const all = (fields: FieldSet): FieldSet => fields;

test('objects that differ in values only have one set, whose FieldsV1 is made once', () => {
  const [one, other] = ['1', '2'].map((x) => newFields(empty, { spec: { x } }, shape, all));
  if (one === undefined || other === undefined) throw new Error('two sets');
  expect(one).toBe(other);
  expect(writeFieldsV1(one)).toBe(writeFieldsV1(other));
});

test.each<[JsonObject, string]>([
  [{ spec: { x: '' } }, ''],
  [{ spec: { x: '1' } }, '.spec.x'],
  [{ spec: { x: '', y: '' } }, '.spec.y'],
  [{ spec: {}, set: null }, ''],
  [{ spec: {}, set: ['a'] }, '.set[="a"]'],
])('%j differs from the empty object in "%s"', (object, paths) => {
  expect(pathsOf(newFields(empty, object, shape, all))).toBe(paths);
});

test('what is owned by other rules, or beside another empty object, is another set', () => {
  const object = { spec: { x: '1' } };
  const none = (fields: FieldSet): FieldSet => without(fields, setOf(['f:spec']));
  expect(pathsOf(newFields(empty, object, shape, all))).toBe('.spec.x');
  expect(pathsOf(newFields(empty, object, shape, none))).toBe('');
  expect(pathsOf(newFields({}, object, shape, all))).toBe('.spec .spec.x');
});
