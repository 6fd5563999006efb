// Sets and keyed lists: what excludes what, and how failures name it.
import { describe, expect, test } from '@jest/globals';
import { fieldErrorMessage } from '../base/status.ts';
import { FailureList } from './failure-list.ts';
import { compileListChecks } from './list-uniqueness.ts';
import { typeOf } from './testing/schema-types.ts';
import type { JsonValue } from './type-info.ts';
import { valueOf } from './value-info.ts';

/** Failures of `value` as the field `a`. */
function failuresOf(schema: object, value: JsonValue): string[] {
  const errors = new FailureList();
  const check = compileListChecks(valueOf(typeOf({ properties: { a: schema } })));
  expect(check?.({ a: value }, '', { errors, pace: undefined })).toBeUndefined();
  return errors.all().map((error) => `${error.field}: ${fieldErrorMessage(error)}`);
}

const text = { type: 'string' };
const integer = { type: 'integer' };

describe('lists whose items exclude each other', () => {
  const set = { type: 'array', items: text, 'x-kubernetes-list-type': 'set' };
  const keyed = {
    type: 'array',
    items: { type: 'object', properties: { k: text, l: integer, v: text } },
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k', 'l'],
  };
  const objects = { ...set, items: { type: 'object', additionalProperties: integer } };
  test.each<[string, object, JsonValue, readonly string[]]>([
    ['each value once', set, ['x', 'y'], []],
    ['named where it comes again, once', set, ['x', 'y', 'x', 'x'], ['a[2]: Duplicate value: "x"']],
    [
      'compared deeply',
      objects,
      [
        { b: 1, c: 2 },
        { c: 2, b: 1 },
      ],
      ['a[1]: Duplicate value: {"b":1,"c":2}'],
    ],
    ['keys that differ', keyed, [{ k: 'x', l: 1 }, { k: 'x', l: 2 }, { k: 'x' }], []],
    [
      'the same keys, whatever else there is',
      keyed,
      [
        { k: 'x', v: 'a' },
        { k: 'x', v: 'b' },
      ],
      ['a[1]: Duplicate value: {"k":"x"}'],
    ],
    [
      'what has no keys',
      keyed,
      ['x'],
      ['a[0]: Invalid value: "x": must be an object for an array of list-type map'],
    ],
    [
      'in maps and lists',
      { type: 'object', additionalProperties: { type: 'array', items: set } },
      { m: [['x'], ['y', 'y']] },
      ['a[m][1][1]: Duplicate value: "y"'],
    ],
  ])('%s', (_claim, schema, value, expected) => {
    expect(failuresOf(schema, value)).toEqual(expected);
  });
});

test('a schema without such lists needs no check', () => {
  expect(compileListChecks(valueOf(typeOf({ properties: { a: text } })))).toBeUndefined();
});
