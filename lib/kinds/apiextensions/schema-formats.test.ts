import { expect, test } from '@jest/globals';
import { FieldErrors } from '../../api/field-errors.ts';
import type { JsonObject } from '../../api/type-info.ts';
import { namingProfile } from '../../api/vendor.ts';
import { definitionWarnings } from './schema-formats.ts';

const definition = (properties: JsonObject): JsonObject => ({
  spec: { versions: [{ schema: { openAPIV3Schema: { type: 'object', properties } } }] },
});

function warningsOf(object: JsonObject, old?: JsonObject): readonly string[] {
  const naming = namingProfile('kubernetes');
  const scope = { errors: new FieldErrors(), isOn: () => true, naming };
  return definitionWarnings({ ...scope, object, old, subresource: '', apiVersion: 'v1' });
}

const unknown = 'unrecognized format "x"';

test.each<[string, JsonObject, readonly string[]]>([
  ['a format of texts', { a: { type: 'string', format: 'date-time' } }, []],
  ['a format without a type', { a: { format: 'uuid' } }, []],
  ['a format that does not exist', { a: { type: 'string', format: 'x' } }, [unknown]],
  ['a format of another type', { a: { type: 'integer', format: 'date' } }, ['date']],
  ['a format of integers', { a: { type: 'integer', format: 'int64' } }, []],
  ['a format of an object', { a: { type: 'object', format: 'date' } }, ['date']],
  ['one format at two places', { a: { format: 'x' }, b: { not: { format: 'x' } } }, [unknown]],
])('%s', (_name, properties, warnings) => {
  const texts = warnings.map((one) =>
    one.includes(' ') ? one : `unrecognized format ${JSON.stringify(one)}`,
  );
  expect(warningsOf(definition(properties))).toEqual(texts);
});

test('formats that are stored are not told again', () => {
  const stored = definition({ a: { format: 'x' } });
  const both = definition({ a: { format: 'x' }, b: { format: 'y' } });
  expect(warningsOf(both, stored)).toEqual(['unrecognized format "y"']);
});
